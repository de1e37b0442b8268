"""The acknowledgement table: what the consumer does with a message, for every ending, in one method.

The row is written before the message is touched, always: a crash in between gives the message out again, and the row
then says what to do with it.
"""

import math

from reelworks import messages
from reelworks.domain.instants import SECOND_MS
from reelworks.errors import ReelworksError
from reelworks.ports import Received, TaskQueue
from reelworks.runtime import logging
from reelworks.runtime.metrics import Metrics
from worker.verdict import Ending, Verdict

log = logging.get(__name__)


class Acknowledger:
    """Applies verdicts to messages."""

    def __init__(self, queue: TaskQueue, metrics: Metrics) -> None:
        self._queue = queue
        self._metrics = metrics

    def acknowledge(self, message: Received, verdict: Verdict) -> None:
        """Do with the message what its ending asks for. An unreachable queue leaves it to its visibility timeout."""
        try:
            self._apply(message, verdict)
        except ReelworksError as error:
            log.warning("message.unacknowledged", ending=verdict.ending, error=error.message)
        self._metrics.messages.labels(message.lane, verdict.ending).inc()

    def _apply(self, message: Received, verdict: Verdict) -> None:
        match verdict.ending:
            case (
                Ending.DONE
                | Ending.OVER
                | Ending.FAILED
                | Ending.SUSPENDED
                | Ending.TEST_EVENT
                | Ending.SPLIT
            ):
                self._queue.delete(message)
            case Ending.DUPLICATE:
                # The lease was taken from another message, which is still there: this one burns no receive.
                self._queue.delete(message)
            case Ending.HELD_HERE | Ending.TOO_EARLY | Ending.RETRY:
                # It may be the only copy: it comes back when there is something to do.
                self._queue.hide(message, math.ceil(verdict.delay_ms / SECOND_MS))
            case Ending.EXHAUSTED:
                self._dead_letter(message, verdict)
                self._queue.delete(message)
            case Ending.RELEASED:
                # A fresh copy starts with no receives: a rollout never leads to the dead-letter queue.
                self._send_copy(message, verdict)
                self._queue.delete(message)
            case Ending.LEASE_LOST | Ending.OUT_OF_REACH | Ending.MALFORMED:
                # Not ours to decide: visibility gives it out again, the redrive policy ends what nobody understands.
                pass

    def _dead_letter(self, message: Received, verdict: Verdict) -> None:
        upload_id, task, failure = verdict.upload_id or "", verdict.task or "", verdict.failure
        attributes = {
            "reason": failure.kind if failure else "unknown",
            "code": failure.code if failure else "unknown",
            "message": (failure.message if failure else "")[:1_000] or "-",
            "upload_id": upload_id,
            "task": task,
            "lane": message.lane,
        }
        self._queue.dead_letter(messages.encode(upload_id, task), attributes)
        self._metrics.dead_letters.labels(attributes["reason"], "moved").inc()

    def _send_copy(self, message: Received, verdict: Verdict) -> None:
        body = messages.encode(verdict.upload_id or "", verdict.task or "")
        self._queue.send(message.lane, body, group=verdict.user_id, attributes=message.attributes)
