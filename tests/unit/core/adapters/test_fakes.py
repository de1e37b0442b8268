"""The fakes where they have behaviour of their own: the clocks, a poll that waits, limits of time."""

import threading

from reelworks.adapters.clock import SystemClock
from reelworks.testing import FakeClock, InMemoryBlobStore, InMemoryTaskQueue


def test_a_fake_clock_moves_when_told_and_when_slept_on() -> None:
    clock = FakeClock(1_000)
    clock.sleep(2)
    clock.advance(0.5)
    assert (clock.now(), clock.monotonic()) == (3_500, 2.5)


def test_its_wall_may_jump_without_its_monotonic_time() -> None:
    clock = FakeClock(10_000)
    clock.jump(-5)
    assert (clock.now(), clock.monotonic()) == (5_000, 0.0)


def test_the_machines_clock_moves_on() -> None:
    clock = SystemClock()
    wall, start = clock.now(), clock.monotonic()
    clock.sleep(0.001)
    clock.sleep(-1)
    assert clock.monotonic() > start
    assert abs(clock.now() - wall) < 60_000


def test_a_poll_on_a_real_clock_ends_with_the_first_message() -> None:
    queue = InMemoryTaskQueue(SystemClock())
    bodies: list[str] = []
    poll = threading.Thread(target=lambda: bodies.extend(m.body for m in queue.receive("fast", 1, 20, 30)))
    poll.start()
    queue.send("fast", "body")
    poll.join(10)
    assert bodies == ["body"]


def test_a_poll_on_a_real_clock_ends_empty() -> None:
    assert InMemoryTaskQueue(SystemClock()).receive("fast", 1, 0, 30) == []


def test_visibility_ends_twelve_hours_after_the_receive() -> None:
    clock = FakeClock()
    queue = InMemoryTaskQueue(clock)
    queue.send("fast", "body")
    [message] = queue.receive("fast", 1, 0, 60)
    for _ in range(20):
        clock.advance(3_500)
        queue.hide(message, 3_600)
    assert queue.receive("fast", 1, 0, 60)[0].receives == 2


def test_a_signed_request_ends() -> None:
    clock = FakeClock()
    blobs = InMemoryBlobStore(clock)
    request = blobs.sign_put("k", "video/mp4", None, 60)
    clock.advance(61)
    assert blobs.client_put(request.url, request.headers, b"x") == 403
    assert blobs.head("k") is None
