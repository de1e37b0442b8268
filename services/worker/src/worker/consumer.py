"""The consumer loop: lanes in order, never more messages than free slots, and an orderly end.

Shutdown: stop fetching → wait for the grace period → make the rest hand their tasks on → log what is left.
"""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from reelworks.domain.instants import SECOND_MS
from reelworks.domain.lease import LeaseRules
from reelworks.errors import ReelworksError
from reelworks.ports import Clock, Received, TaskQueue
from reelworks.runtime import logging
from worker.attempt import Attempts
from worker.processor import Processor
from worker.slots import Slots
from worker.verdict import Ending

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0
"""Between polls while SQS, DynamoDB or S3 are out of reach: each receive then would only burn one."""
HAND_ON_S = 10.0
"""What handing on may take after the grace period: killing ffmpeg, one row, one message."""

log = logging.get(__name__)


class Consumer:
    """Runs in the calling thread until `stopping` is set, work runs in `slots` threads."""

    def __init__(  # noqa: PLR0913
        self,
        queue: TaskQueue,
        processor: Processor,
        attempts: Attempts,
        clock: Clock,
        *,
        lanes: Sequence[str],
        slots: int,
        idle_wait_s: int,
        grace_s: float,
        rules: LeaseRules,
        stopping: threading.Event,
    ) -> None:
        self._queue = queue
        self._processor = processor
        self._attempts = attempts
        self._clock = clock
        self._lanes = lanes
        self._slots = Slots(slots)
        self._pool = ThreadPoolExecutor(slots, thread_name_prefix="slot")
        self._idle_wait_s = idle_wait_s
        self._grace_s = grace_s
        self._visibility_s = rules.visibility_ms() // SECOND_MS
        self._stopping = stopping
        self._pause_s = 0.0
        self.last_poll = clock.monotonic()
        self._last_turn = self.last_poll

    def run(self) -> bool:
        """Work until stopping, then drain. False if work had to be abandoned.

        Polling has a thread of its own, so that a poll that hangs cannot hold up the drain.
        """
        poller = threading.Thread(target=self._poll, name="poller", daemon=True)
        poller.start()
        self._stopping.wait()
        # Not longer than a healthy poll takes: what it still receives is given back at once.
        poller.join(self._idle_wait_s + 1.0)
        return self.drain()

    def _poll(self) -> None:
        idle = False
        while not self._stopping.is_set():
            try:
                idle = self._turn(idle=idle)
            except Exception:  # the border of the loop: nothing that one turn meets may end the consumer
                log.exception("consumer.turn_crashed")
                self._back_off()
            if self._pause_s:
                self._stopping.wait(self._pause_s)

    def _turn(self, *, idle: bool) -> bool:
        """Wait for a free slot, then ask the lanes; whether the next turn may wait for messages."""
        self._last_turn = self._clock.monotonic()
        if not self._slots.wait_for_free(1.0):
            self.last_poll = self._last_turn  # busy is alive
            return idle
        return self._round(idle)

    def _round(self, idle: bool) -> bool:
        """Ask each lane in order until one has something. True if none had: the next round may wait longer."""
        for position, lane in enumerate(self._lanes):
            wait = self._idle_wait_s if idle and position == 0 else 0
            if len(self._lanes) > 1:
                wait = min(wait, 1)  # a long poll on one lane would let the others wait
            if received := self._receive(lane, wait):
                self._start(received)
                return False
            if self._stopping.is_set():
                return True
        return True

    def _receive(self, lane: str, wait_s: int) -> list[Received]:
        limit = min(self._slots.free, 10)
        try:
            received = self._queue.receive(lane, limit, wait_s, self._visibility_s)
        except ReelworksError as error:
            log.warning("consumer.poll_failed", lane=lane, error=error.message)
            self._back_off()
            return []
        self.last_poll = self._clock.monotonic()
        if not received:
            self._pause_s = 0.0  # nothing was there that a pause would spare
        return received

    def _start(self, received: list[Received]) -> None:
        for message in received:
            if self._stopping.is_set():
                self._queue.hide(message, 0)
                continue
            self._slots.take()
            try:
                self._pool.submit(self._work, message)
            except RuntimeError:  # no thread to be had, or the pool is shut
                self._slots.give_back()
                self._queue.hide(message, 0)

    def _work(self, message: Received) -> None:
        try:
            verdict = self._processor.handle(message)
            if verdict.ending is Ending.OUT_OF_REACH:
                self._back_off()
            else:
                self._pause_s = 0.0
        except Exception:  # the border of a slot: the message returns by its visibility, the consumer goes on
            log.exception("consumer.message_crashed", message_id=message.message_id)
        finally:
            self._slots.give_back()

    def _back_off(self) -> None:
        self._pause_s = min(max(FIRST_PAUSE_S, 2 * self._pause_s), LONGEST_PAUSE_S)

    def drain(self) -> bool:
        """Let running tasks finish within the grace period, then make them hand on. False if some do not."""
        log.info("consumer.draining", running=self._slots.taken, grace_s=self._grace_s)
        if not self._slots.wait_for_all(self._grace_s):
            self._attempts.interrupt()
            if not self._slots.wait_for_all(HAND_ON_S):
                log.error("consumer.abandoned", running=self._slots.taken)
        self._pool.shutdown(wait=False, cancel_futures=True)
        log.info("consumer.stopped", abandoned=self._slots.taken)
        return self._slots.taken == 0

    def trouble(self, stale_s: float) -> str | None:
        """For the liveness probe: None, or what a restart might help against.

        A loop that hangs, whatever runs. A queue that has not answered for long, but only while nothing runs: in an
        outage a restart must not cost the work that is under way.
        """
        now = self._clock.monotonic()
        if now - self._last_turn > stale_s:
            return (
                f"the consumer loop has not turned for {now - self._last_turn:.0f} s (limit {stale_s:.0f} s)"
            )
        silence = now - self.last_poll
        if silence > stale_s and not self._slots.taken:
            return f"no successful poll for {silence:.0f} s (limit {stale_s:.0f} s): is SQS in reach?"
        return None

    def stale(self, stale_s: float) -> str | None:
        """For the readiness probe: since when no poll has succeeded, whatever runs."""
        silence = self._clock.monotonic() - self.last_poll
        return f"no successful poll for {silence:.0f} s" if silence > stale_s else None
