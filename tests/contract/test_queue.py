"""TaskQueue: visibility, receive counts, the redrive policy, and receipts that are no good any more."""

import pytest
from msgspec import structs

from reelworks.domain.instants import MINUTE_MS
from reelworks.errors import Unreachable
from reelworks.ports import Depth, Received
from tests.contract.worlds import AnyPorts, Emulated, World

MAX_RECEIVES = 5


def sent(world: World, body: str = "body", visibility_s: int = 30) -> Received:
    """A message, sent and received."""
    world.ports.queue.send("fast", body)
    [message] = world.receive("fast", visibility_s)
    return message


def test_a_message_arrives_as_it_was_sent(world: World) -> None:
    world.ports.queue.send(
        "fast", '{"é": "ü \U0001f3ac"}', group="ann", attributes={"traceparent": "00-1-2-01"}
    )
    [message] = world.receive("fast")
    assert (message.lane, message.body) == ("fast", '{"é": "ü \U0001f3ac"}')
    assert message.attributes == {"traceparent": "00-1-2-01"}
    assert message.receives == 1
    assert abs(message.sent_at - world.ports.clock.now()) < MINUTE_MS


def test_lanes_are_apart(world: World) -> None:
    world.ports.queue.send("fast", "body")
    assert world.receive_nothing("dlq")
    assert len(world.receive("fast")) == 1


def test_attributes_may_be_empty_and_as_many_as_ten(world: World) -> None:
    attributes = {f"a{n}": str(n) for n in range(10)}
    world.ports.queue.send("fast", "body", attributes={**attributes, "none": ""})
    assert world.receive("fast")[0].attributes == attributes


def test_no_more_messages_than_asked_for(world: World) -> None:
    for n in range(3):
        world.ports.queue.send("fast", str(n))
    assert len(world.ports.queue.receive("fast", 1, 1, 30)) == 1


def test_a_received_message_is_hidden(world: World) -> None:
    sent(world)
    assert world.receive_nothing("fast")


def test_it_returns_after_its_visibility_with_another_receipt_and_count(world: World) -> None:
    first = sent(world, visibility_s=1)
    world.pass_time(1)
    [second] = world.receive("fast")
    assert second.message_id == first.message_id
    assert (second.receives, second.receipt == first.receipt) == (2, False)


def test_a_deleted_message_never_returns(world: World) -> None:
    message = sent(world, visibility_s=1)
    world.ports.queue.delete(message)
    world.pass_time(1)
    assert world.ports.queue.receive("fast", 10, 2, 30) == []


def test_hiding_for_no_time_gives_it_out_at_once(world: World) -> None:
    message = sent(world)
    world.ports.queue.hide(message, 0)
    assert world.receive("fast")[0].message_id == message.message_id


def test_hiding_longer_keeps_it(world: World) -> None:
    message = sent(world, visibility_s=1)
    world.ports.queue.hide(message, 60)
    world.pass_time(1)
    assert world.ports.queue.receive("fast", 10, 2, 30) == []


@pytest.mark.parametrize("seconds", [-5, 43_200, 1_000_000])
def test_hiding_knows_the_limits_of_sqs(world: World, seconds: int) -> None:
    world.ports.queue.hide(sent(world), seconds)


def test_a_delayed_message_is_not_there_yet(world: World) -> None:
    world.ports.queue.send("fast", "body", delay_seconds=1)
    assert world.receive_nothing("fast")
    world.pass_time(1)
    assert len(world.receive("fast")) == 1


def test_an_old_receipt_hurts_nobody(world: World) -> None:
    old = sent(world, visibility_s=1)
    world.pass_time(1)
    [new] = world.receive("fast")
    world.ports.queue.hide(old, 60)
    world.ports.queue.delete(old)
    world.ports.queue.delete(new)


def test_a_receipt_of_a_deleted_message_is_no_error(world: World) -> None:
    message = sent(world)
    world.ports.queue.delete(message)
    world.ports.queue.delete(message)
    world.ports.queue.hide(message, 30)


def test_a_receipt_that_never_was_is_no_error(world: World) -> None:
    message = structs.replace(sent(world), receipt="AQEB-no-such-receipt")
    world.ports.queue.hide(message, 30)
    world.ports.queue.delete(message)


def test_a_message_received_too_often_is_dead_lettered(world: World) -> None:
    message = sent(world, "poison", visibility_s=0)
    for n in range(2, MAX_RECEIVES + 1):
        assert world.receive("fast", visibility_s=0)[0].receives == n
    assert world.receive_nothing("fast")
    [dead] = world.receive("dlq")
    assert (dead.body, dead.message_id) == ("poison", message.message_id)


def test_a_dead_letter_says_why(world: World) -> None:
    reason = {"reason": "exhausted", "message": ("Zeile 1\nline 2 – ü " * 100)[:1_000]}
    world.ports.queue.dead_letter("body", reason)
    [dead] = world.receive("dlq")
    assert (dead.body, dead.attributes) == ("body", reason)


def test_a_dead_letter_with_characters_that_sqs_refuses_arrives_all_the_same(emulated: Emulated) -> None:
    emulated.ports.queue.dead_letter("body", {"message": "a\x00b\ufffec"})
    assert emulated.receive("dlq")[0].attributes == {"message": "a\ufffdb\ufffdc"}


def test_depths_tell_waiting_in_flight_and_delayed(world: World) -> None:
    queue = world.ports.queue
    sent(world)
    queue.send("fast", "waiting")
    queue.send("fast", "delayed", delay_seconds=60)
    queue.dead_letter("dead", {})
    depths = queue.depths()
    assert depths["fast"] == Depth(visible=1, in_flight=1, delayed=1)
    assert depths["dlq"] == Depth(visible=1, in_flight=0, delayed=0)
    assert {"events", "fast", "dlq"} <= depths.keys()


def test_queues_that_are_there_answer_a_ping(ports: AnyPorts) -> None:
    ports.queue.ping()


def test_a_queue_that_is_not_there_is_named(emulated: Emulated) -> None:
    with pytest.raises(Unreachable, match="nope") as caught:
        emulated.ports.queue.receive("nope", 1, 0, 1)
    assert caught.value.code == "not_found"
