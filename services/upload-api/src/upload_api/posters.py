"""The owner's choice of a poster, and what the ranking learns of it."""

import msgspec
from msgspec import structs

from reelworks.domain import poster
from reelworks.domain import snapshot as snapshots
from reelworks.domain.outcome import Outputs
from reelworks.domain.plan import TaskKind
from reelworks.domain.poster import Description
from reelworks.domain.ranking import Weights
from reelworks.domain.snapshot import Snapshot
from reelworks.errors import Conflict, Temporary
from reelworks.runtime import logging
from upload_api.dependencies import Dependencies
from upload_api.errors import FieldError, InvalidRequest, NotReady
from upload_api.service import Report, loaded, report_of

TRIES = 8
"""Choices of other uploads teach the same row, so each try loses to at most one of them."""
MAX_BYTES = 100_000
"""Five candidates take some 3 KB."""

log = logging.get(__name__)


def choose_poster(upload_id: str, candidate: int | None, deps: Dependencies) -> Report:
    """The upload with its owner's choice; None takes it back. The first choice teaches the ranking, in one write.

    UnknownUpload; NotReady before there are candidates; InvalidRequest for one that there is not.
    """
    for _ in range(TRIES - 1):
        try:
            return _chosen(loaded(upload_id, deps), candidate, deps)
        except Conflict:
            log.debug("poster.overtaken", upload_id=upload_id)
    return _chosen(loaded(upload_id, deps), candidate, deps)


def _chosen(snapshot: Snapshot, candidate: int | None, deps: Dependencies) -> Report:
    upload, outputs = snapshot.upload, _candidates(snapshot)
    first = upload.poster_of != outputs.prefix
    if (candidate is None and first) or (candidate == upload.poster_choice and not first):
        return report_of(snapshot, deps)
    lesson = None
    if candidate is not None:
        offered = _description(outputs, deps)
        _check(candidate, len(offered.candidates))
        lesson = _lesson(offered, candidate, deps) if first else None
    after = poster.chosen(upload, outputs, candidate, deps.clock.now())
    deps.store.choose_poster(upload, after, lesson)
    log.info("poster.chosen", upload_id=upload.upload_id, candidate=candidate, taught=lesson is not None)
    return report_of(structs.replace(snapshot, upload=after), deps)


def _candidates(snapshot: Snapshot) -> Outputs:
    for task in snapshots.results(snapshot).values():
        if task.kind is TaskKind.POSTER and task.outputs is not None and "candidates" in task.outputs.files:
            return task.outputs
    planned = snapshot.upload.plan.tasks if snapshot.upload.plan else None
    if planned is None or any(spec.kind is TaskKind.POSTER for spec in planned):
        raise NotReady("The candidates are not there (yet). Ask again once the upload shows a poster.")
    raise NotReady("This upload has no poster to choose: it is made of videos, if the profile has pictures.")


def _description(outputs: Outputs, deps: Dependencies) -> Description:
    body = deps.media.get(outputs.files["candidates"], MAX_BYTES)
    if body is None:
        raise Temporary("The description of the candidates is not in the bucket.", code="candidates_missing")
    return msgspec.json.decode(body, type=Description)


def _check(candidate: int, count: int) -> None:
    if not 0 <= candidate < count:
        allowed = f"must be null or a whole number from 0 to {count - 1}, an index of `poster.candidates`."
        raise InvalidRequest.of([FieldError(field="candidate", message=allowed)])


def _lesson(
    offered: Description, candidate: int, deps: Dependencies
) -> tuple[Weights | None, Weights] | None:
    known = deps.store.ranking()
    after = poster.lesson(offered, candidate, known)
    return (known, after) if after is not None else None
