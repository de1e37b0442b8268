"""The consumer loop: lanes, slots, outages, and its end."""

import threading
from collections.abc import Callable

import pytest

from reelworks import messages
from reelworks.domain.outcome import Outcome
from reelworks.domain.plan import TaskKind
from reelworks.domain.task import TaskStatus
from reelworks.domain.upload import Upload
from reelworks.errors import Unreachable
from reelworks.ports import Received
from reelworks.testing import FakeClock
from tests.world import POLICY, RULES, World, done
from worker.acknowledgement import Acknowledger
from worker.attempt import Attempts
from worker.consumer import Consumer
from worker.processor import Processor
from worker.work import Work


class Site:
    """A consumer in a thread, and what it asked the queue for."""

    def __init__(self, world: World, lanes: tuple[str, ...], slots: int, grace_s: float = 5.0) -> None:
        self.world = world
        self.stopping = threading.Event()
        self.asked: list[tuple[str, int, int]] = []
        self.broken = False
        flow = world.flow
        self.receive: Callable[[str, int, int, int], list[Received]] = world.queue.receive
        world.queue.receive = self._receive  # type: ignore[method-assign]
        handlers = dict.fromkeys(TaskKind, self._work)
        attempts = Attempts(flow, handlers, world.scratch, rules=RULES, policy=POLICY)
        processor = Processor(
            flow, attempts, Acknowledger(flow.queue, world.metrics), rules=RULES, worker_id="w"
        )
        self.consumer = Consumer(
            world.queue,
            processor,
            attempts,
            world.adapters.clock,
            lanes=lanes,
            slots=slots,
            idle_wait_s=0,
            grace_s=grace_s,
            rules=RULES,
            stopping=self.stopping,
        )
        self.thread = threading.Thread(target=self.consumer.run)

    def _work(self, work: Work) -> Outcome:
        return self.world.work(work)

    def _receive(self, lane: str, limit: int, wait_seconds: int, visibility_seconds: int) -> list[Received]:
        self.asked.append((lane, limit, wait_seconds))
        if self.broken:
            raise Unreachable("no SQS")
        return self.receive(lane, limit, wait_seconds, visibility_seconds)

    def turn(self) -> None:
        """One turn of the loop, in this thread."""
        self.consumer._turn(idle=False)

    def stop(self) -> None:
        self.stopping.set()
        self.thread.join(20)
        assert not self.thread.is_alive()


def ready(world: World, lane: str = "speech") -> Upload:
    upload = world.upload()
    world.task(upload)
    world.adapters.queue.send(lane, messages.encode(upload.upload_id, "transcribe"))
    return upload


def test_lanes_are_drained_in_their_order(world: World) -> None:
    order: list[str] = []
    finished = threading.Event()

    def note(work: Work) -> Outcome:
        order.append(work.upload.upload_id)
        if len(order) == 6:
            finished.set()
        return done(work)

    world.work = note
    slow = [ready(world, "encode").upload_id for _ in range(3)]
    fast = [ready(world, "fast").upload_id for _ in range(3)]
    site = Site(world, ("fast", "encode"), slots=1)
    site.thread.start()
    assert finished.wait(10)
    site.stop()
    assert set(order[:3]) == set(fast)
    assert set(order[3:]) == set(slow)


def test_no_more_messages_are_received_than_slots_are_free(world: World) -> None:
    started, go = threading.Barrier(4), threading.Event()

    def hold(work: Work) -> Outcome:
        started.wait(10)
        go.wait(10)
        return done(work)

    world.work = hold
    for _ in range(8):
        ready(world)
    site = Site(world, ("speech",), slots=3)
    site.thread.start()
    started.wait(10)
    depth = world.left()
    assert (depth.in_flight, depth.visible) == (3, 5)
    asked = len(site.asked)
    world.work = done
    go.set()
    site.stop()
    assert all(limit <= 3 for _, limit, _ in site.asked)
    assert asked <= 3


def test_running_task_is_finished_before_the_worker_stops(world: World) -> None:
    started, go = threading.Event(), threading.Event()

    def hold(work: Work) -> Outcome:
        started.set()
        go.wait(10)
        return done(work)

    world.work = hold
    upload = ready(world)
    site = Site(world, ("speech",), slots=1)
    site.thread.start()
    assert started.wait(10)
    site.stopping.set()
    go.set()
    site.stop()
    assert world.row(upload).status is TaskStatus.DONE


def test_task_that_outlasts_the_grace_period_is_handed_on(world: World) -> None:
    started = threading.Event()

    def endless(work: Work) -> Outcome:
        started.set()
        work.cancellation.wait(20)
        work.cancellation.check()
        return done(work)

    world.work = endless
    upload = ready(world)
    site = Site(world, ("speech",), slots=1, grace_s=0.05)
    site.thread.start()
    assert started.wait(10)
    site.stop()
    row = world.row(upload)
    assert (row.status, row.attempts) == (TaskStatus.READY, 0)
    assert world.receive().receives == 1


def test_stopping_worker_receives_nothing_more(world: World) -> None:
    site = Site(world, ("speech",), slots=1)
    site.stopping.set()
    ready(world)
    site.thread.start()
    site.stop()
    assert site.asked == []


def test_consumer_waits_longer_between_polls_of_a_queue_that_is_out_of_reach(world: World) -> None:
    site = Site(world, ("speech",), slots=1)
    site.broken = True
    pauses = []
    for _ in range(8):
        site.consumer._round(idle=False)
        pauses.append(site.consumer._pause_s)
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]


def test_one_success_ends_the_waiting(world: World) -> None:
    site = Site(world, ("speech",), slots=1)
    site.broken = True
    site.consumer._round(idle=False)
    site.broken = False
    ready(world)
    site.consumer._round(idle=False)
    site.consumer.drain()
    assert site.consumer._pause_s == 0


def test_idle_worker_that_cannot_poll_is_neither_ready_nor_live(world: World, clock: FakeClock) -> None:
    site = Site(world, ("speech",), slots=1)
    assert site.consumer.trouble(60) is None
    clock.advance(61)
    site.broken = True
    site.turn()
    assert "no successful poll for 61 s" in (site.consumer.trouble(60) or "")
    assert "no successful poll for 61 s" in (site.consumer.stale(60) or "")
    site.broken = False
    site.turn()
    assert site.consumer.trouble(60) is None
    assert site.consumer.stale(60) is None


def test_busy_worker_that_cannot_poll_is_live_so_that_nobody_kills_its_work(
    world: World, clock: FakeClock
) -> None:
    site = Site(world, ("speech",), slots=2)
    site.consumer._slots.take()
    clock.advance(61)
    site.broken = True
    site.turn()
    assert site.consumer.trouble(60) is None
    assert site.consumer.stale(60) is not None


def test_loop_that_hangs_is_not_live_whatever_runs(world: World, clock: FakeClock) -> None:
    site = Site(world, ("speech",), slots=2)
    site.consumer._slots.take()
    clock.advance(61)
    assert "has not turned" in (site.consumer.trouble(60) or "")


@pytest.mark.parametrize(("lanes", "wait"), [(("speech",), 7), (("fast", "speech"), 1)])
def test_only_an_idle_consumer_waits_and_never_long_with_several_lanes(
    world: World, lanes: tuple[str, ...], wait: int
) -> None:
    site = Site(world, lanes, slots=1)
    site.consumer._idle_wait_s = 7
    site.consumer._round(idle=False)
    site.consumer._round(idle=True)
    waits = [w for _, _, w in site.asked]
    assert waits[: len(lanes)] == [0] * len(lanes)
    assert waits[len(lanes)] == wait
    assert set(waits[len(lanes) + 1 :]) <= {0}


def test_poll_that_hangs_does_not_hold_up_the_drain(world: World) -> None:
    started, free = threading.Event(), threading.Event()

    def endless(work: Work) -> Outcome:
        started.set()
        work.cancellation.wait(20)
        work.cancellation.check()
        return done(work)

    world.work = endless
    upload = ready(world)
    site = Site(world, ("speech",), slots=2, grace_s=0.05)
    real = site.receive

    def hang(lane: str, limit: int, wait_seconds: int, visibility_seconds: int) -> list[Received]:
        if started.is_set():
            free.wait(20)
            return []
        return real(lane, limit, wait_seconds, visibility_seconds)

    site.receive = hang
    site.thread.start()
    assert started.wait(10)
    site.stop()
    free.set()
    assert world.row(upload).status is TaskStatus.READY


def test_what_is_received_while_stopping_is_given_back_at_once(world: World) -> None:
    site = Site(world, ("speech",), slots=1)
    ready(world)
    message = world.receive()
    site.stopping.set()
    site.consumer._start([message])
    assert world.receive().message_id == message.message_id
    assert site.consumer._slots.taken == 0


def test_error_that_nobody_foresaw_does_not_end_the_consumer(world: World) -> None:
    site = Site(world, ("speech",), slots=1)
    upload, real = ready(world), site.receive
    seen = threading.Event()

    def confused(lane: str, limit: int, wait_seconds: int, visibility_seconds: int) -> list[Received]:
        if not seen.is_set():
            seen.set()
            raise KeyError("QueueUrl")
        return real(lane, limit, wait_seconds, visibility_seconds)

    site.receive = confused
    finished = threading.Event()

    def work(work: Work) -> Outcome:
        finished.set()
        return done(work)

    world.work = work
    site.thread.start()
    assert finished.wait(10)
    site.stop()
    assert world.row(upload).status is TaskStatus.DONE


def test_empty_poll_ends_the_waiting(world: World) -> None:
    site = Site(world, ("speech",), slots=1)
    site.broken = True
    site.turn()
    assert site.consumer._pause_s > 0
    site.broken = False
    site.turn()
    assert site.consumer._pause_s == 0
