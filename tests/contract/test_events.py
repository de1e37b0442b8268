"""EventSink: a terminal event arrives at the targets of its bus."""

import json
from typing import Any

from reelworks.domain.event import UploadEvent
from reelworks.domain.failure import Failure, FailureKind
from reelworks.domain.upload import UploadStatus
from reelworks.testing import InMemoryEventSink
from tests.contract.worlds import Emulated

EVENT = UploadEvent(
    event_id="e.failed.1",
    upload_id="a" * 32,
    user_id="ann",
    project_id=None,
    status=UploadStatus.FAILED,
    failure=Failure(kind=FailureKind.PERMANENT, code="no_media", message="Not a film – ü."),
    occurred_at=1_750_000_000_123,
    traceparent="00-1-2-01",
)


def test_a_rule_of_the_bus_sees_the_event(emulated: Emulated) -> None:
    events, sqs = emulated.clients.events, emulated.clients.sqs
    url = sqs.get_queue_url(QueueName=f"{emulated.settings.sqs.prefix}fast")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    source = emulated.settings.eventbridge.source
    events.put_rule(Name=source, EventPattern=json.dumps({"source": [source]}))
    events.put_targets(Rule=source, Targets=[{"Id": "queue", "Arn": arn}])

    emulated.ports.events.emit(EVENT)

    [message] = emulated.receive("fast")
    envelope: dict[str, Any] = json.loads(message.body)
    assert envelope["detail-type"] == "Reelworks Upload FAILED"
    assert envelope["detail"] == {
        "eventId": "e.failed.1",
        "uploadId": "a" * 32,
        "userId": "ann",
        "projectId": None,
        "status": "FAILED",
        "error": {"kind": "permanent", "code": "no_media", "message": "Not a film – ü."},
        "occurredAt": "2025-06-15T15:06:40.123Z",
        "traceparent": "00-1-2-01",
    }


def test_the_sink_in_memory_keeps_events() -> None:
    sink = InMemoryEventSink()
    sink.emit(EVENT)
    assert sink.events == [EVENT]
