"""What became of the clip, and how long each part of its way took."""

import time
from collections.abc import Callable
from pathlib import Path

from msgspec import UNSET, Struct, UnsetType

from reelworks.domain.upload import UploadStatus
from reelworks.embedded.client import Client, View
from reelworks.errors import ReelworksError


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


def failed(error: ReelworksError) -> Report:
    """It did not come to an end."""
    return Report(status=UploadStatus.FAILED, error=error.message)


def send_through(client: Client, clip: Path, now: Callable[[], float] = time.time) -> Report:
    """Upload the clip and wait for its end. `now`: the wall clock, which the services' own times are compared to."""
    begun = now()
    ticket = client.create(clip)
    client.send(ticket, clip)
    sent = now()
    claimed: float | None = None
    for view in client.views(ticket.upload_id):
        claimed = claimed or _claimed(view, now)
    ended = _ended(view, now)
    return _report(view, begun, sent, claimed or ended, ended)


def _claimed(view: View, now: Callable[[], float]) -> float | None:
    return None if view.status is UploadStatus.PENDING_UPLOAD else now()


def _ended(view: View, now: Callable[[], float]) -> float:
    return now()


def _report(view: View, begun: float, sent: float, claimed: float, ended: float) -> Report:
    spans = Seconds(
        upload=round(sent - begun, 3),
        queue=round(claimed - sent, 3),
        process=round(ended - claimed, 3),
        total=round(ended - begun, 3),
    )
    return Report(
        status=view.status,
        transcript=view.transcript,
        attempts=view.attempts,
        seconds=spans,
        error=UNSET if view.status is UploadStatus.COMPLETED else str(view.error or "It gives no reason."),
    )
