"""SQS where an emulator is kinder than AWS: refusals that are no errors, and endpoints of another age."""

from collections.abc import Iterator

import pytest
from botocore.stub import ANY, Stubber

from reelworks.adapters.clients import Clients
from reelworks.adapters.sqs import SqsTaskQueue
from reelworks.errors import Temporary, Unreachable
from reelworks.ports import Received

URL = {"QueueUrl": "http://127.0.0.1:1/0/p-fast"}
MESSAGE = Received(lane="fast", message_id="m", receipt="r", body="b", receives=1, sent_at=0)


@pytest.fixture
def stub(clients: Clients) -> Iterator[Stubber]:
    with Stubber(clients.sqs) as stubber:
        stubber.add_response("get_queue_url", URL, {"QueueName": "p-fast"})
        yield stubber
        stubber.assert_no_pending_responses()


@pytest.fixture
def queue(clients: Clients) -> SqsTaskQueue:
    return SqsTaskQueue(clients.sqs, prefix="p-", lanes=("fast",))


STALE = ["ReceiptHandleIsInvalid", "InvalidParameterValue", "AWS.SimpleQueueService.MessageNotInflight"]


@pytest.mark.parametrize("code", STALE)
def test_a_receipt_or_a_total_visibility_beyond_its_end_is_no_error(
    queue: SqsTaskQueue, stub: Stubber, code: str
) -> None:
    stub.add_client_error(
        "change_message_visibility", code, "Total VisibilityTimeout is beyond the limit [43200]"
    )
    stub.add_client_error("delete_message", code)
    queue.hide(MESSAGE, 30)
    queue.delete(MESSAGE)


def test_other_refusals_are_errors(queue: SqsTaskQueue, stub: Stubber) -> None:
    stub.add_client_error("delete_message", "AccessDeniedException")
    with pytest.raises(Unreachable):
        queue.delete(MESSAGE)


@pytest.mark.parametrize(("asked", "sent"), [(-1, 0), (0, 0), (50_000, 43_200)])
def test_visibility_is_clamped(queue: SqsTaskQueue, stub: Stubber, asked: int, sent: int) -> None:
    expected = {**URL, "ReceiptHandle": "r", "VisibilityTimeout": sent}
    stub.add_response("change_message_visibility", {}, expected)
    queue.hide(MESSAGE, asked)


def test_a_receive_stays_within_what_sqs_takes(queue: SqsTaskQueue, stub: Stubber) -> None:
    expected = {
        **URL,
        "MaxNumberOfMessages": 10,
        "WaitTimeSeconds": 20,
        "VisibilityTimeout": 43_200,
        "MessageSystemAttributeNames": ["ApproximateReceiveCount", "SentTimestamp"],
        "MessageAttributeNames": ["All"],
    }
    stub.add_response("receive_message", {}, expected)
    assert queue.receive("fast", 99, 99, 99_999) == []


def test_an_endpoint_without_fair_queues_gets_its_messages_without_a_group(
    queue: SqsTaskQueue, stub: Stubber
) -> None:
    plain = {**URL, "MessageBody": "b", "MessageAttributes": {}}
    refusal = "The request include parameter MessageGroupId which is not valid for this queue type"
    stub.add_client_error("send_message", "InvalidParameterValue", refusal)
    stub.add_response("send_message", {}, plain)
    stub.add_response("send_message", {}, plain)
    queue.send("fast", "b", group="ann")
    queue.send("fast", "b", group="bob")


def test_another_refusal_of_a_group_is_not_mistaken_for_that(queue: SqsTaskQueue, stub: Stubber) -> None:
    stub.add_client_error("send_message", "InvalidMessageContents", "Invalid characters")
    with pytest.raises(Temporary):
        queue.send("fast", "b", group="ann")


def test_a_queue_is_looked_up_once(queue: SqsTaskQueue, stub: Stubber) -> None:
    for _ in range(2):
        stub.add_response(
            "receive_message", {}, {**URL, "MaxNumberOfMessages": 1, **dict.fromkeys(_REST, ANY)}
        )
        queue.receive("fast", 1, 0, 1)


_REST = ("WaitTimeSeconds", "VisibilityTimeout", "MessageSystemAttributeNames", "MessageAttributeNames")


def test_an_eleventh_attribute_is_a_mistake_of_ours(clients: Clients) -> None:
    queue = SqsTaskQueue(clients.sqs, prefix="p-", lanes=())
    with Stubber(clients.sqs) as stub:
        stub.add_response("get_queue_url", URL)
        with pytest.raises(ValueError, match="10 attributes"):
            queue.dead_letter("b", {str(n): "x" for n in range(11)})
