"""Video: one chunk of the pictures in every rung of the ladder, below the attempt's own prefix."""

from collections.abc import Callable

from msgspec import Struct

from reelworks.domain.outcome import Done, Outcome
from reelworks.domain.plan import VideoPlan, chunk_number
from reelworks.errors import Permanent
from reelworks.ports import BlobStore
from reelworks.streaming import manifest
from reelworks.streaming.manifest import Manifest, Rendition
from worker.media.audio import MediaFile
from worker.media.encode import extent
from worker.media.encode.cut import expected_ms
from worker.media.encode.encoders import Encoder
from worker.media.encode.ladder import encode_chunk
from worker.media.encode.transcoder import Transcoding
from worker.media.engine import MediaEngine
from worker.tasks import publish, source
from worker.work import Work

DOWNLOADED, ENCODED = 0.02, 0.95
"""Fractions of the whole, by and large."""


class VideoDependencies(Struct, frozen=True, kw_only=True):
    """The buckets, ffmpeg, and which encoder it is to use."""

    raw: BlobStore
    media: BlobStore
    engine: MediaEngine
    encoder: Encoder = Encoder.X264


def video(work: Work, needs: VideoDependencies) -> Outcome:
    """Done with `manifest`. A chunk that begins behind the end of the source is done and empty."""
    plan = planned(work)
    file = source.fetch(work, needs)
    work.report(DOWNLOADED)
    job = Transcoding(file=file, directory=work.scratch, engine=needs.engine, cancellation=work.cancellation)
    # The seam for re-use: rungs that an earlier attempt has finished would be taken out of `plan.rungs` here.
    directories = encode_chunk(
        job, plan, chunk_number(work.task.name), encoder=needs.encoder, progress=_share(work)
    )
    file.path.unlink()
    found = [publish.rendition(work, needs, directory) for directory in directories.values()]
    renditions = tuple(rendition for rendition in found if rendition is not None)
    refuse_short(work, plan, file, renditions)
    done = Manifest(task=work.task.name, renditions=renditions)
    return Done(outputs=manifest.write(done, work.prefix, needs.media))


def planned(work: Work) -> VideoPlan:
    """The ladder of this upload."""
    plan = work.upload.plan
    if plan is None or plan.video is None:
        raise Permanent("This upload has no plan for pictures.", code="invalid_plan")
    return plan.video


def refuse_short(work: Work, plan: VideoPlan, file: MediaFile, renditions: tuple[Rendition, ...]) -> None:
    """Too few frames for what the container declares: the source is cut off."""
    chunk, grid, picture = chunk_number(work.task.name), plan.grid, file.report.picture
    if not renditions and chunk == 0:
        raise Permanent("The pictures of this file cannot be decoded.", code="undecodable")
    wanted = expected_ms(grid, file.report, picture) if picture else None
    if wanted is None:
        return
    if chunk < grid.chunks - 1:
        wanted = min(wanted, int(grid.start(chunk + 1) * 1000))
    frames = chunk * grid.chunk_frames + min((r.samples for r in renditions), default=0)
    refusal = extent.cut_short(wanted, int(frames * 1000 / grid.fps))
    if refusal is not None:
        raise refusal


def _share(work: Work) -> Callable[[float], None]:
    return lambda part: work.report(DOWNLOADED + part * (ENCODED - DOWNLOADED))
