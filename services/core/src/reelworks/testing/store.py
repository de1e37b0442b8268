"""UploadStore in memory, with the guards of the real one."""

import threading
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from msgspec import structs

from reelworks.domain import snapshot as snapshots
from reelworks.domain.instants import Millis
from reelworks.domain.ranking import Weights
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.task import Task, TaskStatus
from reelworks.domain.upload import Upload
from reelworks.errors import Conflict, LeaseLost
from reelworks.ports import Clock, Created, Due, DuePage, Guard, IdempotencyKey

_Row = TypeVar("_Row", Upload, Task)


class InMemoryUploadStore:
    """Implements ports.UploadStore. `uploads`, `tasks` and `weights` are the rows, for tests to look at."""

    def __init__(self, clock: Clock, shards: int = 8) -> None:
        self.uploads: dict[str, Upload] = {}
        self.tasks: dict[tuple[str, int, str], Task] = {}
        self.weights: Weights | None = None
        self._promises: dict[tuple[str, str], tuple[IdempotencyKey, str]] = {}
        self._clock = clock
        self._shards = shards
        self._lock = threading.RLock()

    @property
    def shards(self) -> int:
        """How many shards the watch index has."""
        return self._shards

    def create(self, upload: Upload, idempotency: IdempotencyKey | None = None) -> Created:
        """Put a new upload; with a key only if the key is free."""
        with self._lock:
            if idempotency is not None and (first := self._promised(idempotency)):
                return first
            if upload.upload_id in self.uploads and (
                idempotency is not None or self.uploads[upload.upload_id] != upload
            ):
                raise Conflict(f"The upload id {upload.upload_id} is taken.")
            self.uploads[upload.upload_id] = upload
            if idempotency is not None:
                self._promises[idempotency.user_id, idempotency.key] = (idempotency, upload.upload_id)
        return Created(
            upload=upload, replayed=False, fingerprint=idempotency.fingerprint if idempotency else None
        )

    def _promised(self, wanted: IdempotencyKey) -> Created | None:
        promise, upload_id = self._promises.get((wanted.user_id, wanted.key), (None, ""))
        if promise is None or promise.expires_at <= self._clock.now():
            return None
        return Created(upload=self.uploads[upload_id], replayed=True, fingerprint=promise.fingerprint)

    def load(self, upload_id: str) -> Snapshot | None:
        """The upload and its tasks."""
        with self._lock:
            if upload_id not in self.uploads:
                return None
            tasks = [task for (owner, *_), task in self.tasks.items() if owner == upload_id]
            return snapshots.snapshot(self.uploads[upload_id], tasks)

    def write_upload(self, before: Upload, after: Upload) -> None:
        """Store the difference, never touching the open tasks."""
        with self._lock:
            self._change_upload(before, after, finishing=False)

    def finish_upload(self, before: Upload, after: Upload) -> None:
        """The same, only if no task is open."""
        with self._lock:
            self._change_upload(before, after, finishing=True)

    def _change_upload(self, before: Upload, after: Upload, *, finishing: bool) -> None:
        stored = self.uploads.get(after.upload_id)
        free = stored is not None and not (finishing and stored.open_tasks)
        if stored is not None and free and _as_read(stored, before):
            self.uploads[after.upload_id] = _merged(stored, before, after, keep="open_tasks")
        elif stored is None or not _as_read(stored, after):
            raise Conflict(f"Upload {after.upload_id} has moved since it was read.")

    def write_task(self, before: Task | None, after: Task, guard: Guard) -> None:
        """Store the difference under the guard."""
        with self._lock:
            self._change_task(before, after, guard)

    def close_task(self, before: Task, after: Task, guard: Guard) -> None:
        """The same, and one name less among the open tasks."""
        with self._lock:
            upload = self.uploads.get(after.upload_id)
            if upload is None or upload.generation != after.generation:
                raise _refusal(after, guard)
            if self._change_task(before, after, guard):
                left = upload.open_tasks - {after.name}
                self.uploads[upload.upload_id] = structs.replace(
                    upload, open_tasks=left, updated_at=after.updated_at
                )

    def _change_task(self, before: Task | None, after: Task, guard: Guard) -> bool:
        """Whether anything was written; not if it was there already."""
        key = _key(after)
        stored = self.tasks.get(key)
        if _allowed(stored, before, guard) and not _older(stored, after, guard):
            self.tasks[key] = _merged(stored, before, after) if stored and before else after
            return True
        if stored is not None and _as_claimed(stored, after):
            return False
        raise _refusal(after, guard)

    def accept_plan(
        self, before: Upload, after: Upload, ingest: tuple[Task, Task], planned: Sequence[Task]
    ) -> None:
        """The upload with its plan, the ingest, and every planned task, all or nothing."""
        running, done = ingest
        with self._lock:
            stored = self.tasks.get(_key(done))
            if not _allowed(stored, running, Guard.OWNED):
                if stored is not None and _as_claimed(stored, done):
                    return
                raise _refusal(done, Guard.OWNED)
            upload = self.uploads.get(after.upload_id)
            keys = [_key(task) for task in planned]
            if upload is None or not _as_read(upload, before) or any(key in self.tasks for key in keys):
                raise Conflict(
                    f"Upload {after.upload_id} has moved since it was read, or has a plan already."
                )
            self.uploads[after.upload_id] = _merged(upload, before, after)
            self._change_task(running, done, Guard.OWNED)
            self.tasks.update(zip(keys, planned, strict=True))

    def reopen_upload(self, before: Upload, after: Upload) -> None:
        """The difference, the open tasks included."""
        with self._lock:
            stored = self.uploads.get(after.upload_id)
            if stored is not None and _as_read(stored, before):
                self.uploads[after.upload_id] = _merged(stored, before, after)
            elif stored is None or not _as_read(stored, after) or not _as_asked(stored, after):
                raise Conflict(f"Upload {after.upload_id} has moved since it was read.")

    def forget(self, tasks: Iterable[Task]) -> None:
        """Delete the rows."""
        with self._lock:
            for task in tasks:
                self.tasks.pop(_key(task), None)

    def choose_poster(
        self, before: Upload, after: Upload, lesson: tuple[Weights | None, Weights] | None
    ) -> None:
        """The choice, and what the ranking learns of it, both or neither."""
        with self._lock:
            stored = self.uploads.get(after.upload_id)
            free = lesson is None or lesson[0] == self.weights
            if stored is not None and free and _poster(stored) == _poster(before):
                of, choice = _poster(after)
                self.uploads[after.upload_id] = structs.replace(
                    stored, poster_of=of, poster_choice=choice, updated_at=after.updated_at
                )
                self.weights = lesson[1] if lesson else self.weights
            elif stored is None or (*_poster(stored), stored.updated_at) != (
                *_poster(after),
                after.updated_at,
            ):
                raise Conflict("Another poster was chosen meanwhile, here or elsewhere.")

    def ranking(self) -> Weights | None:
        """What choices of posters have taught so far."""
        return self.weights

    def due(
        self, shard: int, before: Millis, limit: int, cursor: Mapping[str, object] | None = None
    ) -> DuePage:
        """One page of a shard, the oldest first."""
        with self._lock:
            found = sorted(self._watched(shard, before), key=_position)
        after = cursor["position"] if cursor else None
        rest = [due for due in found if after is None or _position(due) > after]  # type: ignore[operator]
        page = rest[:limit]
        more = {"position": _position(page[-1])} if len(rest) > limit else None
        return DuePage(rows=tuple(page), cursor=more)

    def _watched(self, shard: int, before: Millis) -> list[Due]:
        rows: list[Upload | Task] = [*self.uploads.values(), *self.tasks.values()]
        return [
            Due(
                upload_id=row.upload_id,
                task=row.name if isinstance(row, Task) else None,
                generation=row.generation if isinstance(row, Task) else 0,
                due_at=row.due_at,
            )
            for row in rows
            if row.due_at is not None and row.due_at < before
            if zlib.crc32(row.upload_id.encode()) % self._shards == shard
        ]

    def unwatch(self, due: Due) -> None:
        """Nobody needs to look at this row any more."""
        with self._lock:
            if due.task is None:
                upload = self.uploads.get(due.upload_id)
                if upload is not None and upload.due_at == due.due_at:
                    self.uploads[due.upload_id] = structs.replace(upload, due_at=None)
                return
            task = self.tasks.get((due.upload_id, due.generation, due.task))
            if task is not None and task.due_at == due.due_at:
                self.tasks[_key(task)] = structs.replace(task, due_at=None)

    def ping(self) -> None:
        """Always there."""


def _key(task: Task) -> tuple[str, int, str]:
    return task.upload_id, task.generation, task.name


def _poster(upload: Upload) -> tuple[str | None, int | None]:
    return upload.poster_of, upload.poster_choice


def _position(due: Due) -> tuple[Millis, str, str]:
    return due.due_at, due.upload_id, due.task or ""


def _as_read(stored: Upload, row: Upload) -> bool:
    return (stored.status, stored.due_at, stored.notify_due, stored.generation) == (
        row.status,
        row.due_at,
        row.notify_due,
        row.generation,
    )


def _as_asked(stored: Upload, row: Upload) -> bool:
    return (stored.profile, stored.options) == (row.profile, row.options)


def _as_claimed(stored: Task, row: Task) -> bool:
    return (stored.status, stored.token, stored.due_at) == (row.status, row.token, row.due_at)


def _allowed(stored: Task | None, before: Task | None, guard: Guard) -> bool:
    if stored is None or before is None:
        return stored is None and before is None
    if guard is Guard.OWNED:
        return stored.status is TaskStatus.RUNNING and stored.token == before.token
    return _as_claimed(stored, before)


def _older(stored: Task | None, after: Task, guard: Guard) -> bool:
    """Whether this is a renewal that a later one has overtaken on its way."""
    if stored is None or guard is not Guard.OWNED or after.status is not TaskStatus.RUNNING:
        return False
    return (stored.lease_until or 0) > (after.lease_until or 0)


def _merged(stored: _Row, before: _Row, after: _Row, keep: str = "") -> _Row:
    """The stored row with what differs between the two."""
    changed = {
        name: value
        for name in after.__struct_fields__
        if name != keep and (value := getattr(after, name)) != getattr(before, name)
    }
    return structs.replace(stored, **changed | {"updated_at": after.updated_at})


def _refusal(task: Task, guard: Guard) -> Conflict | LeaseLost:
    if guard is Guard.OWNED:
        return LeaseLost(f"Task {task.name} of upload {task.upload_id} belongs to another attempt by now.")
    return Conflict(f"Task {task.name} of upload {task.upload_id} has moved since it was read.")
