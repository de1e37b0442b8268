"""What a sweep repairs, each in a world where exactly that went wrong."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec import structs

from dlq_janitor.repairs import Repair, Repairs
from dlq_janitor.sweep import Sweep
from reelworks.domain import task as tasks
from reelworks.domain.event import UploadEvent
from reelworks.domain.failure import Failure, FailureKind
from reelworks.domain.outcome import Suspend
from reelworks.domain.plan import INGEST, Lane
from reelworks.domain.task import TaskStatus
from reelworks.domain.upload import UploadStatus, WatchRules
from reelworks.errors import Unreachable
from reelworks.ports import Guard
from reelworks.testing import FakeClock, InMemoryEventSink, InMemoryUploadStore
from tests.world import RULES, World
from worker.verdict import Ending

WATCH = WatchRules()
LEASE_S = (RULES.lease_ms + RULES.skew_ms + 1_000) / 1_000
FAILURE = Failure(kind=FailureKind.PERMANENT, code="not_media", message="Not media.")


def sweep(world: World) -> Mapping[Repair, int]:
    return dict(world.sweep().run())


def pending(**changes: object) -> dict[str, object]:
    return {"status": UploadStatus.PENDING_UPLOAD, "plan": None, "open_tasks": frozenset(), **changes}


def test_on_a_quiet_day_a_sweep_does_nothing(world: World) -> None:
    upload = world.upload()
    world.running(upload, "m1")
    assert sweep(world) == {}


def test_task_of_a_dead_worker_is_ready_again_and_announced(world: World, clock: FakeClock) -> None:
    upload = world.upload()
    world.running(upload, "m1")
    clock.advance(LEASE_S)
    assert sweep(world) == {Repair.LEASE_LAPSED: 1}
    row = world.row(upload)
    assert (row.status, row.attempts) == (TaskStatus.READY, 1)
    assert world.handle().ending is Ending.DONE
    assert world.snapshot(upload).upload.status is UploadStatus.COMPLETED


def test_living_lease_is_left_alone(world: World, clock: FakeClock) -> None:
    world.running(world.upload(), "m1")
    clock.advance(RULES.lease_ms / 1_000)
    assert sweep(world) == {}


def test_last_attempt_of_dead_workers_fails_and_goes_to_the_dead_letters(
    world: World, clock: FakeClock
) -> None:
    upload = world.upload()
    world.running(upload, "m1", attempts=RULES.max_attempts - 1)
    clock.advance(LEASE_S)
    assert sweep(world) == {Repair.ATTEMPTS_USED_UP: 1}
    assert world.snapshot(upload).upload.status is UploadStatus.FAILED
    assert world.handle().ending is Ending.EXHAUSTED
    assert world.left("dlq").visible == 1


def test_ready_task_whose_message_was_lost_is_announced_again_and_less_and_less_often(
    world: World, clock: FakeClock
) -> None:
    upload = world.upload()
    world.task(upload, dispatches=1)
    gaps = []
    for _ in range(3):
        waited = 0
        while Repair.MESSAGE_RESENT not in sweep(world):
            clock.advance(60)
            waited += 1
        gaps.append(waited)
    assert gaps[0] < gaps[1] < gaps[2]
    assert world.left(Lane.SPEECH).visible == 3
    assert [world.handle().ending for _ in range(3)] == [Ending.DONE, Ending.OVER, Ending.OVER]


def test_late_callback_makes_the_task_ready_again(world: World, clock: FakeClock) -> None:
    upload = world.upload()
    task = world.running(upload, "m1")
    until = clock.now() + 60_000
    suspended = tasks.suspended(task, Suspend(reference="job", until=until), clock.now())
    world.adapters.store.write_task(task, suspended, Guard.OWNED)
    assert sweep(world) == {}
    clock.advance(61)
    assert sweep(world) == {Repair.CALLBACK_LATE: 1}
    assert world.row(upload).status is TaskStatus.READY


def test_event_that_never_came_is_made_again_once_the_object_is_there(world: World, clock: FakeClock) -> None:
    upload = world.upload(**pending(due_at=clock.now() + WATCH.first_check_ms))
    world.adapters.raw.put(upload.object_key, b"x" * 1_000, "video/mp4")
    world.queue.delete(world.receive(Lane.EVENTS))
    clock.advance(WATCH.first_check_ms / 1_000 + 1)
    assert sweep(world) == {Repair.EVENT_RECREATED: 1}
    assert world.receive(Lane.EVENTS).body.find(f'"{INGEST}"') > 0
    assert sweep(world) == {}


def test_upload_that_nobody_sent_expires_after_its_grace_and_says_so(world: World, clock: FakeClock) -> None:
    upload = world.upload(**pending(due_at=clock.now() + WATCH.first_check_ms))
    seen: dict[Repair, int] = {}
    while not seen:
        clock.advance(60)
        seen = dict(sweep(world))
    assert seen == {Repair.UPLOAD_EXPIRED: 1}
    ended = world.snapshot(upload).upload
    assert (ended.status, ended.due_at) == (UploadStatus.EXPIRED, None)
    assert clock.now() >= upload.expires_at + WATCH.expiry_grace_ms
    assert [event.status for event in events(world)] == [UploadStatus.EXPIRED]


def events(world: World) -> list[UploadEvent]:
    sink = world.adapters.events
    assert isinstance(sink, InMemoryEventSink)
    return sink.events


def test_object_that_came_at_the_last_moment_is_not_expired(world: World, clock: FakeClock) -> None:
    upload = world.upload(**pending())
    world.adapters.raw.put(upload.object_key, b"x", "video/mp4")
    clock.advance((upload.expires_at + WATCH.expiry_grace_ms - clock.now()) / 1_000 + 1)
    assert sweep(world) == {Repair.EVENT_RECREATED: 1}
    assert world.snapshot(upload).upload.status is UploadStatus.PENDING_UPLOAD


def test_last_step_that_was_lost_is_taken(world: World, clock: FakeClock) -> None:
    upload = world.upload(open_tasks=frozenset())
    world.task(upload, status=TaskStatus.DONE, due_at=None)
    clock.advance(601)
    assert sweep(world) == {Repair.GRAPH_ADVANCED: 1}
    assert world.snapshot(upload).upload.status is UploadStatus.COMPLETED
    assert sweep(world) == {}


def test_failed_ingest_fails_an_upload_that_its_worker_could_not(world: World, clock: FakeClock) -> None:
    upload = world.upload(**pending())
    world.task(upload, name=INGEST, status=TaskStatus.FAILED, failure=FAILURE, due_at=None)
    clock.advance(601)
    assert sweep(world) == {Repair.GRAPH_ADVANCED: 1}
    assert world.snapshot(upload).upload.failure == FAILURE


def test_event_that_could_not_be_sent_is_sent_later(world: World, clock: FakeClock) -> None:
    now = clock.now()
    upload = world.upload(
        status=UploadStatus.COMPLETED,
        open_tasks=frozenset(),
        notify_due=now,
        due_at=now + 30_000,
        finished_at=now,
    )
    assert sweep(world) == {}
    clock.advance(31)
    assert sweep(world) == {Repair.EVENT_SENT: 1}
    assert [event.upload_id for event in events(world)] == [upload.upload_id]
    assert sweep(world) == {}


class DeafSink:
    def emit(self, event: UploadEvent) -> None:
        raise Unreachable("no bus")


def test_outbox_of_an_unreachable_bus_is_tried_later_each_time(world: World, clock: FakeClock) -> None:
    now = clock.now()
    upload = world.upload(status=UploadStatus.COMPLETED, notify_due=now, due_at=now, finished_at=now)
    world.adapters = structs.replace(world.adapters, events=DeafSink())
    dues = []
    for _ in range(3):
        clock.advance(1)
        assert sweep(world) == {}
        due = world.snapshot(upload).upload.due_at
        assert due is not None
        dues.append(due - clock.now())
        clock.advance((due - clock.now()) / 1_000)
    assert dues[0] < dues[1] < dues[2]


@pytest.mark.parametrize("status", [UploadStatus.CANCELLED, UploadStatus.FAILED])
def test_task_of_an_ended_upload_is_retired(world: World, clock: FakeClock, status: UploadStatus) -> None:
    upload = world.upload(status=status, due_at=None)
    world.task(upload)
    clock.advance(601)
    assert sweep(world) == {Repair.TASK_RETIRED: 1}
    row = world.row(upload)
    assert (row.status, row.due_at) == (TaskStatus.SKIPPED, None)


def test_two_janitors_at_once_do_no_harm(world: World, clock: FakeClock) -> None:
    uploads = [world.upload() for _ in range(20)]
    for upload in uploads:
        world.running(upload, "m1")
    clock.advance(LEASE_S)
    with ThreadPoolExecutor(4) as pool:
        repaired = list(pool.map(lambda _: sweep(world).get(Repair.LEASE_LAPSED, 0), range(4)))
    assert sum(repaired) == 20
    assert world.left(Lane.SPEECH).visible == 20


def test_row_that_cannot_be_repaired_does_not_stop_the_others(world: World, clock: FakeClock) -> None:
    lost = world.upload(**pending(object_key="uploads/ada/broken"))
    upload = world.upload()
    world.running(upload, "m1")
    clock.advance(601)

    class NoBucket:
        def head(self, key: str) -> None:
            raise Unreachable(f"no bucket for {key}")

    repairs = Repairs(flow=world.flow, raw=NoBucket(), media=world.adapters.media, rules=RULES)  # type: ignore[arg-type]
    done = Sweep(repairs, batch=1, max_rows=100).run()
    assert done == {Repair.LEASE_LAPSED: 1}
    assert world.snapshot(lost).upload.status is UploadStatus.PENDING_UPLOAD


def test_a_pass_looks_at_a_bounded_number_of_rows(world: World, clock: FakeClock) -> None:
    for _ in range(40):
        world.running(world.upload(), "m1")
    clock.advance(LEASE_S)
    repairs = Repairs(flow=world.flow, raw=world.adapters.raw, media=world.adapters.media, rules=RULES)
    first = Sweep(repairs, batch=3, max_rows=2).run()
    assert 0 < first[Repair.LEASE_LAPSED] <= 2 * world.adapters.store.shards


def orphan(world: World, due_at: int) -> None:
    """A task whose upload is gone."""
    store = world.adapters.store
    assert isinstance(store, InMemoryUploadStore)
    upload = world.upload()
    world.task(upload, due_at=due_at)
    del store.uploads[upload.upload_id]


def test_row_whose_upload_is_gone_is_watched_no_more(world: World, clock: FakeClock) -> None:
    orphan(world, clock.now() - 5_000)
    assert sweep(world) == {Repair.ORPHAN_UNWATCHED: 1}
    assert sweep(world) == {}


def test_rows_that_cannot_be_helped_starve_no_others(world: World, clock: FakeClock) -> None:
    """More of them than one pass looks at, all due for longer than the one that can be helped."""
    for _ in range(80):
        stuck = world.upload(**pending(due_at=clock.now() - 100_000))
        assert stuck.due_at is not None
    upload = world.upload()
    world.task(upload, due_at=clock.now() - 1_000)

    class NoBucket:
        def head(self, key: str) -> None:
            raise Unreachable(f"no bucket for {key}")

    repairs = Repairs(flow=world.flow, raw=NoBucket(), media=world.adapters.media, rules=RULES)  # type: ignore[arg-type]
    sweeper = Sweep(repairs, batch=2, max_rows=3)
    for _ in range(30):
        sweeper.run()
    assert world.left(Lane.SPEECH).visible >= 1


def test_object_that_nobody_takes_does_not_flood_the_queue(world: World, clock: FakeClock) -> None:
    """The workers are down for a day: the event is made again a few times, later each time."""
    upload = world.upload(**pending())
    world.adapters.raw.put(upload.object_key, b"x", "video/mp4")
    for _ in range(24 * 60):
        clock.advance(60)
        sweep(world)
    assert world.left(Lane.EVENTS).visible < 20
