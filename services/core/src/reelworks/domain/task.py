"""A task, its status, and every way it may change: claim, heartbeat, and what each outcome makes of the row.

Pure: each function takes the row as read and gives the row as it should be, or says why not. The store writes it only
if the old row is still there (claims, sweeps) or the lease is still held (everything the owner does).
"""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, structs

from reelworks.domain.failure import Failure, FailureKind
from reelworks.domain.instants import HOUR_MS, MINUTE_MS, Millis
from reelworks.domain.lease import LeaseRules
from reelworks.domain.outcome import Outputs, Suspend
from reelworks.domain.plan import INGEST, Lane, TaskKind, TaskSpec
from reelworks.errors import Permanent, ReelworksError, Temporary


class TaskStatus(StrEnum):
    """Each member says what it means and who makes the next move."""

    WAITING = "WAITING"
    """A dependency is open. Next: whoever finishes the last one makes it READY."""
    READY = "READY"
    """May run from `not_before` on. Next: a worker that gets its message; else a sweep sends the message again."""
    RUNNING = "RUNNING"
    """Leased to `worker` until `lease_until`. Next: its owner; after the lease anyone."""
    DONE = "DONE"
    """`outputs` are live. Terminal."""
    FAILED = "FAILED"
    """`failure` says why, and whether another try could help."""
    SKIPPED = "SKIPPED"
    """Something it depends on failed, or its upload ended without it. Terminal."""
    SUSPENDED = "SUSPENDED"
    """An outside system works. Next: its callback, or the sweep at `due_at`."""


TRANSITIONS: Mapping[TaskStatus, frozenset[TaskStatus]] = {
    TaskStatus.WAITING: frozenset({TaskStatus.READY, TaskStatus.SKIPPED}),
    TaskStatus.READY: frozenset({TaskStatus.RUNNING, TaskStatus.READY, TaskStatus.SKIPPED}),
    TaskStatus.RUNNING: frozenset(
        {
            TaskStatus.RUNNING,
            TaskStatus.READY,
            TaskStatus.DONE,
            TaskStatus.FAILED,
            TaskStatus.SUSPENDED,
            TaskStatus.SKIPPED,
        }
    ),
    TaskStatus.SUSPENDED: frozenset(
        {TaskStatus.DONE, TaskStatus.READY, TaskStatus.FAILED, TaskStatus.SKIPPED}
    ),
    TaskStatus.DONE: frozenset(),
    TaskStatus.FAILED: frozenset(),
    TaskStatus.SKIPPED: frozenset(),
}

CLOSED = frozenset({TaskStatus.DONE, TaskStatus.FAILED, TaskStatus.SKIPPED})
"""In these a task is no longer among the open tasks of its upload."""

RESEND_AFTER_MS = 10 * MINUTE_MS
"""A READY task without a claim for this long may have lost its message. The interval doubles with each message."""
MAX_RESEND_MS = 6 * HOUR_MS


class Task(Struct, frozen=True, kw_only=True):
    """The row `UPLOAD#{upload_id}` / `TASK#{generation}#{name}`.

    `generation`: of its upload, see there; attempts of another one than the upload's own change nothing any more.
    `attempts`: leases granted and not given back; the only count that decides. `leases`: all that were ever granted.
    `token`: of the newest lease, stays when it ends, so that its owner recognises its own last write. `message_id`:
    SQS id of the message that the newest lease was taken from. `dispatches`: messages sent for it since it became
    READY. `due_at`: when a sweep looks (lease end, lost message, callback), None when nobody needs to.
    """

    upload_id: str
    generation: int = 0
    name: str
    kind: TaskKind
    lane: str
    depends_on: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    status: TaskStatus
    attempts: int = 0
    leases: int = 0
    token: str | None = None
    worker: str | None = None
    message_id: str | None = None
    lease_until: Millis | None = None
    not_before: Millis | None = None
    dispatches: int = 0
    due_at: Millis | None = None
    reference: str | None = None
    progress: float = 0.0
    outputs: Outputs | None = None
    failure: Failure | None = None
    last_error: Failure | None = None
    created_at: Millis
    updated_at: Millis
    started_at: Millis | None = None
    finished_at: Millis | None = None


class Claimant(Struct, frozen=True, kw_only=True):
    """Who asks for a lease, and with which message in hand. `token` is fresh and never used twice."""

    worker: str
    token: str
    message_id: str


class Claimed(Struct, frozen=True, kw_only=True):
    """Write `task` if the row is still as it was read; then the task is the claimant's."""

    task: Task


class Held(Struct, frozen=True, kw_only=True):
    """Another lease is alive. `same_message`: it was taken from the very message in hand."""

    until: Millis
    same_message: bool


class TooEarly(Struct, frozen=True, kw_only=True):
    """A retry waits for `not_before`."""

    until: Millis


class Over(Struct, frozen=True, kw_only=True):
    """Nothing to do for this message."""


class Exhausted(Struct, frozen=True, kw_only=True):
    """No attempt is left. `task` differs from what is stored if the row does not say so yet."""

    task: Task


ClaimDecision = Claimed | Held | TooEarly | Over | Exhausted


def planned(spec: TaskSpec, upload_id: str, now: Millis, generation: int = 0) -> Task:
    """The first row of a planned task: READY at once if it depends on nothing."""
    ready = not spec.depends_on and not spec.after
    return Task(
        upload_id=upload_id,
        generation=generation,
        name=spec.name,
        kind=spec.kind,
        lane=spec.lane,
        depends_on=spec.depends_on,
        after=spec.after,
        status=TaskStatus.READY if ready else TaskStatus.WAITING,
        dispatches=1 if ready else 0,
        due_at=now + RESEND_AFTER_MS if ready else None,
        created_at=now,
        updated_at=now,
    )


def ingest(upload_id: str, now: Millis, generation: int = 0) -> Task:
    """The ingest task as it is before its first claim: it has no row until then."""
    spec = TaskSpec(name=INGEST, kind=TaskKind.INGEST, lane=Lane.EVENTS)
    return planned(spec, upload_id, now, generation)


def claim(task: Task, claimant: Claimant, now: Millis, rules: LeaseRules) -> ClaimDecision:
    """Whether the claimant may have the task. The upload's own status is asked before."""
    match task.status:
        case TaskStatus.READY:
            return _claim_ready(task, claimant, now, rules)
        case TaskStatus.RUNNING:
            return _claim_running(task, claimant, now, rules)
        case TaskStatus.FAILED if task.failure and task.failure.kind is FailureKind.EXHAUSTED:
            return Exhausted(task=task)
        case _:
            return Over()


def _claim_ready(task: Task, claimant: Claimant, now: Millis, rules: LeaseRules) -> ClaimDecision:
    if task.not_before is not None and task.not_before > now:
        return TooEarly(until=task.not_before)
    return _leased(task, claimant, now, rules)


def _claim_running(task: Task, claimant: Claimant, now: Millis, rules: LeaseRules) -> ClaimDecision:
    until = task.lease_until or 0
    if not rules.expired(until, now):
        return Held(until=until + rules.skew_ms, same_message=task.message_id == claimant.message_id)
    if task.attempts >= rules.max_attempts:
        return Exhausted(task=_exhausted(task, WORKER_DIED, now))
    return _leased(task, claimant, now, rules)


def _leased(task: Task, claimant: Claimant, now: Millis, rules: LeaseRules) -> Claimed:
    until = rules.lease_until(now)
    return Claimed(
        task=structs.replace(
            task,
            status=TaskStatus.RUNNING,
            attempts=task.attempts + 1,
            leases=task.leases + 1,
            token=claimant.token,
            worker=claimant.worker,
            message_id=claimant.message_id,
            lease_until=until,
            not_before=None,
            due_at=until + rules.skew_ms,
            progress=0.0,
            started_at=now,
            updated_at=now,
        )
    )


WORKER_DIED = Temporary(
    "The worker that had this task stopped without a word, each time. If that repeats, look at its memory limit.",
    code="worker_died",
)


def heartbeat(task: Task, now: Millis, rules: LeaseRules, progress: float) -> Task:
    """The same lease, longer."""
    until = max(rules.lease_until(now), task.lease_until or 0)
    due = until + rules.skew_ms
    return structs.replace(task, lease_until=until, due_at=due, progress=progress, updated_at=now)


def _ended(task: Task, status: TaskStatus, now: Millis) -> Task:
    return structs.replace(
        task, status=status, lease_until=None, due_at=None, not_before=None, updated_at=now
    )


def done(task: Task, outputs: Outputs, now: Millis) -> Task:
    """The outputs are live."""
    ended = _ended(task, TaskStatus.DONE, now)
    return structs.replace(ended, outputs=outputs, progress=1.0, finished_at=now)


def failed(task: Task, error: Permanent, now: Millis) -> Task:
    """No retry can help."""
    ended = _ended(task, TaskStatus.FAILED, now)
    failure = Failure.of(FailureKind.PERMANENT, error)
    return structs.replace(ended, failure=failure, last_error=failure, finished_at=now)


def _exhausted(task: Task, error: ReelworksError, now: Millis) -> Task:
    ended = _ended(task, TaskStatus.FAILED, now)
    failure = Failure.of(FailureKind.EXHAUSTED, error)
    return structs.replace(ended, failure=failure, last_error=failure, finished_at=now)


def retried(task: Task, error: ReelworksError, delay_ms: int, now: Millis, rules: LeaseRules) -> Task:
    """READY again after the delay, or FAILED (exhausted) if this was the last attempt."""
    if task.attempts >= rules.max_attempts:
        return _exhausted(task, error, now)
    last_error = Failure.of(FailureKind.EXHAUSTED, error)
    return structs.replace(_ready_again(task, now, delay_ms), last_error=last_error)


def released(task: Task, now: Millis, delay_ms: int = 0, error: ReelworksError | None = None) -> Task:
    """Handed on: the attempt does not count. With a delay and the reason where a store was out of reach."""
    last_error = Failure.of(FailureKind.EXHAUSTED, error) if error else task.last_error
    return structs.replace(
        _ready_again(task, now, delay_ms), attempts=max(task.attempts - 1, 0), last_error=last_error
    )


def _ready_again(task: Task, now: Millis, delay_ms: int) -> Task:
    ended = _ended(task, TaskStatus.READY, now)
    start = now + delay_ms
    return structs.replace(
        ended,
        not_before=start if delay_ms else None,
        dispatches=1,
        due_at=start + RESEND_AFTER_MS,
        progress=0.0,
    )


def suspended(task: Task, suspend: Suspend, now: Millis) -> Task:
    """An outside system has the work now."""
    ended = _ended(task, TaskStatus.SUSPENDED, now)
    return structs.replace(ended, reference=suspend.reference, due_at=suspend.until)


def promoted(task: Task, now: Millis) -> Task:
    """WAITING → READY: everything it depends on is DONE, everything it comes after has ended."""
    return structs.replace(
        task, status=TaskStatus.READY, dispatches=1, due_at=now + RESEND_AFTER_MS, updated_at=now
    )


def skipped(task: Task, now: Millis) -> Task:
    """Something it depends on did not work out, or its upload ended: nobody will run it."""
    return structs.replace(_ended(task, TaskStatus.SKIPPED, now), finished_at=now)


def resent(task: Task, now: Millis) -> Task:
    """READY and its message possibly lost: another message, and the next look later than the last."""
    pause = min(RESEND_AFTER_MS * 2 ** min(task.dispatches, 10), MAX_RESEND_MS)
    return structs.replace(
        task, dispatches=task.dispatches + 1, due_at=max(now + pause, (task.due_at or 0) + 1), updated_at=now
    )


CALLBACK_LATE = Temporary("The outside system did not call back in time.", code="callback_late")


def lapsed(task: Task, now: Millis, rules: LeaseRules) -> Task | None:
    """What a sweep makes of a lease or callback that ran out, None while it has time: READY, or FAILED (exhausted)."""
    match task.status:
        case TaskStatus.RUNNING if rules.expired(task.lease_until or 0, now):
            return retried(task, WORKER_DIED, 0, now, rules)
        case TaskStatus.SUSPENDED if now >= (task.due_at or 0):
            return retried(task, CALLBACK_LATE, 0, now, rules)
        case _:
            return None
