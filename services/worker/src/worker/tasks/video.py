"""Video: one chunk of the pictures in every rung of the ladder, below the attempt's own prefix."""

import msgspec
from msgspec import Struct, structs

from reelworks.domain.outcome import Done, Outcome
from reelworks.domain.plan import Rung, VideoPlan, chunk_number
from reelworks.errors import Permanent
from reelworks.ports import BlobStore
from reelworks.runtime.metrics import Metrics
from reelworks.streaming import manifest
from reelworks.streaming.manifest import Manifest, Rendition
from worker.media.encode import extent
from worker.media.encode.cut import expected_ms
from worker.media.encode.encoders import Encoder
from worker.media.encode.ladder import encode_chunk
from worker.media.encode.transcoder import Transcoding
from worker.media.engine import MediaEngine
from worker.media.report import MediaReport
from worker.tasks import reuse, source
from worker.tasks.publish import Sender
from worker.tasks.reuse import Kept
from worker.work import Work

DOWNLOADED, ENCODED = 0.02, 0.95
"""Fractions of the whole, by and large."""


class VideoDependencies(Struct, frozen=True, kw_only=True):
    """The buckets, ffmpeg, and which encoder it is to use."""

    raw: BlobStore
    media: BlobStore
    engine: MediaEngine
    encoder: Encoder = Encoder.X264
    metrics: Metrics = msgspec.field(default_factory=Metrics)


def video(work: Work, needs: VideoDependencies) -> Outcome:
    """Done with `manifest`. A chunk that begins behind the end of the source is done and empty.

    Rungs that an earlier attempt has finished are not encoded again; without any left, nothing is downloaded.
    """
    plan = planned(work)
    report = source.report(work.upload, needs.media)
    recipes = {rung.name: _recipe(work, needs, plan, rung) for rung in plan.rungs}
    kept = reuse.find(work, needs, recipes)
    missing = tuple(rung for rung in plan.rungs if rung.name not in kept)
    if missing:
        kept |= _encode(work, needs, structs.replace(plan, rungs=missing), report, recipes)
    renditions = tuple(kept[rung.name].rendition for rung in plan.rungs if rung.name in kept)
    refuse_short(work, plan, report, renditions)
    done = Manifest(task=work.task.name, renditions=renditions)
    return Done(outputs=manifest.write(done, work.prefix, needs.media, reuse.foreign(work, kept)))


def planned(work: Work) -> VideoPlan:
    """The ladder of this upload."""
    plan = work.upload.plan
    if plan is None or plan.video is None:
        raise Permanent("This upload has no plan for pictures.", code="invalid_plan")
    return plan.video


def _encode(
    work: Work, needs: VideoDependencies, plan: VideoPlan, report: MediaReport, recipes: dict[str, str]
) -> dict[str, Kept]:
    """The rungs of `plan`, as far as there are frames for them."""
    file = source.fetch(work, needs, report)
    work.report(DOWNLOADED)
    job = Transcoding(file=file, directory=work.scratch, engine=needs.engine, cancellation=work.cancellation)
    with Sender(work, needs, pictures=True) as sender:

        def progress(part: float) -> None:
            work.report(DOWNLOADED + part * (ENCODED - DOWNLOADED))
            sender.look(work.scratch / rung.name for rung in plan.rungs)

        directories = encode_chunk(
            job, plan, chunk_number(work.task.name), encoder=needs.encoder, progress=progress
        )
        file.path.unlink()
        found = {
            name: reuse.publish_and_keep(work, needs, sender, directory, recipes[name])
            for name, directory in directories.items()
        }
    return {name: kept for name, kept in found.items() if kept is not None}


def _recipe(work: Work, needs: VideoDependencies, plan: VideoPlan, rung: Rung) -> str:
    """Without the other rungs: whether they are there changes nothing in this one."""
    return reuse.recipe(
        work.upload.object,
        chunk_number(work.task.name),
        structs.replace(plan, rungs=(rung,)),
        needs.encoder,
        needs.engine.limits.max_duration_ms,
    )


def refuse_short(work: Work, plan: VideoPlan, report: MediaReport, renditions: tuple[Rendition, ...]) -> None:
    """Too few frames for what the container declares: the source is cut off."""
    chunk, grid, picture = chunk_number(work.task.name), plan.grid, report.picture
    if not renditions and chunk == 0:
        raise Permanent("The pictures of this file cannot be decoded.", code="undecodable")
    wanted = expected_ms(grid, report, picture) if picture else None
    if wanted is None:
        return
    if chunk < grid.chunks - 1:
        wanted = min(wanted, int(grid.start(chunk + 1) * 1000))
    frames = chunk * grid.chunk_frames + min((r.samples for r in renditions), default=0)
    refusal = extent.cut_short(wanted, int(frames * 1000 / grid.fps))
    if refusal is not None:
        raise refusal
