"""UploadStore: the watch index holds exactly the rows that somebody must look at."""

import pytest
from msgspec import structs

from reelworks.domain import task as tasks
from reelworks.domain import upload as uploads
from reelworks.domain.instants import Millis
from reelworks.ports import Due, Guard
from tests.contract.samples import T0, WATCH, claimed, processing, running_ingest, upload
from tests.contract.worlds import AnyPorts

LATER = T0 + 10**9


def due(ports: AnyPorts, before: Millis = LATER, limit: int = 100) -> list[Due]:
    """Over all shards and pages."""
    found: list[Due] = []
    for shard in range(ports.store.shards):
        page = ports.store.due(shard, before, limit)
        found += page.rows
        while page.cursor is not None:
            page = ports.store.due(shard, before, limit, page.cursor)
            found += page.rows
    return found


def test_a_new_upload_is_watched(ports: AnyPorts) -> None:
    row = upload()
    ports.store.create(row)
    assert due(ports) == [Due(upload_id=row.upload_id, task=None, due_at=row.due_at or 0)]


@pytest.mark.parametrize(("before", "expected"), [(0, 0), (1, 1)])
def test_only_what_is_due_before_the_instant(ports: AnyPorts, before: int, expected: int) -> None:
    row = upload()
    ports.store.create(row)
    assert len(due(ports, (row.due_at or 0) + before)) == expected


def test_a_leased_task_is_watched_until_it_ends(ports: AnyPorts) -> None:
    row, planned = processing(ports.store, "a")
    task = claimed(planned["a"])
    ports.store.write_task(planned["a"], task, Guard.UNCHANGED)
    assert Due(upload_id=row.upload_id, task="a", due_at=task.due_at or 0) in due(ports)
    ports.store.close_task(task, tasks.skipped(task, T0 + 5), Guard.OWNED)
    assert [found.task for found in due(ports)] == [None]


def test_nothing_watches_a_finished_upload_whose_event_is_out(ports: AnyPorts) -> None:
    row, _ = processing(ports.store)
    ended = uploads.completed(row, T0 + 9, WATCH)
    ports.store.finish_upload(row, ended)
    assert due(ports) == [Due(upload_id=row.upload_id, task=None, due_at=ended.due_at or 0)]
    ports.store.write_upload(ended, uploads.notified(ended, T0, structs.replace(WATCH, sweep_after_ms=0)))
    assert due(ports) == []


def test_all_rows_of_an_upload_are_in_one_shard(ports: AnyPorts) -> None:
    row = upload()
    ports.store.create(row)
    running_ingest(ports.store, row)
    sizes = [len(ports.store.due(shard, LATER, 100).rows) for shard in range(ports.store.shards)]
    assert sorted(sizes)[-1] == 2
    assert sum(sizes) == 2


def test_pages_follow_each_other_the_oldest_first(ports: AnyPorts) -> None:
    rows = [upload(due_at=T0 + n) for n in (5, 3, 9, 1, 7, 2, 8, 4, 6, 0)]
    for row in rows:
        ports.store.create(row)
    found = due(ports, limit=1)
    assert sorted(f.upload_id for f in found) == sorted(row.upload_id for row in rows)
    for shard in range(ports.store.shards):
        instants = [f.due_at for f in ports.store.due(shard, LATER, 100).rows]
        assert instants == sorted(instants)


def test_uploads_spread_over_the_shards(ports: AnyPorts) -> None:
    for _ in range(30):
        ports.store.create(upload())
    used = [bool(ports.store.due(shard, LATER, 100).rows) for shard in range(ports.store.shards)]
    assert sum(used) > 1


def test_idempotency_keys_are_not_watched(ports: AnyPorts) -> None:
    from reelworks.ports import IdempotencyKey

    key = IdempotencyKey(user_id="ann", key="k", fingerprint="f", expires_at=LATER)
    ports.store.create(upload(due_at=None), key)
    assert due(ports) == []


def test_a_row_can_be_taken_out_of_the_index_unless_it_has_moved(ports: AnyPorts) -> None:
    row = upload()
    ports.store.create(row)
    (found,) = due(ports)
    ports.store.unwatch(Due(upload_id=row.upload_id, task=None, due_at=found.due_at + 1))
    assert due(ports) == [found]
    ports.store.unwatch(found)
    assert due(ports) == []
