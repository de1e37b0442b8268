"""An upload with all its tasks as one consistent read gives them, and what follows from it."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from reelworks.domain import task as tasks
from reelworks.domain import upload as uploads
from reelworks.domain.failure import Failure
from reelworks.domain.instants import MINUTE_MS, Millis
from reelworks.domain.plan import INGEST
from reelworks.domain.task import CLOSED, Task, TaskStatus
from reelworks.domain.upload import Upload, UploadStatus, WatchRules


class Snapshot(Struct, frozen=True, kw_only=True):
    """`tasks` by name, of the upload's own generation; the ingest is among them once it was claimed.

    `earlier`: those of the generation whose results are shown until there are new ones, by name. `spent`: those of all
    other generations.
    """

    upload: Upload
    tasks: dict[str, Task]
    earlier: dict[str, Task] = {}
    spent: tuple[Task, ...] = ()


def snapshot(upload: Upload, rows: Iterable[Task]) -> Snapshot:
    """Of an upload and all its rows, of whatever generation."""
    tasks: dict[str, Task] = {}
    earlier: dict[str, Task] = {}
    spent: list[Task] = []
    shown = upload.earlier.generation if upload.earlier else None
    for row in rows:
        if row.generation == upload.generation:
            tasks[row.name] = row
        elif row.generation == shown:
            earlier[row.name] = row
        else:
            spent.append(row)
    return Snapshot(upload=upload, tasks=tasks, earlier=earlier, spent=tuple(spent))


class Promote(Struct, frozen=True, kw_only=True):
    """Write `after` in place of `before`, then send its message."""

    before: Task
    after: Task


class Skip(Struct, frozen=True, kw_only=True):
    """Write `after` in place of `before` and take it out of the open tasks."""

    before: Task
    after: Task


class Finish(Struct, frozen=True, kw_only=True):
    """Write the terminal upload, then send its event."""

    before: Upload
    after: Upload


Move = Promote | Skip | Finish


def advance(snapshot: Snapshot, now: Millis, rules: WatchRules) -> list[Move]:
    """Every step the graph can take now. Doing any of them twice, or by two at once, changes nothing more."""
    if snapshot.upload.status is not UploadStatus.PROCESSING:
        return list(_rejected(snapshot, now, rules))
    moves: list[Move] = list(_unblocked(snapshot, now))
    if not moves and all_closed(snapshot):
        moves.append(Finish(before=snapshot.upload, after=_finished(snapshot, now, rules)))
    return moves


def all_closed(snapshot: Snapshot) -> bool:
    """Whether the upload's set is empty *and* every row agrees: a Query may catch a transaction half way."""
    return not snapshot.upload.open_tasks and all(task.status in CLOSED for task in snapshot.tasks.values())


def _unblocked(snapshot: Snapshot, now: Millis) -> Iterator[Move]:
    for task in snapshot.tasks.values():
        if task.status is not TaskStatus.WAITING:
            continue
        needed = [snapshot.tasks[name].status for name in task.depends_on if name in snapshot.tasks]
        ended = all(snapshot.tasks[name].status in CLOSED for name in task.after if name in snapshot.tasks)
        if ended and all(status is TaskStatus.DONE for status in needed):
            yield Promote(before=task, after=tasks.promoted(task, now))
        elif any(status in CLOSED and status is not TaskStatus.DONE for status in needed):
            yield Skip(before=task, after=tasks.skipped(task, now))


def _rejected(snapshot: Snapshot, now: Millis, rules: WatchRules) -> Iterator[Move]:
    """An ingest that failed takes its upload with it."""
    ingest = snapshot.tasks.get(INGEST)
    upload = snapshot.upload
    if (
        ingest
        and ingest.status is TaskStatus.FAILED
        and ingest.failure
        and upload.status in uploads.AWAITING_OBJECT
    ):
        yield Finish(before=upload, after=uploads.failed(upload, ingest.failure, now, rules))


def _finished(snapshot: Snapshot, now: Millis, rules: WatchRules) -> Upload:
    failure = first_failure(snapshot)
    if failure is not None:
        return uploads.failed(snapshot.upload, failure, now, rules)
    return uploads.completed(snapshot.upload, now, rules)


def first_failure(snapshot: Snapshot) -> Failure | None:
    """The earliest failure among the tasks: the cause, where others only followed."""
    broken = [task for task in snapshot.tasks.values() if task.status is TaskStatus.FAILED and task.failure]
    return min(broken, key=lambda task: (task.finished_at or 0, task.name)).failure if broken else None


def task_row(snapshot: Snapshot, name: str, now: Millis) -> tuple[Task | None, Task] | None:
    """The stored row (None if there is none) and the task as it is; the ingest exists before its row does."""
    stored = snapshot.tasks.get(name)
    if stored is not None:
        return stored, stored
    if name != INGEST:
        return None
    return None, tasks.ingest(snapshot.upload.upload_id, now, snapshot.upload.generation)


def wanted(snapshot: Snapshot, task: Task) -> bool:
    """Whether the upload is in a status in which this task may run."""
    if task.name == INGEST:
        return uploads.unplanned(snapshot.upload)
    return snapshot.upload.status is UploadStatus.PROCESSING


def unstarted(snapshot: Snapshot) -> list[Task]:
    """READY tasks nobody has claimed yet: their first message may never have been sent."""
    return [t for t in snapshot.tasks.values() if t.status is TaskStatus.READY and t.leases == 0]


def results(snapshot: Snapshot) -> dict[str, Task]:
    """The DONE tasks whose outputs are shown, by name: the present generation's, and until it has its own those of the
    earlier one.
    """
    done = {name: task for name, task in snapshot.tasks.items() if task.outputs is not None}
    return {name: task for name, task in snapshot.earlier.items() if task.outputs is not None} | done


def referred(snapshot: Snapshot) -> frozenset[str]:
    """Prefixes of the media bucket that rows point at, each ends in "/": what lies below none of them is left over."""
    outputs = [
        task.outputs
        for task in (*snapshot.tasks.values(), *snapshot.earlier.values())
        if task.outputs is not None
    ]
    return frozenset(prefix for one in outputs for prefix in (one.prefix, *one.uses))


CLOCKS_DIFFER_MS = 5 * MINUTE_MS
"""More than the clock of a bucket and ours ever do, rounding to whole seconds included."""


def condemned(upload: Upload, kept: frozenset[str], key: str, modified_at: Millis) -> bool:
    """Whether an object is deleted, or may be at any moment: no row referred to it when its upload was swept.

    `kept`: what `referred` says. Who deletes and who wants to refer to an earlier attempt's work ask this with the same
    two instants, so they agree, whatever the clocks say; the margin is for what was written after the sweep.
    """
    if any(key.startswith(prefix) for prefix in kept):
        return False
    return upload.swept_at is not None and modified_at < upload.swept_at - CLOCKS_DIFFER_MS


def attempts(snapshot: Snapshot) -> int:
    """Attempts of the task that needed most."""
    return max((task.attempts for task in snapshot.tasks.values()), default=0)
