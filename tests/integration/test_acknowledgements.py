"""The acknowledgement table, one test a row, on real queues and a real table."""

import json
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote_plus

import pytest
from msgspec import structs

from reelworks import messages
from reelworks.domain.failure import FailureKind
from reelworks.domain.outcome import LeaseLost, Outcome, Released, Retry, Suspend
from reelworks.domain.plan import Lane
from reelworks.domain.ranking import Weights
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.task import Task, TaskStatus
from reelworks.domain.upload import Upload, UploadStatus
from reelworks.errors import Interrupted, Permanent, Temporary, Unreachable
from reelworks.ports import Created, Depth, Due, DuePage, Guard, IdempotencyKey, UploadStore
from reelworks.workflow.graph import Workflow
from tests.world import POLICY, RULES, World, done
from worker.verdict import Ending
from worker.work import Work

EMPTY = Depth(visible=0, in_flight=0, delayed=0)
HIDDEN = Depth(visible=0, in_flight=1, delayed=0)
BROKEN = Temporary("the disk is full", code="disk_full")


def send(world: World, upload: Upload, task: str = "transcribe") -> None:
    world.adapters.queue.send(Lane.SPEECH, messages.encode(upload.upload_id, task))


def hidden_for(world: World) -> int:
    (seconds,) = [value for name, value in world.queue.calls if name == "hide"]
    assert isinstance(seconds, int)
    return seconds


def test_done_deletes_the_message_and_completes_the_upload(world: World) -> None:
    upload = world.upload()
    world.task(upload)
    send(world, upload)
    assert world.handle().ending is Ending.DONE
    assert world.left() == EMPTY
    assert world.row(upload).status is TaskStatus.DONE
    assert world.snapshot(upload).upload.status is UploadStatus.COMPLETED


def test_message_of_a_task_that_is_done_is_deleted(world: World) -> None:
    upload = world.upload()
    world.task(upload)
    for _ in range(3):
        send(world, upload)
    endings = [world.handle().ending for _ in range(3)]
    assert endings == [Ending.DONE, Ending.OVER, Ending.OVER]
    assert world.left() == EMPTY
    assert world.row(upload).leases == 1


@pytest.mark.parametrize("status", [UploadStatus.CANCELLED, UploadStatus.COMPLETED, UploadStatus.FAILED])
def test_message_of_an_upload_that_has_ended_is_deleted(world: World, status: UploadStatus) -> None:
    upload = world.upload(status=status)
    world.task(upload)
    send(world, upload)
    assert world.handle().ending is Ending.OVER
    assert world.left() == EMPTY
    assert world.row(upload).leases == 0


def test_message_of_an_upload_that_is_gone_is_deleted(world: World) -> None:
    world.adapters.queue.send(Lane.SPEECH, messages.encode("0" * 32, "transcribe"))
    assert world.handle().ending is Ending.OVER
    assert world.left() == EMPTY


def test_duplicate_of_another_messages_live_lease_is_deleted(world: World) -> None:
    upload = world.upload()
    before = world.running(upload, message_id="another")
    send(world, upload)
    assert world.handle().ending is Ending.DUPLICATE
    assert world.left() == EMPTY
    assert world.row(upload) == before


def test_message_whose_own_lease_is_alive_is_hidden_for_the_rest_of_it(world: World) -> None:
    upload = world.upload()
    send(world, upload)
    message = world.receive()
    before = world.running(upload, message_id=message.message_id)
    assert world.processor().handle(message).ending is Ending.HELD_HERE
    assert world.left() == HIDDEN
    assert world.row(upload) == before
    assert RULES.lease_ms / 2_000 < hidden_for(world) <= (RULES.lease_ms + RULES.skew_ms) / 1_000


def test_failed_attempt_is_hidden_for_its_backoff(world: World) -> None:
    world.work = lambda _: Retry(error=BROKEN)
    upload = world.upload()
    world.task(upload)
    send(world, upload)
    assert world.handle().ending is Ending.RETRY
    row = world.row(upload)
    assert (row.status, row.attempts) == (TaskStatus.READY, 1)
    assert row.not_before is not None
    assert row.last_error is not None
    assert row.last_error.code == "disk_full"
    assert POLICY.base_ms / 2_000 - 1 <= hidden_for(world) <= POLICY.base_ms / 1_000
    assert world.left() == HIDDEN


def test_early_copy_of_a_waiting_retry_is_hidden_until_it_is_due(world: World) -> None:
    upload = world.upload()
    world.task(upload, attempts=1, not_before=world.adapters.clock.now() + 20_000)
    send(world, upload)
    assert world.handle().ending is Ending.TOO_EARLY
    assert 15 <= hidden_for(world) <= 20
    assert world.left() == HIDDEN


def test_last_failed_attempt_moves_the_message_to_the_dead_letters_with_its_reason(world: World) -> None:
    world.work = lambda _: Retry(error=BROKEN)
    upload = world.upload()
    world.task(upload, attempts=RULES.max_attempts - 1)
    send(world, upload)
    assert world.handle().ending is Ending.EXHAUSTED
    assert world.left() == EMPTY
    failure = world.row(upload).failure
    assert failure is not None
    assert (failure.kind, failure.code) == (FailureKind.EXHAUSTED, "disk_full")
    assert world.snapshot(upload).upload.status is UploadStatus.FAILED
    attributes = dead_letter(world)
    assert attributes["reason"] == "exhausted"
    assert attributes["code"] == "disk_full"
    assert attributes["upload_id"] == upload.upload_id
    assert attributes["lane"] == "speech"


def dead_letter(world: World) -> Mapping[str, str]:
    assert world.left("dlq").visible == 1
    (attributes,) = [value for name, value in world.queue.calls if name == "dead_letter"]
    assert isinstance(attributes, dict)
    (message,) = world.adapters.queue.receive("dlq", 1, 1, 0)
    assert {k: v for k, v in attributes.items() if v} == dict(message.attributes)
    return attributes


def test_message_of_an_exhausted_task_is_moved_to_the_dead_letters(world: World) -> None:
    """The worker that failed it died before it could move the message."""
    upload = world.upload()
    world.running(upload, "another", attempts=RULES.max_attempts - 1, age_ms=2 * RULES.lease_ms)
    send(world, upload)
    assert world.handle().ending is Ending.EXHAUSTED
    assert world.row(upload).status is TaskStatus.FAILED
    assert dead_letter(world)["code"] == "worker_died"
    assert world.snapshot(upload).upload.status is UploadStatus.FAILED


def _with(task: Task, **changes: object) -> Task:
    return structs.replace(task, **changes)


def test_permanent_failure_deletes_the_message_and_fails_the_upload(world: World) -> None:
    def refuse(work: Work) -> Outcome:
        raise Permanent("This is a picture of a cat.", code="not_media")

    world.work = refuse
    upload = world.upload()
    world.task(upload)
    send(world, upload)
    assert world.handle().ending is Ending.FAILED
    assert world.left() == EMPTY
    assert world.left("dlq") == EMPTY
    ended = world.snapshot(upload).upload
    assert ended.failure is not None
    assert (ended.status, ended.failure.code) == (UploadStatus.FAILED, "not_media")


def test_suspended_task_deletes_the_message_and_is_due_later(world: World) -> None:
    until = world.adapters.clock.now() + 3_600_000
    world.work = lambda _: Suspend(reference="job-7", until=until)
    upload = world.upload()
    world.task(upload)
    send(world, upload)
    assert world.handle().ending is Ending.SUSPENDED
    assert world.left() == EMPTY
    row = world.row(upload)
    assert (row.status, row.reference, row.due_at) == (TaskStatus.SUSPENDED, "job-7", until)


@pytest.mark.parametrize("how", ["returned", "raised"])
def test_released_task_goes_on_with_a_fresh_message_and_its_attempt_back(world: World, how: str) -> None:
    def stop(work: Work) -> Outcome:
        if how == "raised":
            raise Interrupted("The worker is shutting down.")
        return Released()

    world.work = stop
    upload = world.upload()
    world.task(upload)
    send(world, upload)
    first = world.receive()
    assert world.processor().handle(first).ending is Ending.RELEASED
    row = world.row(upload)
    assert (row.status, row.attempts, row.not_before) == (TaskStatus.READY, 0, None)
    second = world.receive()
    assert second.message_id != first.message_id
    assert second.receives == 1


def test_lost_lease_leaves_the_message_alone(world: World) -> None:
    world.work = lambda _: LeaseLost()
    upload = world.upload()
    world.task(upload)
    send(world, upload)
    assert world.handle().ending is Ending.LEASE_LOST
    assert world.left() == HIDDEN
    assert world.queue.calls == []


def test_commit_of_a_stale_owner_is_refused_and_leaves_the_message(world: World) -> None:
    upload = world.upload()
    world.task(upload)

    def overtaken(work: Work) -> Outcome:
        taken = _with(world.row(upload), token="somebody-else")
        world.adapters.store.write_task(world.row(upload), taken, Guard.OWNED)
        return done(work)

    world.work = overtaken
    send(world, upload)
    assert world.handle().ending is Ending.LEASE_LOST
    row = world.row(upload)
    assert (row.status, row.token, row.outputs) == (TaskStatus.RUNNING, "somebody-else", None)
    assert world.left() == HIDDEN


class BrokenStore:
    """A table that cannot be reached."""

    shards = 1

    def create(self, upload: Upload, idempotency: IdempotencyKey | None = None) -> Created:
        raise Unreachable("no table")

    def load(self, upload_id: str) -> Snapshot | None:
        raise Unreachable("no table")

    def write_upload(self, before: Upload, after: Upload) -> None:
        raise Unreachable("no table")

    finish_upload = reopen_upload = write_upload

    def forget(self, tasks: Iterable[Task]) -> None:
        raise Unreachable("no table")

    def write_task(self, before: Task | None, after: Task, guard: Guard) -> None:
        raise Unreachable("no table")

    def close_task(self, before: Task, after: Task, guard: Guard) -> None:
        raise Unreachable("no table")

    def accept_plan(
        self, before: Upload, after: Upload, ingest: tuple[Task, Task], planned: Sequence[Task]
    ) -> None:
        raise Unreachable("no table")

    def choose_poster(
        self, before: Upload, after: Upload, lesson: tuple[Weights | None, Weights] | None
    ) -> None:
        raise Unreachable("no table")

    def ranking(self) -> Weights | None:
        raise Unreachable("no table")

    def due(self, shard: int, before: int, limit: int, cursor: Mapping[str, object] | None = None) -> DuePage:
        raise Unreachable("no table")

    def unwatch(self, due: Due) -> None:
        raise Unreachable("no table")

    def ping(self) -> None:
        raise Unreachable("no table")


def test_unreachable_table_leaves_the_message_alone(world: World) -> None:
    broken: UploadStore = BrokenStore()
    upload = world.upload()
    world.task(upload)
    send(world, upload)
    processor = world.processor(flow=_with_store(world, broken))
    assert processor.handle(world.receive()).ending is Ending.OUT_OF_REACH
    assert world.left() == HIDDEN
    assert world.queue.calls == []
    assert world.row(upload).leases == 0


def _with_store(world: World, store: UploadStore) -> Workflow:
    return structs.replace(world.flow, store=store)


def test_unreachable_bucket_gives_the_attempt_back_and_leaves_the_message(world: World) -> None:
    def no_bucket(work: Work) -> Outcome:
        raise Unreachable("no bucket")

    world.work = no_bucket
    upload = world.upload()
    world.task(upload)
    send(world, upload)
    assert world.handle().ending is Ending.OUT_OF_REACH
    row = world.row(upload)
    assert (row.status, row.attempts) == (TaskStatus.READY, 0)
    assert row.not_before is not None
    assert world.left() == HIDDEN
    assert world.queue.calls == []


@pytest.mark.parametrize(
    "body", ["no json", '{"version": 2, "uploadId": "x", "task": "y"}', '{"Records": []}']
)
def test_malformed_message_is_left_and_the_redrive_policy_ends_it(world: World, body: str) -> None:
    world.adapters.queue.send(Lane.SPEECH, body)
    processor = world.processor()
    for receive in range(1, 6):
        message = world.receive(visibility_seconds=0)
        assert message.receives == receive
        assert processor.handle(message).ending is Ending.MALFORMED
    assert world.queue.calls == []
    assert world.queue.receive(Lane.SPEECH, 1, 0, 0) == []
    assert world.left("dlq").visible == 1


def test_test_event_of_s3_is_deleted(world: World) -> None:
    body = json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "raw"})
    world.adapters.queue.send(Lane.SPEECH, body)
    assert world.handle().ending is Ending.TEST_EVENT
    assert world.left() == EMPTY


def test_several_records_become_a_message_each_and_a_bad_one_a_dead_letter(world: World) -> None:
    uploads = [world.upload(status=UploadStatus.PENDING_UPLOAD, plan=None) for _ in range(2)]
    keys = [quote_plus(upload.object_key) for upload in uploads]
    entries = [
        {"eventSource": "aws:s3", "eventName": "ObjectCreated:Put", "s3": {"object": {"key": key}}}
        for key in [keys[0], "elsewhere", keys[1]]
    ]
    world.adapters.queue.send(Lane.SPEECH, json.dumps({"Records": entries}))
    assert world.handle().ending is Ending.SPLIT
    bodies = {world.receive().body for _ in uploads}
    assert bodies == {messages.encode(upload.upload_id, "ingest") for upload in uploads}
    assert world.left("dlq").visible == 1


def test_crash_of_a_handler_is_a_failed_attempt_like_any_other(world: World) -> None:
    def bug(work: Work) -> Outcome:
        raise ZeroDivisionError("a bug")

    world.work = bug
    upload = world.upload()
    world.task(upload)
    send(world, upload)
    assert world.handle().ending is Ending.RETRY
    error = world.row(upload).last_error
    assert error is not None
    assert error.code == "unexpected"
