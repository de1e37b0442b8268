"""UploadStore: uploads, their idempotency keys, and the writes that nobody else may have preceded."""

import pytest
from msgspec import structs

from reelworks.domain import upload as uploads
from reelworks.domain.failure import MAX_MESSAGE_CHARS, Failure, FailureKind
from reelworks.domain.upload import UploadStatus
from reelworks.errors import Conflict
from reelworks.ports import IdempotencyKey
from tests.contract.samples import T0, WATCH, processing, running_ingest, stored_upload, upload
from tests.contract.worlds import AnyPorts, World

HOUR_MS = 3_600_000


def promise(ports: AnyPorts, fingerprint: str = "f1", lives_ms: int = HOUR_MS) -> IdempotencyKey:
    return IdempotencyKey(
        user_id="ann", key="k#1 ü", fingerprint=fingerprint, expires_at=ports.clock.now() + lives_ms
    )


def test_a_created_upload_is_loaded_as_it_was(ports: AnyPorts) -> None:
    row = upload(project_id="p", checksum_sha256="abc=", traceparent="00-1-2-01")
    assert ports.store.create(row).replayed is False
    snapshot = ports.store.load(row.upload_id)
    assert snapshot is not None
    assert snapshot.upload == row
    assert snapshot.tasks == {}


def test_an_unknown_upload_is_none(ports: AnyPorts) -> None:
    assert ports.store.load("0" * 32) is None


def test_creating_the_same_row_twice_is_one_creation(ports: AnyPorts) -> None:
    row = upload()
    ports.store.create(row)
    assert ports.store.create(row).upload == row


def test_a_taken_id_is_a_conflict(ports: AnyPorts) -> None:
    row = upload()
    ports.store.create(row)
    with pytest.raises(Conflict):
        ports.store.create(structs.replace(row, user_id="bob"))
    assert stored_upload(ports.store, row) == row


def test_the_same_key_gives_the_first_upload(ports: AnyPorts) -> None:
    first, second = upload(), upload()
    made = ports.store.create(first, promise(ports))
    again = ports.store.create(second, promise(ports))
    assert (made.replayed, made.fingerprint) == (False, "f1")
    assert (again.replayed, again.fingerprint, again.upload) == (True, "f1", first)
    assert ports.store.load(second.upload_id) is None


def test_the_same_key_tells_the_fingerprint_of_the_request_that_came_first(ports: AnyPorts) -> None:
    ports.store.create(upload(), promise(ports, "f1"))
    assert ports.store.create(upload(), promise(ports, "f2")).fingerprint == "f1"


def test_a_lost_answer_of_the_first_request_ends_as_a_replay_of_itself(ports: AnyPorts) -> None:
    row, key = upload(), promise(ports)
    ports.store.create(row, key)
    again = ports.store.create(row, key)
    assert again.upload == row


def test_an_expired_key_is_free_again(ports: AnyPorts) -> None:
    ports.store.create(upload(), promise(ports, "f1", lives_ms=-1))
    second = upload()
    made = ports.store.create(second, promise(ports, "f2"))
    assert (made.replayed, made.upload) == (False, second)
    assert ports.store.create(upload(), promise(ports)).upload == second


def test_keys_belong_to_their_user(ports: AnyPorts) -> None:
    ports.store.create(upload(), promise(ports))
    other = structs.replace(promise(ports), user_id="bob")
    assert ports.store.create(upload(user_id="bob"), other).replayed is False


def test_a_free_key_does_not_make_a_taken_id_free(ports: AnyPorts) -> None:
    row = upload()
    ports.store.create(row)
    with pytest.raises(Conflict):
        ports.store.create(row, promise(ports))
    assert ports.store.create(upload(), promise(ports)).replayed is False


def test_the_key_still_gives_the_upload_after_it_moved_on(ports: AnyPorts) -> None:
    row = upload()
    ports.store.create(row, promise(ports))
    ended = uploads.cancelled(row, T0 + 1, WATCH)
    ports.store.write_upload(row, ended)
    assert ports.store.create(upload(), promise(ports)).upload == ended


def test_an_upload_moves_if_nobody_moved_it(ports: AnyPorts) -> None:
    row = upload()
    ports.store.create(row)
    after = uploads.watched_again(row, T0 + 1_000, WATCH)
    ports.store.write_upload(row, after)
    assert stored_upload(ports.store, row) == after


def test_a_write_whose_answer_was_lost_is_recognised(ports: AnyPorts) -> None:
    row = upload()
    ports.store.create(row)
    after = uploads.cancelled(row, T0 + 1, WATCH)
    ports.store.write_upload(row, after)
    ports.store.write_upload(row, after)
    assert stored_upload(ports.store, row) == after


@pytest.mark.parametrize(
    "meanwhile",
    [
        pytest.param({"status": UploadStatus.CANCELLED}, id="another status"),
        pytest.param({"due_at": T0 + 7}, id="another due time"),
        pytest.param({"due_at": None}, id="no due time"),
    ],
)
def test_a_moved_upload_is_a_conflict(ports: AnyPorts, meanwhile: dict[str, object]) -> None:
    row = upload()
    ports.store.create(row)
    moved = structs.replace(row, **meanwhile)
    ports.store.write_upload(row, moved)
    with pytest.raises(Conflict):
        ports.store.write_upload(row, uploads.expired(row, T0 + 1, WATCH))
    assert stored_upload(ports.store, row) == moved


def test_two_senders_of_the_outbox_do_not_both_finish_it_unnoticed(ports: AnyPorts) -> None:
    row = upload()
    ports.store.create(row)
    ended = uploads.cancelled(row, T0 + 1, WATCH)
    ports.store.write_upload(row, ended)
    ports.store.write_upload(ended, uploads.notified(ended, T0, WATCH))
    with pytest.raises(Conflict):
        ports.store.write_upload(ended, uploads.watched_again(ended, T0 + 9, WATCH))


def test_what_vanishes_from_the_struct_vanishes_from_the_row(ports: AnyPorts) -> None:
    row = upload(project_id="p")
    ports.store.create(row)
    after = structs.replace(row, project_id=None, due_at=None, updated_at=T0 + 1)
    ports.store.write_upload(row, after)
    assert stored_upload(ports.store, row) == after


def test_a_write_never_touches_the_open_tasks(ports: AnyPorts) -> None:
    row, _ = processing(ports.store, "a", "b")
    after = uploads.watched_again(row, T0 + 9, WATCH)
    ports.store.write_upload(
        structs.replace(row, open_tasks=frozenset({"stale"})), structs.replace(after, open_tasks=frozenset())
    )
    assert stored_upload(ports.store, row) == structs.replace(after, open_tasks=frozenset({"a", "b"}))


def test_a_write_leaves_alone_what_somebody_else_changed_beside_it(ports: AnyPorts) -> None:
    row = upload()
    ports.store.create(row)
    ports.store.write_upload(row, structs.replace(row, priority="high"))
    ports.store.write_upload(row, structs.replace(row, checks=3))
    assert stored_upload(ports.store, row) == structs.replace(row, priority="high", checks=3)


def test_an_upload_with_open_tasks_is_not_finished(ports: AnyPorts) -> None:
    row, _ = processing(ports.store, "a")
    with pytest.raises(Conflict):
        ports.store.finish_upload(row, uploads.completed(row, T0 + 9, WATCH))
    assert stored_upload(ports.store, row).status is UploadStatus.PROCESSING


def test_an_upload_without_open_tasks_is_finished_once_however_often_it_is_tried(ports: AnyPorts) -> None:
    row, _ = processing(ports.store)
    after = uploads.completed(row, T0 + 9, WATCH)
    ports.store.finish_upload(row, after)
    ports.store.finish_upload(row, after)
    assert stored_upload(ports.store, row) == after
    with pytest.raises(Conflict):
        ports.store.finish_upload(row, uploads.cancelled(row, T0 + 10, WATCH))


def test_writing_to_an_upload_that_is_gone_is_a_conflict(ports: AnyPorts) -> None:
    row = upload()
    with pytest.raises(Conflict):
        ports.store.write_upload(row, uploads.cancelled(row, T0, WATCH))
    assert ports.store.load(row.upload_id) is None


def test_an_error_text_of_full_length_fits_and_comes_back(ports: AnyPorts) -> None:
    row = upload()
    ports.store.create(row)
    text = ("Ünïcode \U0001f3ac" * MAX_MESSAGE_CHARS)[:MAX_MESSAGE_CHARS]
    failure = Failure(kind=FailureKind.PERMANENT, code="no_media", message=text)
    ports.store.write_upload(row, uploads.failed(row, failure, T0 + 1, WATCH))
    assert stored_upload(ports.store, row).failure == failure


def test_the_tasks_of_other_uploads_are_not_loaded(ports: AnyPorts) -> None:
    one, two = upload(), upload()
    for row in (one, two):
        ports.store.create(row)
    running_ingest(ports.store, one)
    snapshot = ports.store.load(two.upload_id)
    assert snapshot is not None
    assert snapshot.tasks == {}


def test_a_table_that_is_there_answers_a_ping(world: World) -> None:
    world.ports.store.ping()
