"""From a message to its verdict: decode, load the row, decide, claim, run.

The row decides everything; the message only says where to look.
"""

import secrets

from msgspec import structs

from reelworks import messages
from reelworks.domain import snapshot as snapshots
from reelworks.domain import task as tasks
from reelworks.domain import upload as uploads
from reelworks.domain.lease import LeaseRules
from reelworks.domain.plan import INGEST
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.task import Claimant, Claimed, Exhausted, Held, Over, Task, TooEarly
from reelworks.domain.upload import UploadStatus
from reelworks.errors import Conflict, Malformed, ReelworksError, Unreachable
from reelworks.messages import Batch, Hint
from reelworks.ports import Guard, Received
from reelworks.runtime import logging
from reelworks.workflow import graph
from reelworks.workflow.graph import Workflow
from worker.acknowledgement import Acknowledger
from worker.attempt import Attempts
from worker.verdict import Ending, Verdict

MAX_CLAIM_ROUNDS = 3
"""A refused claim is decided again on the fresh row; somebody who loses three times leaves it to the others."""

CLAIM_PAUSES_S = (0.5, 2.0)
"""Between tries to write a claim; the store recognises its own earlier write."""

log = logging.get(__name__)


class Processor:
    """Handles one message at a time per calling thread."""

    def __init__(
        self,
        flow: Workflow,
        attempts: Attempts,
        acknowledger: Acknowledger,
        *,
        rules: LeaseRules,
        worker_id: str,
    ) -> None:
        self._flow = flow
        self._attempts = attempts
        self._acknowledger = acknowledger
        self._rules = rules
        self._worker_id = worker_id

    def handle(self, message: Received) -> Verdict:
        """Everything about one message, its acknowledgement included."""
        with logging.bound(message_id=message.message_id, lane=message.lane):
            lag_ms = self._flow.clock.now() - message.sent_at
            self._flow.metrics.message_lag.labels(message.lane).observe(max(lag_ms, 0) / 1_000)
            verdict = self._verdict(message)
            self._acknowledger.acknowledge(message, verdict)
            return verdict

    def _verdict(self, message: Received) -> Verdict:
        try:
            batch = messages.decode(message.body)
            if not batch.hints:
                return Verdict(ending=Ending.TEST_EVENT)
            if len(batch.hints) + len(batch.rejects) > 1:
                return self._split(message, batch)
            return self._follow(batch.hints[0], message)
        except Malformed as error:
            log.warning("message.malformed", error=error.message, receives=message.receives)
            return Verdict(ending=Ending.MALFORMED)
        except ReelworksError as error:
            # Refused or not answered: either way nothing was decided here.
            log.warning("message.out_of_reach", error=error.message)
            return Verdict(ending=Ending.OUT_OF_REACH)

    def _split(self, message: Received, batch: Batch) -> Verdict:
        """Several records share one message: each goes on alone, so that one cannot hold up or undo another."""
        for hint in batch.hints:
            snapshot = self._flow.store.load(hint.upload_id)
            if snapshot is not None and not _foreign(hint, snapshot):
                graph.send(self._flow, snapshot.upload, message.lane, hint.task)
        for record in batch.rejects:
            attributes = {"reason": "malformed", "code": "malformed", "lane": message.lane}
            self._flow.queue.dead_letter(record, attributes)
            self._flow.metrics.dead_letters.labels("malformed", "moved").inc()
        return Verdict(ending=Ending.SPLIT)

    def _follow(self, hint: Hint, message: Received) -> Verdict:
        with logging.bound(upload_id=hint.upload_id, task=hint.task):
            for _ in range(MAX_CLAIM_ROUNDS):
                try:
                    return self._decide(hint, message)
                except Conflict as error:
                    log.info("task.claim_refused", reason=error.message)
            return Verdict(ending=Ending.OUT_OF_REACH)

    def _decide(self, hint: Hint, message: Received) -> Verdict:
        snapshot = self._flow.store.load(hint.upload_id)
        # Before the clock that the lease is written with: a pause in between must not lengthen our belief in it.
        claimed_at = self._flow.clock.monotonic()
        now = self._flow.clock.now()
        if snapshot is None or _foreign(hint, snapshot):
            log.warning("message.without_upload", object_key=hint.object_key)
            return _verdict(hint, Ending.OVER)
        row = snapshots.task_row(snapshot, hint.task, now)
        if row is None:
            log.warning("message.without_task")
            return _verdict(hint, Ending.OVER)
        claimant = Claimant(worker=self._worker_id, token=secrets.token_hex(8), message_id=message.message_id)
        decision = tasks.claim(row[1], claimant, now, self._rules)
        match decision:
            case Held(until=until, same_message=same):
                ending = Ending.HELD_HERE if same else Ending.DUPLICATE
                return _verdict(hint, ending, delay_ms=until - now)
            case TooEarly(until=until) if snapshots.wanted(snapshot, row[1]):
                return _verdict(hint, Ending.TOO_EARLY, delay_ms=until - now)
            case Exhausted(task=task):
                return self._exhausted(hint, row[0], task)
            case Claimed(task=task) if snapshots.wanted(snapshot, row[1]):
                return self._run(snapshot, row[0], task, message, claimed_at)
            case Over() | Claimed() | TooEarly():
                return self._over(hint)

    def _run(
        self, snapshot: Snapshot, before: Task | None, task: Task, message: Received, claimed_at: float
    ) -> Verdict:
        snapshot = self._revived(snapshot)
        self._claim(before, task)
        log.info("task.claimed", attempt=task.attempts, receives=message.receives)
        return self._attempts.run(snapshot, task, message, claimed_at)

    def _revived(self, snapshot: Snapshot) -> Snapshot:
        """An object that comes after its upload has expired: awaited again, so that a sweep looks after it."""
        upload = snapshot.upload
        if upload.status is not UploadStatus.EXPIRED:
            return snapshot
        revived = uploads.renewed(upload, upload.expires_at, self._flow.clock.now(), self._flow.watch)
        self._flow.store.write_upload(upload, revived)
        return structs.replace(snapshot, upload=revived)

    def _claim(self, before: Task | None, task: Task) -> None:
        """Asked again when no answer came: a claim that took effect unnoticed would cost the task an attempt."""
        for pause_s in CLAIM_PAUSES_S:
            try:
                self._flow.store.write_task(before, task, Guard.UNCHANGED)
            except Unreachable:
                self._flow.clock.sleep(pause_s)
            else:
                return
        self._flow.store.write_task(before, task, Guard.UNCHANGED)

    def _over(self, hint: Hint) -> Verdict:
        """Nothing to run. Whoever ran it may have died before the next step, so the graph is advanced."""
        snapshot = graph.settle(self._flow, hint.upload_id)
        if snapshot is not None and hint.task == INGEST:
            graph.send_unstarted(self._flow, snapshot)
        return _verdict(hint, Ending.OVER)

    def _exhausted(self, hint: Hint, before: Task | None, task: Task) -> Verdict:
        if task is not before:
            self._flow.store.close_task(before or task, task, Guard.UNCHANGED)
        graph.settle(self._flow, hint.upload_id)
        return Verdict(
            ending=Ending.EXHAUSTED, upload_id=hint.upload_id, task=hint.task, failure=task.failure
        )


def _foreign(hint: Hint, snapshot: Snapshot) -> bool:
    """An object under the upload's prefix that is not the one it was signed for."""
    return hint.object_key is not None and hint.object_key != snapshot.upload.object_key


def _verdict(hint: Hint, ending: Ending, delay_ms: int = 0) -> Verdict:
    return Verdict(ending=ending, upload_id=hint.upload_id, task=hint.task, delay_ms=max(delay_ms, 0))
