"""UploadStore: an upload that is processed again, and what is left of the times before."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec import structs

from reelworks.domain import task as tasks
from reelworks.domain import upload as uploads
from reelworks.domain.plan import INGEST
from reelworks.domain.task import Task, TaskStatus
from reelworks.domain.upload import Upload, UploadStatus
from reelworks.errors import Conflict, LeaseLost
from reelworks.ports import Due, Guard, UploadStore
from tests.contract.samples import (
    OUTPUTS,
    T0,
    WATCH,
    accepted,
    claimed,
    plan,
    processing,
    stored_upload,
)
from tests.contract.test_store_watch import due
from tests.contract.worlds import AnyPorts


def completed(store: UploadStore) -> tuple[Upload, Task]:
    """A stored upload that is COMPLETED, its event out, and its one task."""
    row, ready = processing(store, "a")
    running = claimed(ready["a"])
    store.write_task(ready["a"], running, Guard.UNCHANGED)
    store.close_task(running, tasks.done(running, OUTPUTS, T0 + 2), Guard.OWNED)
    ended = uploads.completed(row, T0 + 3, WATCH)
    store.finish_upload(row, ended)
    rests = uploads.notified(ended, T0 + 4, WATCH)
    store.write_upload(ended, rests)
    return rests, tasks.done(running, OUTPUTS, T0 + 2)


def again(store: UploadStore, row: Upload, now: int = T0 + 10) -> Upload:
    after = uploads.reprocessed(row, "audio", None, now, WATCH)
    store.reopen_upload(row, after)
    return after


def test_the_new_generation_has_no_task_and_the_earlier_one_all_of_its(ports: AnyPorts) -> None:
    row, task = completed(ports.store)
    after = again(ports.store, row)
    snapshot = ports.store.load(row.upload_id)
    assert snapshot
    assert snapshot.upload == after
    assert snapshot.tasks == {}
    assert snapshot.earlier["a"] == task
    assert set(snapshot.earlier) == {"a", INGEST}
    assert snapshot.spent == ()


def test_both_generations_may_have_a_task_of_a_name(ports: AnyPorts) -> None:
    row, task = completed(ports.store)
    after = again(ports.store, row)
    ingest = claimed(tasks.ingest(row.upload_id, T0, generation=1), "second")
    ports.store.write_task(None, ingest, Guard.UNCHANGED)
    planned = [tasks.planned(spec, row.upload_id, T0, 1) for spec in plan("a").tasks]
    opened = accepted(after, "a")
    ports.store.accept_plan(after, opened, (ingest, tasks.done(ingest, OUTPUTS, T0)), planned)
    snapshot = ports.store.load(row.upload_id)
    assert snapshot
    assert snapshot.upload.open_tasks == {"a"}
    assert snapshot.tasks["a"] == planned[0]
    assert snapshot.tasks[INGEST].status is TaskStatus.DONE
    assert snapshot.earlier["a"] == task


def test_an_ingest_that_fails_leaves_nothing_open(ports: AnyPorts) -> None:
    row, _ = completed(ports.store)
    after = again(ports.store, row)
    ingest = claimed(tasks.ingest(row.upload_id, T0, generation=1))
    ports.store.write_task(None, ingest, Guard.UNCHANGED)
    with pytest.raises(Conflict):
        ports.store.finish_upload(after, uploads.completed(after, T0 + 20, WATCH))
    ports.store.close_task(ingest, tasks.skipped(ingest, T0 + 20), Guard.OWNED)
    assert stored_upload(ports.store, row).open_tasks == frozenset()


def test_an_attempt_of_an_earlier_generation_closes_nothing(ports: AnyPorts) -> None:
    row, ready = processing(ports.store, "a")
    running = claimed(ready["a"])
    ports.store.write_task(ready["a"], running, Guard.UNCHANGED)
    # As if its upload had been given up, and processed again with a task of the same name.
    failed = structs.replace(row, status=UploadStatus.FAILED, due_at=T0 + 7)
    ports.store.write_upload(row, failed)
    after = uploads.reprocessed(failed, "audio", None, T0 + 10, WATCH)
    ports.store.reopen_upload(failed, structs.replace(after, open_tasks=frozenset({"a"})))
    with pytest.raises(LeaseLost):
        ports.store.close_task(running, tasks.done(running, OUTPUTS, T0 + 11), Guard.OWNED)
    assert stored_upload(ports.store, row).open_tasks == {"a"}


def test_of_two_who_begin_at_once_one_does(ports: AnyPorts) -> None:
    row, _ = completed(ports.store)

    def begin(profile: str) -> bool:
        try:
            ports.store.reopen_upload(row, uploads.reprocessed(row, profile, None, T0 + 10, WATCH))
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        begun = dict(zip("abcd", pool.map(begin, "abcd"), strict=True))
    assert sum(begun.values()) == 1
    found = stored_upload(ports.store, row)
    assert begun[found.profile]
    assert found.generation == 1


def test_a_write_that_was_decided_before_changes_nothing(ports: AnyPorts) -> None:
    row, _ = completed(ports.store)
    again(ports.store, row)
    with pytest.raises(Conflict):
        ports.store.write_upload(row, uploads.sweeping(row, T0 + 9, WATCH))
    with pytest.raises(Conflict):
        ports.store.write_upload(row, uploads.swept(row))


def test_a_sweep_that_began_before_is_seen(ports: AnyPorts) -> None:
    row, _ = completed(ports.store)
    condemning = uploads.sweeping(row, T0 + 9, WATCH)
    ports.store.write_upload(row, condemning)
    with pytest.raises(Conflict):
        again(ports.store, row)
    assert again(ports.store, condemning).swept_at == T0 + 9


def test_rows_that_nobody_needs_can_be_forgotten(ports: AnyPorts) -> None:
    row, _ = completed(ports.store)
    first = again(ports.store, row)
    failed = structs.replace(first, status=UploadStatus.FAILED, due_at=T0 + 50, earlier=None)
    ports.store.write_upload(first, failed)
    again(ports.store, failed, T0 + 60)
    snapshot = ports.store.load(row.upload_id)
    assert snapshot
    assert {task.name for task in snapshot.spent} == {"a", INGEST}
    ports.store.forget(snapshot.spent)
    ports.store.forget(snapshot.spent)
    left = ports.store.load(row.upload_id)
    assert left == structs.replace(snapshot, spent=())


def test_a_due_row_says_of_which_generation_it_is(ports: AnyPorts) -> None:
    row, _ = completed(ports.store)
    after = again(ports.store, row)
    ingest = claimed(tasks.ingest(row.upload_id, T0, generation=1))
    ports.store.write_task(None, ingest, Guard.UNCHANGED)
    watched = Due(upload_id=row.upload_id, task=INGEST, generation=1, due_at=ingest.due_at or 0)
    assert watched in due(ports)
    ports.store.unwatch(structs.replace(watched, generation=0))
    assert watched in due(ports)
    ports.store.unwatch(watched)
    assert due(ports) == [Due(upload_id=row.upload_id, task=None, due_at=after.due_at or 0)]
