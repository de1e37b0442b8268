"""Audio: the track people hear as one HLS rendition, whole, below the attempt's own prefix."""

from fractions import Fraction

import msgspec
from msgspec import Struct

from reelworks.domain.options import resolved
from reelworks.domain.outcome import Done, Outcome
from reelworks.errors import Permanent
from reelworks.ports import BlobStore
from reelworks.runtime.metrics import Metrics
from reelworks.streaming import manifest
from reelworks.streaming.manifest import Manifest
from worker.media.encode import extent
from worker.media.encode.sound import NAME, SoundOptions, encode_sound
from worker.media.encode.transcoder import Transcoding
from worker.media.engine import MediaEngine
from worker.media.report import AudioStream, MediaReport
from worker.tasks import reuse, source
from worker.tasks.publish import Sender
from worker.tasks.reuse import Kept
from worker.work import Work

DOWNLOADED, ENCODED = 0.1, 0.9
"""Fractions of the whole, by and large."""
SEGMENT_S = 4
"""Of sound without pictures; else segments are as long as those of the pictures."""


class AudioDependencies(Struct, frozen=True, kw_only=True):
    """The buckets and ffmpeg."""

    raw: BlobStore
    media: BlobStore
    engine: MediaEngine
    metrics: Metrics = msgspec.field(default_factory=Metrics)


def audio(work: Work, needs: AudioDependencies) -> Outcome:
    """Done with `manifest`. Raises Permanent if there is no sound after all, or too little of it.

    What an earlier attempt has finished is not encoded again.
    """
    report = source.report(work.upload, needs.media)
    stream = report.speech
    if stream is None:
        raise Permanent("This file has no sound.", code="no_audio")
    recipe = _recipe(work, needs, stream)
    kept = reuse.find(work, needs, {NAME: recipe})
    if not kept:
        kept = {NAME: _encode(work, needs, report, stream, recipe)}
    rendition = kept[NAME].rendition
    refusal = extent.cut_short(extent.declared_end_ms(report, stream), int(rendition.seconds * 1000))
    if refusal is not None:
        raise refusal
    done = Manifest(task=work.task.name, renditions=(rendition,))
    return Done(outputs=manifest.write(done, work.prefix, needs.media, reuse.foreign(work, kept)))


def _encode(
    work: Work, needs: AudioDependencies, report: MediaReport, stream: AudioStream, recipe: str
) -> Kept:
    file = source.fetch(work, needs, report)
    work.report(DOWNLOADED)
    job = Transcoding(file=file, directory=work.scratch, engine=needs.engine, cancellation=work.cancellation)
    with Sender(work, needs, pictures=False) as sender:

        def progress(part: float) -> None:
            work.report(DOWNLOADED + part * (ENCODED - DOWNLOADED))
            sender.look((work.scratch / NAME,))

        directory = encode_sound(job, stream, _options(work), progress)
        kept = reuse.publish_and_keep(work, needs, sender, directory, recipe)
    if kept is None:
        raise Permanent(
            f"The sound of this file ({stream.codec}) cannot be decoded.", code="undecodable_audio"
        )
    return kept


def _recipe(work: Work, needs: AudioDependencies, stream: AudioStream) -> str:
    options = _options(work)
    return reuse.recipe(
        work.upload.object,
        stream.index,
        (str(options.segment_s), options.kbps, options.loudness_lufs),
        needs.engine.limits.max_duration_ms,
    )


def _options(work: Work) -> SoundOptions:
    plan, profile = work.upload.plan, resolved(work.upload.profile, work.upload.options)
    grid = plan.video.grid if plan and plan.video else None
    length = grid.segment_frames / grid.fps if grid else Fraction(SEGMENT_S)
    return SoundOptions(segment_s=length, loudness_lufs=profile.loudness_lufs)
