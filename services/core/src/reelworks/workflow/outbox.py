"""Terminal events: sent by whoever made the upload terminal, finished by a sweep if that one could not."""

from reelworks.domain import upload as uploads
from reelworks.domain.event import terminal_event
from reelworks.domain.upload import Upload, WatchRules
from reelworks.errors import Conflict, Temporary, Unreachable
from reelworks.ports import Clock, EventSink, UploadStore
from reelworks.runtime import logging

log = logging.get(__name__)


def notify(upload: Upload, store: UploadStore, events: EventSink, clock: Clock, rules: WatchRules) -> bool:
    """Send the event of a terminal upload and note it in the row. False: still due, a sweep tries again.

    At least once: the event goes out before the row says so; receivers know a repeat by its id.
    """
    if upload.notify_due is None:
        return True
    try:
        events.emit(terminal_event(upload))
        store.write_upload(upload, uploads.notified(upload, clock.now(), rules))
    except Conflict:
        log.debug("outbox.finished_elsewhere", upload_id=upload.upload_id)
    except (Unreachable, Temporary) as error:
        log.warning("outbox.postponed", upload_id=upload.upload_id, error=error.message)
        return False
    return True
