"""Structs to table rows and back.

Attributes carry the names of the struct's fields. A None is no attribute, so that indexes stay sparse and conditions
can ask `attribute_not_exists`. Attributes that this version does not know are ignored here and left alone by writes.
"""

import zlib
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeVar

import msgspec
from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from msgspec import Struct

from reelworks.domain import snapshot as snapshots
from reelworks.domain.instants import Millis
from reelworks.domain.ranking import Weights
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.task import Task
from reelworks.domain.upload import Upload
from reelworks.errors import Unreachable

Row = dict[str, Any]
"""Attributes as Python values: str, int, Decimal, bool, None, list, dict, set of str."""
Item = dict[str, Any]
"""Attributes as DynamoDB's own: `{"S": …}`."""

META = "META"
SMALLEST = 1e-130
"""DynamoDB refuses numbers nearer to zero."""
TASK_PREFIX = "TASK#"

_serializer, _deserializer = TypeSerializer(), TypeDeserializer()
_Struct = TypeVar("_Struct", bound=Struct)


def upload_key(upload_id: str) -> Row:
    """Of the upload's own row."""
    return {"pk": f"UPLOAD#{upload_id}", "sk": META}


def task_key(upload_id: str, generation: int, name: str) -> Row:
    """Of a task's row."""
    return {"pk": f"UPLOAD#{upload_id}", "sk": f"{TASK_PREFIX}{generation}#{name}"}


def task_of(sk: str) -> tuple[int, str] | None:
    """The generation and name in the sort key of a task's row; None for any other row."""
    generation, mark, name = sk.removeprefix(TASK_PREFIX).partition("#")
    return (int(generation), name) if sk.startswith(TASK_PREFIX) and mark else None


def idempotency_key(user_id: str, key: str) -> Row:
    """Of a client's promise."""
    return {"pk": f"IDEMPOTENCY#{user_id}#{key}", "sk": META}


def ranking_row(weights: Weights, updated_at: Millis) -> Row:
    """The one row of the ranking of posters."""
    fields = {name: _exact(value) for name, value in msgspec.to_builtins(weights).items()}
    return {"pk": "MODEL#poster", "sk": META, "updated_at": updated_at} | fields


def shard_of(upload_id: str, shards: int) -> str:
    """The partition of the watch index; CRC-32, since Python's own hash differs from process to process."""
    return f"watch#{zlib.crc32(upload_id.encode()) % shards}"


def upload_row(upload: Upload, shards: int) -> Row:
    """Every attribute of an upload's row, those of its indexes included."""
    row = _attributes(upload, shards) | upload_key(upload.upload_id)
    row["owner"] = f"USER#{upload.user_id}"
    row.pop("open_tasks")
    if upload.open_tasks:
        row["open_tasks"] = set(upload.open_tasks)  # a string set: names are taken out without reading it
    return row


def task_row(task: Task, shards: int) -> Row:
    """Every attribute of a task's row, that of its index included."""
    return _attributes(task, shards) | task_key(task.upload_id, task.generation, task.name)


def _attributes(struct: Upload | Task, shards: int) -> Row:
    row = {name: _exact(value) for name, value in msgspec.to_builtins(struct).items() if value is not None}
    if struct.due_at is not None:
        row["watch_shard"] = shard_of(struct.upload_id, shards)
    return row


def _exact(value: object) -> object:
    """Floats as Decimals, at any depth: DynamoDB has no binary fractions."""
    match value:
        case float():
            return Decimal(str(value)) if abs(value) >= SMALLEST else Decimal(0)
        case dict():
            return {key: _exact(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_exact(inner) for inner in value]
        case _:
            return value


def to_upload(row: Row) -> Upload:
    """The upload of a META row."""
    return _struct(row, Upload)


def to_task(row: Row) -> Task:
    """The task of a TASK# row."""
    return _struct(row, Task)


def to_weights(row: Row) -> Weights:
    """The ranking of its row."""
    return _struct(row, Weights)


def to_snapshot(rows: list[Row]) -> Snapshot | None:
    """All rows of one partition; None without the upload's own."""
    uploads = [to_upload(row) for row in rows if row["sk"] == META]
    tasks = [to_task(row) for row in rows if row["sk"].startswith(TASK_PREFIX)]
    return snapshots.snapshot(uploads[0], tasks) if uploads else None


def _struct(row: Row, kind: type[_Struct]) -> _Struct:
    try:
        return msgspec.convert({name: _plain(value) for name, value in row.items()}, kind)
    except msgspec.ValidationError as error:
        # Most likely written by a newer version during a rollout: not for this process to judge.
        raise Unreachable(
            f"The row {row['pk']} / {row['sk']} is not readable: {error}", code="unreadable"
        ) from error


def _plain(value: object) -> object:
    match value:
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case dict():
            return {key: _plain(inner) for key, inner in value.items()}
        case list():
            return [_plain(inner) for inner in value]
        case _:
            return value


def marshal(row: Mapping[str, Any]) -> Item:
    """To DynamoDB's notation."""
    return {name: _serializer.serialize(value) for name, value in row.items()}


def unmarshal(item: Mapping[str, Any]) -> Row:
    """From DynamoDB's notation."""
    return {name: _deserializer.deserialize(value) for name, value in item.items()}
