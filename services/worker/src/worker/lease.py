"""A held lease: the row as this attempt last wrote it, and the thread that renews it.

Everything the attempt writes to the row goes through here, one write at a time. The lease counts as lost when the
table says so, or when no renewal has succeeded for its whole length: then nobody knows, and somebody may have it.
"""

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from reelworks.domain import task as tasks
from reelworks.domain.instants import SECOND_MS, Millis
from reelworks.domain.lease import MAX_VISIBILITY_MS, LeaseRules
from reelworks.domain.task import Task
from reelworks.errors import Conflict, Interrupted, LeaseLost, ReelworksError
from reelworks.ports import Clock, Guard, Received, TaskQueue, UploadStore
from reelworks.runtime import logging
from reelworks.runtime.cancellation import Cancellation

log = logging.get(__name__)

LOST = "The lease on this task ran out or was taken over; another worker goes on with it."


class Lease:
    """A context manager: heartbeats run inside it."""

    def __init__(  # noqa: PLR0913
        self,
        task: Task,
        message: Received,
        *,
        store: UploadStore,
        queue: TaskQueue,
        clock: Clock,
        rules: LeaseRules,
        claimed_at: float,
    ) -> None:
        """`claimed_at`: the monotonic time just before the claim was sent; the lease counts from there."""
        self.task = task
        self.cancellation = Cancellation()
        self.progress = 0.0
        self._message = message
        self._store = store
        self._queue = queue
        self._clock = clock
        self._rules = rules
        self._received_at = claimed_at
        self._renewed_at = claimed_at
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"heartbeat-{task.name}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        with self._lock:  # a beat under way ends first; none begins after it
            pass

    def write(self, make: Callable[[Task, Millis], Task], save: Callable[[Task, Task], None]) -> Task:
        """The attempt's last word. Stops the heartbeat, then stores `make(row, now)` by `save(before, after)`.

        Raises LeaseLost without writing when the lease has run out, else what `save` raises. May be called again
        after Unreachable.
        """
        self._over.set()
        with self._lock:
            if self.ran_out():
                raise LeaseLost(LOST)
            after = make(self.task, self._clock.now())
            save(self.task, after)
            self.task = after
            return after

    def ran_out(self) -> bool:
        """Whether this side must stop believing in its lease."""
        return (self._clock.monotonic() - self._renewed_at) * SECOND_MS >= self._rules.lease_ms

    def interrupt(self) -> None:
        """The process is stopping."""
        self.cancellation.cancel(Interrupted("The worker is shutting down."))

    def _run(self) -> None:
        while not self._over.wait(self._rules.heartbeat_ms / SECOND_MS):
            if not self.beat():
                return

    def beat(self) -> bool:
        """Renew once. False when there is nothing left to renew."""
        with self._lock:
            if self._over.is_set():
                return False
            try:
                self._renew()
            except (LeaseLost, Conflict):
                self._lose()
            except ReelworksError as error:
                log.warning("lease.renewal_failed", task=self.task.name, error=error.message)
            except Exception:  # the border of a beat: whatever it was, the next one may go better
                log.exception("lease.renewal_crashed", task=self.task.name)
            if self.ran_out():
                self._lose()
            return self.cancellation.reason is None or isinstance(self.cancellation.reason, Interrupted)

    def _renew(self) -> None:
        if self.ran_out():
            raise LeaseLost(LOST)
        started = self._clock.monotonic()
        after = tasks.heartbeat(self.task, self._clock.now(), self._rules, self.progress)
        self._store.write_task(self.task, after, Guard.OWNED)
        self.task, self._renewed_at = after, started
        self._extend_visibility(started)

    def _extend_visibility(self, now: float) -> None:
        left_ms = MAX_VISIBILITY_MS - int((now - self._received_at) * SECOND_MS)
        if left_ms > 0:
            self._queue.hide(self._message, max(1, min(self._rules.visibility_ms(), left_ms) // SECOND_MS))

    def _lose(self) -> None:
        log.warning("lease.lost", upload_id=self.task.upload_id, task=self.task.name)
        self.cancellation.cancel(LeaseLost(LOST))
