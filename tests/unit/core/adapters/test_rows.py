"""Structs to rows and back: exact, sparse, and patient with rows of other versions."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from reelworks.adapters import rows
from reelworks.domain.failure import Failure, FailureKind
from reelworks.domain.outcome import Outputs
from reelworks.domain.plan import MediaSummary, ObjectFacts, Plan, TaskKind, TaskSpec
from reelworks.domain.task import Task, TaskStatus
from reelworks.domain.upload import Upload, UploadStatus
from reelworks.errors import Unreachable

SHARDS = 8
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
instants = st.integers(0, 10**14)
failures = st.builds(Failure, kind=st.sampled_from(FailureKind), code=texts, message=texts)
specs = st.builds(
    TaskSpec, name=texts, kind=st.sampled_from(TaskKind), lane=texts, depends_on=st.lists(texts).map(tuple)
)
plans = st.builds(Plan, profile=texts, tasks=st.lists(specs, max_size=3).map(tuple))
facts = st.builds(ObjectFacts, size_bytes=instants, etag=texts, version_id=st.none() | texts)
media = st.builds(
    MediaSummary,
    format=texts,
    has_audio=st.booleans(),
    has_video=st.booleans(),
    duration_ms=st.none() | instants,
)
outputs = st.builds(
    Outputs, prefix=texts, files=st.dictionaries(texts, texts, max_size=3), excerpt=st.none() | texts
)
ids = st.text("0123456789abcdef", min_size=1, max_size=32)
uploads = st.builds(
    Upload,
    upload_id=ids,
    user_id=texts,
    project_id=st.none() | texts,
    file_name=texts,
    object_key=texts,
    content_type=texts,
    size_bytes=instants,
    status=st.sampled_from(UploadStatus),
    created_at=instants,
    updated_at=instants,
    expires_at=instants,
    due_at=st.none() | instants,
    object=st.none() | facts,
    media=st.none() | media,
    plan=st.none() | plans,
    open_tasks=st.frozensets(st.text("abc-1", min_size=1, max_size=9), max_size=4),
    failure=st.none() | failures,
)
tasks = st.builds(
    Task,
    upload_id=ids,
    name=texts,
    kind=st.sampled_from(TaskKind),
    lane=texts,
    depends_on=st.lists(texts, max_size=3).map(tuple),
    status=st.sampled_from(TaskStatus),
    token=st.none() | texts,
    due_at=st.none() | instants,
    progress=st.just(0.0) | st.floats(rows.SMALLEST, 1),
    outputs=st.none() | outputs,
    failure=st.none() | failures,
    created_at=instants,
    updated_at=instants,
)


def stored(row: dict[str, Any]) -> dict[str, Any]:
    """Through DynamoDB's notation and back."""
    return rows.unmarshal(rows.marshal(row))


@given(uploads)
def test_an_upload_comes_back_as_it_was(upload: Upload) -> None:
    assert rows.to_upload(stored(rows.upload_row(upload, SHARDS))) == upload


@given(tasks)
def test_a_task_comes_back_as_it_was(task: Task) -> None:
    assert rows.to_task(stored(rows.task_row(task, SHARDS))) == task


@given(tasks)
def test_no_attribute_is_null_and_only_watched_rows_are_in_the_index(task: Task) -> None:
    row = rows.task_row(task, SHARDS)
    assert None not in row.values()
    assert ("watch_shard" in row) is ("due_at" in row) is (task.due_at is not None)


@given(uploads)
def test_an_empty_set_is_no_attribute(upload: Upload) -> None:
    row = rows.upload_row(upload, SHARDS)
    assert row.get("open_tasks", set()) == upload.open_tasks
    assert ("open_tasks" in row) is bool(upload.open_tasks)


@pytest.fixture
def task() -> Task:
    return Task(
        upload_id="a" * 32,
        name="transcribe",
        kind=TaskKind.TRANSCRIBE,
        lane="speech",
        status=TaskStatus.READY,
        progress=0.1,
        due_at=5,
        created_at=1,
        updated_at=2,
    )


def test_keys_and_index_attributes(task: Task) -> None:
    row = rows.task_row(task, SHARDS)
    assert (row["pk"], row["sk"]) == ("UPLOAD#" + "a" * 32, "TASK#0#transcribe")
    assert row["watch_shard"] == rows.shard_of(task.upload_id, SHARDS)
    assert row["progress"] == Decimal("0.1")


def test_a_number_that_dynamodb_finds_too_small_is_zero(task: Task) -> None:
    row = rows.task_row(structs.replace(task, progress=1e-200), SHARDS)
    assert rows.to_task(stored(row)).progress == 0.0


def test_the_shard_of_an_upload_is_the_same_in_every_process() -> None:
    assert rows.shard_of("a" * 32, 8) == "watch#7"
    assert rows.shard_of("a" * 32, 1) == "watch#0"


def test_a_newer_version_may_add_attributes(task: Task) -> None:
    row = rows.task_row(task, SHARDS) | {"colour": "red", "nested": {"a": [1, None]}}
    assert rows.to_task(stored(row)) == task


def test_a_row_that_this_version_cannot_read_is_left_to_others(task: Task) -> None:
    with pytest.raises(Unreachable) as caught:
        rows.to_task(rows.task_row(task, SHARDS) | {"kind": "hologram"})
    assert caught.value.code == "unreadable"
    assert "TASK#0#transcribe" in caught.value.message


def test_a_partition_without_its_upload_is_no_snapshot(task: Task) -> None:
    assert rows.to_snapshot([rows.task_row(task, SHARDS)]) is None


def test_rows_of_other_kinds_in_a_partition_are_ignored(task: Task) -> None:
    upload = Upload(
        upload_id=task.upload_id,
        user_id="ann",
        file_name="f",
        object_key="k",
        content_type="video/mp4",
        size_bytes=1,
        created_at=1,
        updated_at=1,
        expires_at=2,
    )
    found = rows.to_snapshot(
        [rows.upload_row(upload, SHARDS), rows.task_row(task, SHARDS), {"pk": "x", "sk": "NOTE#1"}]
    )
    assert found is not None
    assert found.upload == upload
    assert found.tasks == {"transcribe": task}
    assert structs.asdict(found.upload)["open_tasks"] == frozenset()
