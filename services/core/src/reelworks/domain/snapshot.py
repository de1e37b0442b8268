"""An upload with all its tasks as one consistent read gives them, and what follows from it."""

from collections.abc import Iterator

from msgspec import Struct

from reelworks.domain import task as tasks
from reelworks.domain import upload as uploads
from reelworks.domain.failure import Failure
from reelworks.domain.instants import Millis
from reelworks.domain.plan import INGEST
from reelworks.domain.task import CLOSED, Task, TaskStatus
from reelworks.domain.upload import Upload, UploadStatus, WatchRules


class Snapshot(Struct, frozen=True, kw_only=True):
    """`tasks` by name; the ingest is among them once it was claimed."""

    upload: Upload
    tasks: dict[str, Task]


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
    return (None, tasks.ingest(snapshot.upload.upload_id, now)) if name == INGEST else None


def wanted(snapshot: Snapshot, task: Task) -> bool:
    """Whether the upload is in a status in which this task may run."""
    if task.name == INGEST:
        return snapshot.upload.status in uploads.AWAITING_OBJECT
    return snapshot.upload.status is UploadStatus.PROCESSING


def unstarted(snapshot: Snapshot) -> list[Task]:
    """READY tasks nobody has claimed yet: their first message may never have been sent."""
    return [t for t in snapshot.tasks.values() if t.status is TaskStatus.READY and t.leases == 0]


def attempts(snapshot: Snapshot) -> int:
    """Attempts of the task that needed most."""
    return max((task.attempts for task in snapshot.tasks.values()), default=0)
