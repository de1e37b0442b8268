"""What is deleted after the end of an upload, and when."""

from collections.abc import Mapping

import pytest
from msgspec import structs

from dlq_janitor.repairs import Repair, Repairs
from dlq_janitor.sweep import Sweep
from reelworks.domain import upload as uploads
from reelworks.domain.failure import Failure, FailureKind
from reelworks.domain.outcome import Outputs
from reelworks.domain.plan import INGEST, Lane
from reelworks.domain.task import Task, TaskStatus
from reelworks.domain.upload import Upload, UploadStatus, WatchRules
from reelworks.errors import Unreachable
from reelworks.ports import Due
from reelworks.testing import FakeClock, InMemoryBlobStore
from tests.unit.core.domain.builders import PLAN
from tests.world import RULES, World
from worker.verdict import Ending

WATCH = WatchRules()
FAILURE = Failure(kind=FailureKind.PERMANENT, code="not_media", message="Not media.")
DAY_S = WATCH.sweep_after_ms / 1_000


def sweep(world: World) -> Mapping[Repair, int]:
    return dict(world.sweep().run())


def put(world: World, upload: Upload, path: str) -> str:
    key = f"processed/{upload.user_id}/{upload.upload_id}/{path}"
    world.adapters.media.put(key, b"x", "text/plain")
    return key


def left(world: World) -> set[str]:
    assert isinstance(world.adapters.media, InMemoryBlobStore)
    return set(world.adapters.media.objects)


def done(world: World, upload: Upload, token: str, **changes: object) -> None:
    prefix = f"processed/{upload.user_id}/{upload.upload_id}/tasks/transcribe/{token}/"
    outputs = Outputs(prefix=prefix, **changes)  # type: ignore[arg-type]
    world.task(upload, status=TaskStatus.DONE, due_at=None, outputs=outputs, generation=upload.generation)


def finished(world: World, **changes: object) -> Upload:
    """A COMPLETED upload with one finished task, its event out."""
    upload = world.upload(open_tasks=frozenset(), **changes)
    done(world, upload, "live")
    put(world, upload, "tasks/transcribe/live/transcript.vtt")
    ended = uploads.completed(upload, world.adapters.clock.now(), WATCH)
    world.adapters.store.finish_upload(upload, ended)
    rests = uploads.notified(ended, world.adapters.clock.now(), WATCH)
    world.adapters.store.write_upload(ended, rests)
    return rests


def test_what_a_dead_attempt_left_goes_after_a_day(world: World, clock: FakeClock) -> None:
    upload = finished(world)
    kept = left(world)
    put(world, upload, "tasks/transcribe/dead/transcript.vtt")
    other = finished(world)
    kept |= {put(world, other, "tasks/transcribe/live/other")}
    clock.advance(DAY_S - 1)
    assert sweep(world) == {}
    clock.advance(2)
    assert sweep(world) == {Repair.ORPHANS_SWEPT: 1}
    assert left(world) >= kept
    assert not any("/dead/" in key for key in left(world))
    assert world.snapshot(upload).upload.due_at is None
    clock.advance(DAY_S)
    assert sweep(world) == {}


def test_what_a_result_refers_to_stays(world: World, clock: FakeClock) -> None:
    upload = world.upload(open_tasks=frozenset(), status=UploadStatus.FAILED, finished_at=clock.now())
    prefix = f"processed/{upload.user_id}/{upload.upload_id}/tasks/transcribe/before/"
    done(world, upload, "live", uses=(prefix,))
    kept = {put(world, upload, "tasks/transcribe/before/a"), put(world, upload, "tasks/transcribe/live/b")}
    put(world, upload, "tasks/transcribe/beforehand/c")
    clock.advance(DAY_S)
    assert sweep(world) == {Repair.ORPHANS_SWEPT: 1}
    assert left(world) == kept


def test_with_zero_nothing_is_ever_deleted(world: World, clock: FakeClock) -> None:
    never = structs.replace(WATCH, sweep_after_ms=0)
    ended = uploads.completed(world.upload(), clock.now(), never)
    assert uploads.notified(ended, clock.now(), never).due_at is None


def test_an_object_of_just_now_stays_whatever_the_clocks_say(world: World, clock: FakeClock) -> None:
    upload = finished(world)
    clock.advance(DAY_S - 60)
    fresh = put(world, upload, "tasks/transcribe/fresh/x")
    clock.advance(120)
    assert sweep(world) == {}
    assert fresh in left(world)


def test_a_bucket_that_does_not_answer_is_asked_again(world: World, clock: FakeClock) -> None:
    upload = finished(world)
    orphan = put(world, upload, "tasks/transcribe/dead/x")
    clock.advance(DAY_S + 1)

    class NoBucket:
        def list(self, prefix: str) -> None:
            raise Unreachable(f"no bucket for {prefix}")

    flow = world.flow
    repairs = Repairs(flow=flow, raw=world.adapters.raw, media=NoBucket(), rules=RULES)  # type: ignore[arg-type]
    assert Sweep(repairs, batch=10, max_rows=10).run() == {}
    assert orphan in left(world)
    clock.advance(WATCH.processing_check_ms / 1_000 + 1)
    assert sweep(world) == {Repair.ORPHANS_SWEPT: 1}
    assert orphan not in left(world)


def again(world: World, upload: Upload) -> Upload:
    after = uploads.reprocessed(upload, "audio", None, world.adapters.clock.now(), WATCH)
    world.adapters.store.reopen_upload(upload, after)
    return after


def test_a_message_that_was_never_sent_is_sent(world: World, clock: FakeClock) -> None:
    """The API wrote the row and died."""
    upload = again(world, finished(world))
    clock.advance(WATCH.first_check_ms / 1_000 + 31)
    assert sweep(world) == {Repair.MESSAGE_RESENT: 1}
    assert world.handle(Lane.EVENTS).task == INGEST
    assert world.row(upload, INGEST).generation == 1


def test_what_is_shown_meanwhile_stays_and_goes_with_its_successor(world: World, clock: FakeClock) -> None:
    upload = again(world, finished(world))
    shown = left(world)
    failed = structs.replace(
        uploads.failed(upload, FAILURE, clock.now(), WATCH),
        notify_due=None,
        due_at=clock.now() + WATCH.sweep_after_ms,
    )
    world.adapters.store.reopen_upload(upload, structs.replace(failed, open_tasks=frozenset()))
    put(world, upload, "tasks/transcribe/failed/x")
    clock.advance(DAY_S + 1)
    assert sweep(world) == {Repair.ORPHANS_SWEPT: 1}
    assert left(world) == shown

    second = again(world, world.snapshot(upload).upload)
    assert {task.generation for task in world.snapshot(second).earlier.values()} == {0}
    done(world, second, "new")
    kept = put(world, second, "tasks/transcribe/new/x")
    planned = structs.replace(second, plan=PLAN, open_tasks=frozenset())
    world.adapters.store.reopen_upload(second, planned)
    ended = uploads.completed(planned, clock.now(), WATCH)
    world.adapters.store.finish_upload(planned, ended)
    clock.advance(DAY_S + 1)
    assert sweep(world) == {Repair.EVENT_SENT: 1}
    assert sweep(world) == {Repair.ORPHANS_SWEPT: 1}
    assert left(world) == {kept}
    assert [task.generation for task in all_rows(world, upload)] == [2]


def all_rows(world: World, upload: Upload) -> list[Task]:
    found = world.snapshot(upload)
    return [*found.tasks.values(), *found.earlier.values(), *found.spent]


def test_a_task_of_an_earlier_generation_is_looked_at_no_more(world: World, clock: FakeClock) -> None:
    upload = world.upload(status=UploadStatus.FAILED, finished_at=clock.now())
    world.running(upload, "m1")
    again(world, upload)
    clock.advance((RULES.lease_ms + RULES.skew_ms) / 1_000 + 1)
    assert sweep(world) == {Repair.ORPHAN_UNWATCHED: 1}
    assert sweep(world) == {}
    assert not any(due.task for due in due_rows(world))


def due_rows(world: World) -> list[Due]:
    store = world.adapters.store
    return [row for shard in range(store.shards) for row in store.due(shard, 2**53, 100).rows]


@pytest.mark.parametrize("status", [UploadStatus.COMPLETED, UploadStatus.FAILED])
def test_a_late_message_of_the_time_before_is_harmless(
    world: World, clock: FakeClock, status: UploadStatus
) -> None:
    upload = world.upload(status=status, finished_at=clock.now(), open_tasks=frozenset())
    world.queue.send(Lane.SPEECH, f'{{"version": 1, "uploadId": "{upload.upload_id}", "task": "transcribe"}}')
    again(world, upload)
    assert world.handle().ending is Ending.OVER
    assert world.snapshot(upload).upload.open_tasks == {INGEST}
