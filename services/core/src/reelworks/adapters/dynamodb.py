"""UploadStore on one DynamoDB table.

A refused write is not yet a conflict: its answer may have been lost the first time, by the network or by a retry of the
SDK. So the row is read, and if it is what we meant to store (the same status, token and due time), it is ours.
"""

import contextlib
from collections.abc import Iterable, Mapping, Sequence

from reelworks.adapters import expressions, rows
from reelworks.adapters.expressions import Operation
from reelworks.adapters.rows import Row
from reelworks.adapters.table import Refused, Table
from reelworks.domain.instants import SECOND_MS, Millis
from reelworks.domain.ranking import Weights
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.task import Task, TaskStatus
from reelworks.domain.upload import Upload
from reelworks.errors import Conflict, LeaseLost
from reelworks.ports import Clock, Created, Due, DuePage, Guard, IdempotencyKey

WATCH_INDEX = "watch"
OWNER_INDEX = "by_owner"


class DynamoUploadStore:
    """Implements ports.UploadStore."""

    def __init__(self, table: Table, *, shards: int, clock: Clock) -> None:
        self._table = table
        self._shards = shards
        self._clock = clock

    @property
    def shards(self) -> int:
        """How many shards the watch index has."""
        return self._shards

    def create(self, upload: Upload, idempotency: IdempotencyKey | None = None) -> Created:
        """Put a new upload; with a key only if the key is free, else give what the key made."""
        operations = [expressions.put_new(rows.upload_row(upload, self._shards))]
        if idempotency is not None:
            row = _idempotency_row(upload, idempotency)
            operations.append(expressions.put_expirable(row, self._clock.now()))
        try:
            self._table.write(operations)
        except Refused:
            return self._created_before(upload, idempotency)
        fingerprint = idempotency.fingerprint if idempotency else None
        return Created(upload=upload, replayed=False, fingerprint=fingerprint)

    def _created_before(self, upload: Upload, idempotency: IdempotencyKey | None) -> Created:
        if idempotency is None:
            if self._upload(upload.upload_id) == upload:  # our own, its answer lost
                return Created(upload=upload, replayed=False)
            raise Conflict(f"The upload id {upload.upload_id} is taken.")
        promise = self._table.get(rows.idempotency_key(idempotency.user_id, idempotency.key))
        if promise is None or promise["expires_at"] <= self._clock.now():
            raise Conflict(f"The upload id {upload.upload_id} is taken.")
        first = self._upload(promise["upload_id"])
        if first is None:
            raise Conflict("The upload that this Idempotency-Key made is gone; use another key.")
        return Created(upload=first, replayed=True, fingerprint=promise["fingerprint"])

    def load(self, upload_id: str) -> Snapshot | None:
        """The upload and its tasks."""
        return rows.to_snapshot(self._table.partition(rows.upload_key(upload_id)["pk"]))

    def write_upload(self, before: Upload, after: Upload) -> None:
        """Store the difference, never touching the open tasks."""
        self._change_upload(before, after, finishing=False)

    def finish_upload(self, before: Upload, after: Upload) -> None:
        """The same, only if no task is open."""
        self._change_upload(before, after, finishing=True)

    def _change_upload(self, before: Upload, after: Upload, *, finishing: bool) -> None:
        old, new = rows.upload_row(before, self._shards), rows.upload_row(after, self._shards)
        try:
            self._table.write([expressions.change_upload(old, new, finishing=finishing)])
        except Refused:
            if not _same(self._table.get(new), new, expressions.UPLOAD_GUARD):
                raise Conflict(f"Upload {after.upload_id} has moved since it was read.") from None

    def write_task(self, before: Task | None, after: Task, guard: Guard) -> None:
        """Store the difference under the guard."""
        self._write_task([self._task_change(before, after, guard)], after, guard)

    def close_task(self, before: Task, after: Task, guard: Guard) -> None:
        """`write_task`, and one name less in the upload's open tasks."""
        row = rows.task_row(after, self._shards)
        closing = expressions.close_in_upload(rows.upload_key(after.upload_id), row)
        self._write_task([self._task_change(before, after, guard), closing], after, guard)

    def _task_change(self, before: Task | None, after: Task, guard: Guard) -> Operation:
        new = rows.task_row(after, self._shards)
        if before is None:
            return expressions.put_new(new)
        old = rows.task_row(before, self._shards)
        change = expressions.change_task_owned if guard is Guard.OWNED else expressions.change_task_unchanged
        return change(old, new)

    def _write_task(self, operations: list[Operation], after: Task, guard: Guard) -> None:
        try:
            self._table.write(operations)
        except Refused:
            if not self._holds(after):
                raise _refusal(after, guard) from None

    def _holds(self, task: Task) -> bool:
        row = rows.task_row(task, self._shards)
        return _same(self._table.get(row), row, expressions.TASK_GUARD)

    def accept_plan(
        self, before: Upload, after: Upload, ingest: tuple[Task, Task], planned: Sequence[Task]
    ) -> None:
        """The upload with its plan, the ingest, and every planned task, all or nothing."""
        old, new = rows.upload_row(before, self._shards), rows.upload_row(after, self._shards)
        operations = [
            expressions.open_upload(old, new),
            self._task_change(*ingest, Guard.OWNED),
            *(expressions.put_new(rows.task_row(task, self._shards)) for task in planned),
        ]
        try:
            self._table.write(operations)
        except Refused:
            self._accepted_before(*ingest)

    def _accepted_before(self, running: Task, done: Task) -> None:
        """The ingest's row tells: DONE with our token only ever came with the rest of the transaction."""
        stored = self._table.get(rows.task_row(done, self._shards))
        if _same(stored, rows.task_row(done, self._shards), expressions.TASK_GUARD):
            return
        if stored and stored["status"] == TaskStatus.RUNNING and stored.get("token") == running.token:
            raise Conflict(f"Upload {done.upload_id} has moved since it was read, or has a plan already.")
        raise _refusal(done, Guard.OWNED)

    def choose_poster(
        self, before: Upload, after: Upload, lesson: tuple[Weights | None, Weights] | None
    ) -> None:
        """The choice, and what the ranking learns of it, both or neither."""
        old, new = rows.upload_row(before, self._shards), rows.upload_row(after, self._shards)
        operations = [expressions.change_poster(old, new)]
        if lesson is not None:
            operations.append(_taught(*lesson, after.updated_at))
        try:
            self._table.write(operations)
        except Refused:
            if not _same(self._table.get(new), new, (*expressions.POSTER_GUARD, "updated_at")):
                raise Conflict("Another poster was chosen meanwhile, here or elsewhere.") from None

    def ranking(self) -> Weights | None:
        """What choices of posters have taught so far."""
        row = self._table.get(rows.ranking_row(Weights(), 0))
        return rows.to_weights(row) if row else None

    def due(
        self, shard: int, before: Millis, limit: int, cursor: Mapping[str, object] | None = None
    ) -> DuePage:
        """One page of a shard of the watch index, the oldest first."""
        request = {
            "IndexName": WATCH_INDEX,
            "KeyConditionExpression": "watch_shard = :shard AND due_at < :before",
            "ExpressionAttributeValues": rows.marshal({":shard": f"watch#{shard}", ":before": before}),
            "Limit": limit,
        }
        page = self._table.query(request | ({"ExclusiveStartKey": cursor} if cursor else {}))
        return DuePage(rows=tuple(_due(row) for row in page.rows), cursor=page.cursor)

    def unwatch(self, due: Due) -> None:
        """Nobody needs to look at this row any more."""
        key = rows.upload_key(due.upload_id)
        if due.task is not None:
            key = rows.task_key(due.upload_id, due.generation, due.task)
        with contextlib.suppress(Refused):
            self._table.write([expressions.unwatch(key, due.due_at)])

    def reopen_upload(self, before: Upload, after: Upload) -> None:
        """The difference, the open tasks included."""
        old, new = rows.upload_row(before, self._shards), rows.upload_row(after, self._shards)
        try:
            self._table.write([expressions.open_upload(old, new)])
        except Refused:
            if not _same(self._table.get(new), new, (*expressions.UPLOAD_GUARD, "profile", "options")):
                raise Conflict(f"Upload {after.upload_id} has moved since it was read.") from None

    def forget(self, tasks: Iterable[Task]) -> None:
        """Delete the rows, one by one."""
        for task in tasks:
            self._table.write([expressions.delete(rows.task_row(task, self._shards))])

    def ping(self) -> None:
        """Read a row that is not there: what a key policy allows is what the work needs."""
        self._table.get({"pk": "PING", "sk": rows.META})

    def _upload(self, upload_id: str) -> Upload | None:
        row = self._table.get(rows.upload_key(upload_id))
        return rows.to_upload(row) if row else None


def _same(stored: Row | None, wanted: Row, attributes: Sequence[str]) -> bool:
    return stored is not None and all(stored.get(name) == wanted.get(name) for name in attributes)


def _refusal(task: Task, guard: Guard) -> Conflict | LeaseLost:
    if guard is Guard.OWNED:
        return LeaseLost(f"Task {task.name} of upload {task.upload_id} belongs to another attempt by now.")
    return Conflict(f"Task {task.name} of upload {task.upload_id} has moved since it was read.")


def _idempotency_row(upload: Upload, key: IdempotencyKey) -> Row:
    """`ttl`, in seconds, is for DynamoDB to clear away some day; `expires_at` decides."""
    return rows.idempotency_key(key.user_id, key.key) | {
        "upload_id": upload.upload_id,
        "fingerprint": key.fingerprint,
        "expires_at": key.expires_at,
        "ttl": key.expires_at // SECOND_MS + 1,
    }


def _taught(before: Weights | None, after: Weights, now: Millis) -> Operation:
    new = rows.ranking_row(after, now)
    if before is None:
        return expressions.put_new(new)
    return expressions.change_ranking(rows.ranking_row(before, 0), new)


def _due(row: Row) -> Due:
    generation, task = rows.task_of(row["sk"]) or (0, None)
    return Due(
        upload_id=row["pk"].removeprefix("UPLOAD#"),
        task=task,
        generation=generation,
        due_at=int(row["due_at"]),
    )
