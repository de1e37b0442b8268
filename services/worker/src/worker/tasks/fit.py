"""Fits the ladder of an upload to its pictures, as a part of its ingest."""

import msgspec
from msgspec import Struct

from reelworks.domain.per_title import Complexity, fitted
from reelworks.domain.plan import VideoPlan
from reelworks.errors import Permanent, Temporary
from reelworks.ports import BlobStore
from reelworks.runtime import logging
from worker.media.audio import MediaFile
from worker.media.encode import complexity
from worker.media.encode.transcoder import Transcoding
from worker.media.engine import MediaEngine
from worker.media.report import MediaReport
from worker.tasks import remember
from worker.tasks.ingest import Ladder
from worker.tasks.reuse import recipe
from worker.work import Work

NAME = "complexity.json"

log = logging.get(__name__)


class FitDependencies(Struct, frozen=True, kw_only=True):
    """The bucket for what is measured, and ffmpeg."""

    media: BlobStore
    engine: MediaEngine


def fit(work: Work, ladder: Ladder, needs: FitDependencies) -> tuple[VideoPlan, str | None]:
    """The fitted ladder, and the key of what was measured. The plan as it is, if nothing could be measured: whether the
    pictures can be decoded is for the encode to say.

    What was measured before for the same ladder holds: another machine may measure a little differently, and its
    renditions could not be used again.
    """
    wanted = recipe("complexity", work.upload.object, ladder.plan)
    known = (note.read(wanted, Complexity) for note in remember.notes(work, needs.media, NAME))
    found = next((one for one in known if one is not None), None) or _measured(work, ladder, needs)
    if found is None:
        return ladder.plan, None
    key = f"{work.prefix}{NAME}"
    needs.media.put(key, remember.note(wanted, found), "application/json")
    after = fitted(ladder.plan, found, ladder.keep)
    names = [rung.name for rung in after.rungs]
    log.info(
        "ladder.fitted",
        kbps={rung.name: rung.max_kbps for rung in after.rungs},
        dropped=[rung.name for rung in ladder.plan.rungs if rung.name not in names],
    )
    return after, key


def _measured(work: Work, ladder: Ladder, needs: FitDependencies) -> Complexity | None:
    file = MediaFile(path=ladder.source, report=msgspec.json.decode(ladder.report, type=MediaReport))
    job = Transcoding(file=file, directory=work.scratch, engine=needs.engine, cancellation=work.cancellation)
    try:
        return complexity.measure(job, ladder.plan)
    except (Permanent, Temporary) as error:
        log.warning("ladder.not_fitted", error=error.message, code=error.code)
        return None
