"""The same file once more, with another profile or other options, or because the first time failed."""

from reelworks.domain import upload as uploads
from reelworks.domain.options import Options
from reelworks.domain.plan import INGEST, Lane
from reelworks.domain.upload import ENDED, Upload, UploadStatus
from reelworks.errors import Conflict, Unreachable
from reelworks.runtime import logging
from reelworks.workflow import graph
from upload_api.dependencies import Dependencies
from upload_api.errors import InvalidRequest, NotReady, SourceGone
from upload_api.requests import Reprocess
from upload_api.service import Report, loaded, report_of
from upload_api.validation import chosen

TRIES = 3
"""A sweep or the sender of an event may move the row between the read and the write."""
NOT_YET = {
    UploadStatus.PENDING_UPLOAD: "Its file has not been uploaded yet. Upload it; it is processed then.",
    UploadStatus.EXPIRED: "Its file was never uploaded. Announce a new upload.",
    UploadStatus.PROCESSING: "It is being processed. Ask again once it is COMPLETED or FAILED.",
    UploadStatus.CANCELLED: "It was cancelled. Announce a new upload.",
}
GONE = "The uploaded file is not kept any more, so it cannot be processed again. Announce a new upload of it."

log = logging.get(__name__)


def reprocess(upload_id: str, request: Reprocess, deps: Dependencies) -> Report:
    """The upload, PROCESSING again. UnknownUpload; NotReady unless it has ended; SourceGone; InvalidRequest."""
    for _ in range(TRIES - 1):
        try:
            return _once(upload_id, request, deps)
        except Conflict:
            log.debug("upload.moved_elsewhere", upload_id=upload_id)
    return _once(upload_id, request, deps)


def _once(upload_id: str, request: Reprocess, deps: Dependencies) -> Report:
    snapshot = loaded(upload_id, deps)
    before = snapshot.upload
    profile, options = _wanted(before, request)
    if before.status not in ENDED:
        raise NotReady(NOT_YET[before.status])
    if deps.raw.head(before.object_key) is None:
        raise SourceGone(GONE)
    # However often it is processed again before a sweep comes by, its rows stay few.
    deps.store.forget(snapshot.spent)
    after = uploads.reprocessed(before, profile, options, deps.clock.now(), deps.policy.watch)
    deps.store.reopen_upload(before, after)
    deps.metrics.uploads.labels(UploadStatus.PROCESSING).inc()
    log.info("upload.reprocessed", upload_id=upload_id, generation=after.generation, profile=profile)
    _sent(after, deps)
    return report_of(loaded(upload_id, deps), deps)


def _wanted(upload: Upload, request: Reprocess) -> tuple[str, Options | None]:
    """Options belong to their profile: with another one they are those of the request, or none."""
    if request.profile is None and request.options is None:
        return upload.profile, upload.options
    profile, options, errors = chosen(request.profile or upload.profile, request.options)
    if errors:
        raise InvalidRequest.of(errors)
    return profile, options


def _sent(upload: Upload, deps: Dependencies) -> None:
    """The row is written, so a sweep sends the message if this does not."""
    try:
        graph.hint(deps.queue, upload, Lane.EVENTS, INGEST)
    except Unreachable as error:
        log.warning("upload.message_postponed", upload_id=upload.upload_id, error=error.message)
