"""EventSink on EventBridge: one `PutEvents` per terminal upload."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from reelworks.adapters.faults import translated
from reelworks.domain.event import UploadEvent
from reelworks.domain.failure import Failure
from reelworks.domain.instants import SECOND_MS, iso8601
from reelworks.errors import Unreachable

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient


class Detail(Struct, frozen=True, kw_only=True, rename="camel"):
    """The `detail` of an event, as rules and targets see it. A repeat has the same `eventId`."""

    event_id: str
    upload_id: str
    user_id: str
    project_id: str | None
    status: str
    error: Failure | None
    occurred_at: str
    traceparent: str | None


class EventBridgeSink:
    """Implements ports.EventSink. Does nothing with an empty bus."""

    def __init__(self, client: "EventBridgeClient", *, bus: str, source: str) -> None:
        self._client = client
        self._bus = bus
        self._source = source

    def emit(self, event: UploadEvent) -> None:
        """Send it; Unreachable if the bus did not take it, so that the outbox tries again."""
        if not self._bus:
            return
        resource = f'the event bus "{self._bus}"'
        with translated(resource):
            answer = self._client.put_events(
                Entries=[
                    {
                        "EventBusName": self._bus,
                        "Source": self._source,
                        "DetailType": f"Reelworks Upload {event.status}",
                        "Detail": detail(event),
                        "Time": datetime.fromtimestamp(event.occurred_at / SECOND_MS, UTC),
                        "Resources": [],
                    }
                ]
            )
        if answer.get("FailedEntryCount"):
            entry = answer["Entries"][0]
            raise Unreachable(
                f"An event was refused by {resource}: {entry.get('ErrorCode')}: {entry.get('ErrorMessage')}",
                code="event_refused",
            )


def detail(event: UploadEvent) -> str:
    """The event as JSON."""
    return msgspec.json.encode(
        Detail(
            event_id=event.event_id,
            upload_id=event.upload_id,
            user_id=event.user_id,
            project_id=event.project_id,
            status=event.status,
            error=event.failure,
            occurred_at=iso8601(event.occurred_at),
            traceparent=event.traceparent,
        )
    ).decode()
