"""Events that the bus does not take stay in the outbox."""

from collections.abc import Iterator

import pytest
from botocore.stub import Stubber

from reelworks.adapters.clients import Clients
from reelworks.adapters.eventbridge import EventBridgeSink
from reelworks.domain.event import UploadEvent
from reelworks.domain.upload import UploadStatus
from reelworks.errors import Unreachable

EVENT = UploadEvent(
    event_id="e",
    upload_id="a" * 32,
    user_id="ann",
    project_id="p",
    status=UploadStatus.COMPLETED,
    failure=None,
    occurred_at=0,
)


@pytest.fixture
def stub(clients: Clients) -> Iterator[Stubber]:
    with Stubber(clients.events) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def sink(clients: Clients, bus: str = "default") -> EventBridgeSink:
    return EventBridgeSink(clients.events, bus=bus, source="reelworks")


def test_an_entry_that_failed_is_unreachable_though_the_call_succeeded(
    clients: Clients, stub: Stubber
) -> None:
    entry = {"ErrorCode": "InternalFailure", "ErrorMessage": "later"}
    stub.add_response("put_events", {"FailedEntryCount": 1, "Entries": [entry]})
    with pytest.raises(Unreachable, match="later"):
        sink(clients).emit(EVENT)


def test_a_missing_bus_is_named(clients: Clients, stub: Stubber) -> None:
    stub.add_client_error("put_events", "ResourceNotFoundException")
    with pytest.raises(Unreachable, match='event bus "nope"'):
        sink(clients, "nope").emit(EVENT)


def test_an_empty_bus_turns_events_off(clients: Clients, stub: Stubber) -> None:
    sink(clients, "").emit(EVENT)
    stub.assert_no_pending_responses()
