"""One attempt at a task: from the claimed row to the written outcome and the verdict on its message."""

import random
import threading
from collections.abc import Callable
from pathlib import Path

from reelworks.domain import outcome as outcomes
from reelworks.domain import snapshot as snapshots
from reelworks.domain import task as tasks
from reelworks.domain.instants import MINUTE_MS, SECOND_MS
from reelworks.domain.keys import attempt_prefix
from reelworks.domain.lease import LeaseRules, RetryPolicy
from reelworks.domain.outcome import Outcome
from reelworks.domain.plan import INGEST
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.task import Task
from reelworks.errors import (
    Interrupted,
    InvalidSettings,
    LeaseLost,
    Permanent,
    ReelworksError,
    Temporary,
    Unreachable,
)
from reelworks.ports import Guard, Received
from reelworks.runtime import logging
from reelworks.workflow import graph
from reelworks.workflow.graph import Workflow
from worker import acceptance
from worker.lease import Lease
from worker.scratch import Scratch
from worker.verdict import Ending, Verdict
from worker.work import Handlers, Work

FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 5.0
"""Between tries to write an outcome that is known while the table cannot be reached."""
OUT_OF_REACH_DELAY_MS = 30 * SECOND_MS
LONGEST_DELAY_MS = 30 * MINUTE_MS
"""A task whose stores were out of reach rests, longer each time, its attempt given back: an outage burns none."""
MAX_RETURNS = 16
"""Five hours of that; then it is no outage but a permission or a name, and the owner should hear of it."""
UNEXPECTED = "Something went wrong on our side that nobody foresaw"

log = logging.get(__name__)


class Attempts:
    """Runs attempts, one per calling thread; knows the leases that are held right now."""

    def __init__(
        self,
        flow: Workflow,
        handlers: Handlers,
        scratch: Scratch,
        *,
        rules: LeaseRules,
        policy: RetryPolicy,
    ) -> None:
        self._flow = flow
        self._handlers = handlers
        self._scratch = scratch
        self._rules = rules
        self._policy = policy
        self._held: set[Lease] = set()
        self._lock = threading.Lock()

    def interrupt(self) -> None:
        """Make every running attempt hand its task on."""
        with self._lock:
            for lease in self._held:
                lease.interrupt()

    def run(self, snapshot: Snapshot, task: Task, message: Received, claimed_at: float) -> Verdict:
        """Work under the lease just claimed. Never raises for anything the work did."""
        flow = self._flow
        lease = Lease(
            task,
            message,
            store=flow.store,
            queue=flow.queue,
            clock=flow.clock,
            rules=self._rules,
            claimed_at=claimed_at,
        )
        with self._registered(lease), lease:
            outcome = self._outcome(snapshot, lease)
            ending = self._written(snapshot, lease, outcome)
        self._observe(task, ending, claimed_at)
        return self._verdict(snapshot, lease.task, ending, outcome)

    def _outcome(self, snapshot: Snapshot, lease: Lease) -> Outcome:
        """The handler's answer, its errors as outcomes."""
        try:
            with self._scratch.attempt() as scratch:
                return self._handlers[lease.task.kind](_work(snapshot, lease, scratch))
        except Permanent as error:
            return outcomes.Fail(error=error)
        except Unreachable as error:
            return outcomes.OutOfReach(error=error)
        except LeaseLost:
            return outcomes.LeaseLost()
        except Interrupted:
            return outcomes.Released()
        except (InvalidSettings, OSError) as error:
            # This machine is at fault (no ffmpeg, no scratch space), not the upload: it goes on somewhere else.
            log.exception("task.unfit_worker", task=lease.task.name)
            return outcomes.OutOfReach(error=unfit(error))
        except ReelworksError as error:
            return outcomes.Retry(error=error, after_ms=getattr(error, "retry_after_ms", None))
        except Exception as error:  # the border: a bug in a handler must not take the consumer along
            log.exception("task.crashed", task=lease.task.name)
            return outcomes.Retry(
                error=Temporary(f"{UNEXPECTED} ({type(error).__name__}).", code="unexpected")
            )

    def _written(self, snapshot: Snapshot, lease: Lease, outcome: Outcome) -> Ending:
        """Write the outcome, patiently: work that is done must not be done again because the table blinked."""
        pause = FIRST_PAUSE_S
        while True:
            try:
                return self._write(snapshot, lease, outcome)
            except LeaseLost:
                self._flow.metrics.lease_lost.inc()
                return Ending.LEASE_LOST
            except ReelworksError as error:
                log.warning("task.outcome_unwritten", task=lease.task.name, error=error.message)
                if lease.ran_out() or isinstance(outcome, outcomes.OutOfReach | outcomes.Released):
                    return Ending.OUT_OF_REACH
            self._flow.clock.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)

    def _write(self, snapshot: Snapshot, lease: Lease, outcome: Outcome) -> Ending:
        """The row's side of the acknowledgement table."""
        match outcome:
            case outcomes.Done(outputs=outputs):
                lease.write(lambda task, now: tasks.done(task, outputs, now), self._close)
                return Ending.DONE
            case outcomes.Accepted():
                return acceptance.accept(self._flow, snapshot, lease, outcome)
            case outcomes.Fail(error=refusal):
                lease.write(lambda task, now: tasks.failed(task, refusal, now), self._close)
                return Ending.FAILED
            case outcomes.Retry():
                return self._retry(lease, outcome)
            case outcomes.Suspend():
                lease.write(lambda task, now: tasks.suspended(task, outcome, now), self._save)
                return Ending.SUSPENDED
            case outcomes.Released():
                lease.write(tasks.released, self._save)
                return Ending.RELEASED
            case outcomes.OutOfReach(error=error):
                return self._give_back(lease, error)
            case outcomes.LeaseLost():
                raise LeaseLost("The work noticed that its lease was lost.")

    def _retry(self, lease: Lease, outcome: outcomes.Retry) -> Ending:
        delay = self._policy.delay_ms(lease.task.attempts, random.random, at_least_ms=outcome.after_ms)
        last = lease.task.attempts >= self._rules.max_attempts
        save: Callable[[Task, Task], None] = self._close if last else self._save
        lease.write(lambda task, now: tasks.retried(task, outcome.error, delay, now, self._rules), save)
        return Ending.EXHAUSTED if last else Ending.RETRY

    def _give_back(self, lease: Lease, error: ReelworksError) -> Ending:
        """No attempt is lost to an outage; but what never comes into reach is counted in the end."""
        returns = lease.task.leases - lease.task.attempts
        if returns >= MAX_RETURNS:
            return self._retry(lease, outcomes.Retry(error=error))
        delay = min(OUT_OF_REACH_DELAY_MS * 2**returns, LONGEST_DELAY_MS)
        lease.write(lambda task, now: tasks.released(task, now, delay, error), self._save)
        return Ending.OUT_OF_REACH

    def _save(self, before: Task, after: Task) -> None:
        self._flow.store.write_task(before, after, Guard.OWNED)

    def _close(self, before: Task, after: Task) -> None:
        self._flow.store.close_task(before, after, Guard.OWNED)

    def _verdict(self, snapshot: Snapshot, task: Task, ending: Ending, outcome: Outcome) -> Verdict:
        log.info(
            "task.ended", ending=ending, status=task.status, attempt=task.attempts, error=_error(outcome)
        )
        if task.status in tasks.CLOSED and ending is not Ending.LEASE_LOST and not self._settled(task):
            ending = Ending.OUT_OF_REACH
        wait_ms = max((task.not_before or 0) - self._flow.clock.now(), 0)
        return Verdict(
            ending=ending,
            upload_id=task.upload_id,
            task=task.name,
            user_id=snapshot.upload.user_id,
            delay_ms=wait_ms,
            failure=task.failure,
        )

    def _settled(self, task: Task) -> bool:
        try:
            snapshot = graph.settle(self._flow, task.upload_id)
            if snapshot is not None and task.name == INGEST:
                graph.send_unstarted(self._flow, snapshot)
        except ReelworksError as error:
            # The message stays: its next receive, or a sweep, finds the task closed and advances the graph.
            log.warning("graph.unreachable", error=error.message)
            return False
        return True

    def _observe(self, task: Task, ending: Ending, claimed_at: float) -> None:
        seconds = self._flow.clock.monotonic() - claimed_at
        self._flow.metrics.task_duration.labels(task.kind, ending).observe(seconds)

    def _registered(self, lease: Lease) -> "_Registration":
        return _Registration(self._held, self._lock, lease)


class _Registration:
    """Puts a lease among the held ones for as long as its attempt runs."""

    def __init__(self, held: set[Lease], lock: threading.Lock, lease: Lease) -> None:
        self._held, self._lock, self._lease = held, lock, lease

    def __enter__(self) -> None:
        with self._lock:
            self._held.add(self._lease)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._held.discard(self._lease)


def _work(snapshot: Snapshot, lease: Lease, scratch: Path) -> Work:
    def report(fraction: float) -> None:
        lease.progress = min(max(fraction, 0.0), 1.0)

    task, upload = lease.task, snapshot.upload
    return Work(
        upload=upload,
        task=task,
        inputs={name: row.outputs for name, row in snapshot.tasks.items() if row.outputs is not None},
        scratch=scratch,
        prefix=attempt_prefix(upload.user_id, upload.upload_id, task.name, task.token or ""),
        cancellation=lease.cancellation,
        report=report,
        kept=snapshots.referred(snapshot),
    )


def unfit(error: InvalidSettings | OSError) -> Unreachable:
    """What its owner may read of it: no path and no name of this machine."""
    if isinstance(error, InvalidSettings):
        return Unreachable("The worker lacks a program that this task needs.", code="worker_unfit")
    return Unreachable("The worker could not use its scratch space.", code="scratch_unusable")


def _error(outcome: Outcome) -> str | None:
    error = getattr(outcome, "error", None)
    return error.message[:500] if isinstance(error, ReelworksError) else None
