"""TaskQueue on SQS: one standard queue per lane and one dead-letter queue, found by name."""

import re
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from reelworks.adapters.faults import code_of, translated
from reelworks.ports import Depth, Received

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import MessageTypeDef

DLQ = "dlq"
MAX_VISIBILITY_S = 43_200
MAX_DELAY_S = 900
MAX_BATCH = 10
MAX_WAIT_S = 20
MAX_ATTRIBUTES = 10

STALE = frozenset(
    {
        "ReceiptHandleIsInvalid",
        "MessageNotInflight",
        "InvalidParameterValue",
        "InvalidParameterValueException",
    }
)
"""A receipt that is no good any more; InvalidParameterValue also says that a visibility would pass 12 h in total."""

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""SQS takes the characters of XML 1.0 and refuses a message for any other."""


class SqsTaskQueue:
    """Implements ports.TaskQueue. Thread-safe, as boto3's clients are."""

    def __init__(
        self,
        client: "SQSClient",
        *,
        prefix: str,
        lanes: Iterable[str],
        polling: "SQSClient | None" = None,
    ) -> None:
        """`polling`: the client that receives, the same if there is none."""
        self._client = client
        self._polling = polling or client
        self._prefix = prefix
        self._lanes = tuple(lanes)
        self._urls: dict[str, str] = {}
        self._fair = True

    def receive(self, lane: str, limit: int, wait_seconds: int, visibility_seconds: int) -> list[Received]:
        """Up to `limit` messages, waiting for the first."""
        url = self._url(lane)
        with self._translated(lane):
            answer = self._polling.receive_message(
                QueueUrl=url,
                MaxNumberOfMessages=_clamped(limit, 1, MAX_BATCH),
                WaitTimeSeconds=_clamped(wait_seconds, 0, MAX_WAIT_S),
                VisibilityTimeout=_clamped(visibility_seconds, 0, MAX_VISIBILITY_S),
                MessageSystemAttributeNames=["ApproximateReceiveCount", "SentTimestamp"],
                MessageAttributeNames=["All"],
            )
        return [_received(lane, message) for message in answer.get("Messages", [])]

    def send(
        self,
        lane: str,
        body: str,
        *,
        group: str | None = None,
        delay_seconds: int = 0,
        attributes: Mapping[str, str] | None = None,
    ) -> None:
        """Put a message into a lane. `group`: whose it is, for fair queues."""
        more: dict[str, Any] = (
            {"DelaySeconds": _clamped(delay_seconds, 0, MAX_DELAY_S)} if delay_seconds else {}
        )
        self._send(lane, body, attributes or {}, group, more)

    def dead_letter(self, body: str, attributes: Mapping[str, str]) -> None:
        """Put a body into the dead-letter queue."""
        self._send(DLQ, body, attributes, None, {})

    def _send(
        self, lane: str, body: str, attributes: Mapping[str, str], group: str | None, more: dict[str, Any]
    ) -> None:
        url = self._url(lane)
        request: dict[str, Any] = {
            "QueueUrl": url,
            "MessageBody": body,
            "MessageAttributes": _outgoing(attributes),
            **more,
        }
        with self._translated(lane):
            if group and self._fair:
                try:
                    self._client.send_message(MessageGroupId=group, **request)
                except ClientError as error:
                    if "MessageGroupId" not in str(error):
                        raise
                    self._fair = False  # an endpoint from before fair queues: no worse than without them
                else:
                    return
            self._client.send_message(**request)

    def delete(self, message: Received) -> None:
        """Forget a message; a stale receipt is no error."""
        url = self._url(message.lane)
        with self._translated(message.lane):
            try:
                self._client.delete_message(QueueUrl=url, ReceiptHandle=message.receipt)
            except ClientError as error:
                _tolerate_stale(error)

    def hide(self, message: Received, seconds: int) -> None:
        """Give a message out again in `seconds`; a stale receipt is no error."""
        url = self._url(message.lane)
        visibility = _clamped(seconds, 0, MAX_VISIBILITY_S)
        with self._translated(message.lane):
            try:
                self._client.change_message_visibility(
                    QueueUrl=url, ReceiptHandle=message.receipt, VisibilityTimeout=visibility
                )
            except ClientError as error:
                _tolerate_stale(error)

    def depths(self) -> Mapping[str, Depth]:
        """By lane, and the dead-letter queue."""
        return {lane: self._depth(lane) for lane in (*self._lanes, DLQ)}

    def _depth(self, lane: str) -> Depth:
        url = self._url(lane)
        with self._translated(lane):
            answer = self._client.get_queue_attributes(
                QueueUrl=url,
                AttributeNames=[
                    "ApproximateNumberOfMessages",
                    "ApproximateNumberOfMessagesNotVisible",
                    "ApproximateNumberOfMessagesDelayed",
                ],
            )
        found = answer.get("Attributes", {})
        return Depth(
            visible=int(found.get("ApproximateNumberOfMessages", 0)),
            in_flight=int(found.get("ApproximateNumberOfMessagesNotVisible", 0)),
            delayed=int(found.get("ApproximateNumberOfMessagesDelayed", 0)),
        )

    def ping(self) -> None:
        """Ask for the dead-letter queue's depth: every service uses it."""
        self._depth(DLQ)

    def _url(self, lane: str) -> str:
        if lane not in self._urls:
            with self._translated(lane):
                answer = self._client.get_queue_url(QueueName=f"{self._prefix}{lane}")
            self._urls[lane] = answer["QueueUrl"]
        return self._urls[lane]

    def _translated(self, lane: str) -> AbstractContextManager[None]:
        return translated(f'the queue "{self._prefix}{lane}"')


def _received(lane: str, message: "MessageTypeDef") -> Received:
    system = message.get("Attributes", {})
    attributes = message.get("MessageAttributes", {})
    return Received(
        lane=lane,
        message_id=message["MessageId"],
        receipt=message["ReceiptHandle"],
        body=message["Body"],
        receives=int(system.get("ApproximateReceiveCount", 1)),
        sent_at=int(system.get("SentTimestamp", 0)),
        attributes={
            name: value["StringValue"] for name, value in attributes.items() if "StringValue" in value
        },
    )


def _outgoing(attributes: Mapping[str, str]) -> dict[str, Any]:
    """SQS refuses an empty value, and an eleventh attribute."""
    kept = [(name, _FORBIDDEN.sub("\ufffd", value)) for name, value in attributes.items() if value]
    if len(kept) > MAX_ATTRIBUTES:
        raise ValueError(f"SQS takes {MAX_ATTRIBUTES} attributes, not {sorted(attributes)}")
    return {name: {"DataType": "String", "StringValue": value} for name, value in kept}


def _tolerate_stale(error: ClientError) -> None:
    if code_of(error) not in STALE:
        raise error


def _clamped(value: int, low: int, high: int) -> int:
    return max(low, min(high, value))
