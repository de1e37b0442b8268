"""A held lease: its heartbeat, its end, and what may still be written."""

import threading

import pytest
from msgspec import structs

from reelworks.domain import task as tasks
from reelworks.domain.outcome import Outputs
from reelworks.domain.task import Task, TaskStatus
from reelworks.errors import Interrupted, LeaseLost, Temporary, Unreachable
from reelworks.ports import Guard, Received, UploadStore
from reelworks.testing import FakeClock
from tests.world import RULES, World
from worker.lease import Lease


class FlakyStore:
    """The in-memory store, out of reach while `broken`."""

    def __init__(self, store: UploadStore) -> None:
        self._store = store
        self.broken = False

    def write_task(self, before: Task | None, after: Task, guard: Guard) -> None:
        if self.broken:
            raise Unreachable("no table")
        self._store.write_task(before, after, guard)


def make_lease(world: World, store: object = None) -> Lease:
    upload = world.upload()
    world.adapters.queue.send("speech", "{}")
    message: Received = world.receive(visibility_seconds=RULES.visibility_ms() // 1_000)
    task = world.running(upload, message.message_id)
    return Lease(
        task,
        message,
        store=store or world.adapters.store,  # type: ignore[arg-type]
        queue=world.queue,
        clock=world.adapters.clock,
        rules=RULES,
        claimed_at=world.adapters.clock.monotonic(),
    )


def stored(world: World, lease: Lease) -> Task:
    snapshot = world.adapters.store.load(lease.task.upload_id)
    assert snapshot is not None
    return snapshot.tasks["transcribe"]


def test_heartbeat_extends_lease_and_visibility(world: World, clock: FakeClock) -> None:
    lease = make_lease(world)
    clock.advance(20)
    lease.progress = 0.4
    assert lease.beat()
    row = stored(world, lease)
    assert row.lease_until == clock.now() + RULES.lease_ms
    assert row.progress == 0.4
    assert world.queue.calls == [("hide", RULES.visibility_ms() // 1_000)]
    clock.advance(20)
    assert not lease.ran_out()
    assert world.queue.receive("speech", 1, 0, 30) == []


def test_heartbeat_runs_by_itself_and_stops_with_the_lease(world: World) -> None:
    lease = make_lease(world)
    fast = structs.replace(RULES, heartbeat_ms=1)
    lease._rules = fast
    beaten = threading.Event()
    beat = lease.beat

    def seen() -> bool:
        beaten.set()
        return beat()

    lease.beat = seen  # type: ignore[method-assign]
    with lease:
        assert beaten.wait(5)
    lease._thread.join(5)
    assert not lease._thread.is_alive()


def test_heartbeat_survives_an_outage_that_is_shorter_than_the_lease(world: World, clock: FakeClock) -> None:
    store = FlakyStore(world.adapters.store)
    lease = make_lease(world, store)
    store.broken = True
    clock.advance(RULES.lease_ms / 1_000 - 1)
    assert lease.beat()
    store.broken = False
    assert lease.beat()
    assert lease.cancellation.reason is None


def test_outage_as_long_as_the_lease_means_that_it_is_lost(world: World, clock: FakeClock) -> None:
    store = FlakyStore(world.adapters.store)
    lease = make_lease(world, store)
    store.broken = True
    clock.advance(RULES.lease_ms / 1_000)
    assert not lease.beat()
    assert isinstance(lease.cancellation.reason, LeaseLost)


class RefusingQueue:
    """SQS answers, with a refusal that nobody foresaw."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def hide(self, message: Received, seconds: int) -> None:
        raise self._error


@pytest.mark.parametrize("error", [Temporary("KmsThrottled", code="kms_throttled"), KeyError("a bug")])
def test_heartbeat_survives_whatever_the_queue_answers(world: World, error: Exception) -> None:
    lease = make_lease(world)
    lease._queue = RefusingQueue(error)  # type: ignore[assignment]
    assert lease.beat()
    assert lease.beat()
    assert lease.cancellation.reason is None


def test_heartbeat_notices_a_takeover(world: World) -> None:
    lease = make_lease(world)
    taken = structs.replace(lease.task, token="somebody-else")
    world.adapters.store.write_task(lease.task, taken, Guard.OWNED)
    assert not lease.beat()
    assert isinstance(lease.cancellation.reason, LeaseLost)


def test_lease_that_ran_out_is_not_written_with(world: World, clock: FakeClock) -> None:
    """Its row may still look like ours; somebody may be about to take it over."""
    lease = make_lease(world)
    clock.advance(RULES.lease_ms / 1_000)
    with pytest.raises(LeaseLost):
        lease.write(lambda task, now: tasks.done(task, Outputs(prefix="p/"), now), lambda *_: None)
    assert stored(world, lease).status is TaskStatus.RUNNING


def test_wall_clock_that_jumps_does_not_end_a_lease(world: World, clock: FakeClock) -> None:
    lease = make_lease(world)
    clock.jump(3_600)
    assert not lease.ran_out()
    clock.jump(-7_200)
    assert lease.beat()
    assert not lease.ran_out()


def test_no_heartbeat_follows_the_last_word(world: World) -> None:
    lease = make_lease(world)

    def save(before: Task, after: Task) -> None:
        world.adapters.store.close_task(before, after, Guard.OWNED)

    lease.write(lambda task, now: tasks.done(task, Outputs(prefix="p/"), now), save)
    assert not lease.beat()
    assert stored(world, lease).status is TaskStatus.DONE


def test_visibility_is_never_extended_past_what_sqs_allows(world: World, clock: FakeClock) -> None:
    lease = make_lease(world)
    for _ in range(12 * 60 * 3 + 10):
        clock.advance(20)
        assert lease.beat()
    total = 0
    hides = [value for name, value in world.queue.calls if name == "hide"]
    for number, seconds in enumerate(hides, start=1):
        assert isinstance(seconds, int)
        total = max(total, number * 20 + seconds)
    assert total <= 12 * 3_600
    assert len(hides) < 12 * 60 * 3 + 10


def test_interrupted_lease_keeps_beating_until_its_work_has_ended(world: World) -> None:
    lease = make_lease(world)
    lease.interrupt()
    assert isinstance(lease.cancellation.reason, Interrupted)
    assert lease.beat()
