"""What the outside world is told when an upload reaches a terminal status."""

from msgspec import Struct

from reelworks.domain.failure import Failure
from reelworks.domain.instants import Millis
from reelworks.domain.upload import Upload, UploadStatus


class UploadEvent(Struct, frozen=True, kw_only=True):
    """Sent at least once; `event_id` is the same each time, so a receiver can drop what it has seen."""

    event_id: str
    upload_id: str
    user_id: str
    project_id: str | None
    status: UploadStatus
    failure: Failure | None
    occurred_at: Millis
    traceparent: str | None = None


def terminal_event(upload: Upload) -> UploadEvent:
    """The event of an upload in a terminal status."""
    return UploadEvent(
        event_id=f"{upload.upload_id}.{upload.generation}.{upload.status.lower()}.{upload.finished_at}",
        upload_id=upload.upload_id,
        user_id=upload.user_id,
        project_id=upload.project_id,
        status=upload.status,
        failure=upload.failure,
        occurred_at=upload.finished_at or upload.updated_at,
        traceparent=upload.traceparent,
    )
