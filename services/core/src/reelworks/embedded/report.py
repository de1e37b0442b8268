"""What became of the clip, and how long each part of its way took."""

import time
from collections.abc import Callable
from pathlib import Path

from msgspec import UNSET, Struct, UnsetType

from reelworks.domain.upload import UploadStatus
from reelworks.embedded.client import Client, View


class Seconds(Struct, frozen=True, kw_only=True):
    """`upload`: POST and PUT. `queue`: until a worker took it. `process`: from there to the end. `total`: all."""

    upload: float
    queue: float
    process: float
    total: float


class Report(Struct, frozen=True, kw_only=True):
    """One JSON object. `error`: a sentence, there only if the status is not COMPLETED."""

    status: str
    transcript: str | None = None
    attempts: int = 0
    seconds: Seconds | None = None
    error: str | UnsetType = UNSET

    @property
    def completed(self) -> bool:
        """All went well."""
        return self.status == UploadStatus.COMPLETED


def failed(sentence: str) -> Report:
    """It did not come to an end."""
    return Report(status=UploadStatus.FAILED, error=sentence)


def send_through(client: Client, clip: Path, now: Callable[[], float] = time.time) -> Report:
    """Upload the clip and wait for its end. `now`: the wall clock, since the services tell their times by it."""
    begun = now()
    ticket = client.create(clip)
    client.send(ticket, clip)
    sent = now()
    for view in client.views(ticket.upload_id):
        last = view
    return Report(
        status=last.status,
        transcript=last.transcript,
        attempts=last.attempts,
        seconds=_seconds(begun, sent, last),
        error=UNSET if last.status is UploadStatus.COMPLETED else _reason(last),
    )


def _seconds(begun: float, sent: float, view: View) -> Seconds:
    """S3 announces an object before it answers the PUT, so a worker may be faster than that answer."""
    starts = [task.started_at.timestamp() for task in view.tasks if task.started_at]
    ended = max(sent, view.updated_at.timestamp())
    claimed = min(max(sent, min(starts, default=ended)), ended)
    return Seconds(
        upload=round(sent - begun, 3),
        queue=round(claimed - sent, 3),
        process=round(ended - claimed, 3),
        total=round(ended - begun, 3),
    )


def _reason(view: View) -> str:
    return view.error.message if view.error else f"The upload is {view.status}."
