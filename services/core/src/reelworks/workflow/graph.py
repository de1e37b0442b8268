"""Carries out what `domain.snapshot.advance` decides, until nothing more can be done.

Called after each task that ended, for redelivered messages, and by the sweeps: doing it again is always safe.
"""

from msgspec import Struct

from reelworks import messages
from reelworks.domain import snapshot as snapshots
from reelworks.domain.instants import SECOND_MS
from reelworks.domain.snapshot import Finish, Move, Promote, Skip, Snapshot
from reelworks.domain.task import Task
from reelworks.domain.upload import Upload, UploadStatus, WatchRules
from reelworks.errors import Conflict
from reelworks.ports import Clock, EventSink, Guard, TaskQueue, UploadStore
from reelworks.runtime import logging
from reelworks.runtime.metrics import Metrics
from reelworks.workflow import outbox

MAX_ROUNDS = 10
"""A round ends the upload or frees the next tasks; chains are short. More rounds than that is a bug, not progress."""

log = logging.get(__name__)


class Workflow(Struct, frozen=True, kw_only=True):
    """The ports that the shared use cases work on."""

    store: UploadStore
    queue: TaskQueue
    events: EventSink
    clock: Clock
    metrics: Metrics
    watch: WatchRules = WatchRules()


def send(flow: Workflow, upload: Upload, lane: str, task: str) -> None:
    """One hint for a task, in its user's share of a fair queue."""
    hint(flow.queue, upload, lane, task)


def hint(queue: TaskQueue, upload: Upload, lane: str, task: str) -> None:
    """The same for those who have no workflow."""
    attributes = {"traceparent": upload.traceparent} if upload.traceparent else {}
    body = messages.encode(upload.upload_id, task)
    queue.send(lane, body, group=upload.user_id, attributes=attributes)


def settle(flow: Workflow, upload_id: str) -> Snapshot | None:
    """Advance the graph as far as it goes; the snapshot it ended with."""
    for _ in range(MAX_ROUNDS):
        snapshot = flow.store.load(upload_id)
        if snapshot is None:
            return None
        moves = snapshots.advance(snapshot, flow.clock.now(), flow.watch)
        applied = [move for move in moves if _apply(flow, snapshot, move)]
        if not moves or any(isinstance(move, Finish) for move in applied):
            return snapshot
    log.error("graph.unsettled", upload_id=upload_id)
    return None


def send_unstarted(flow: Workflow, snapshot: Snapshot) -> None:
    """After an ingest, and again when its message returns: whoever stored the plan may have died before sending."""
    for task in snapshots.unstarted(snapshot):
        if snapshots.wanted(snapshot, task):
            send(flow, snapshot.upload, task.lane, task.name)


def _apply(flow: Workflow, snapshot: Snapshot, move: Move) -> bool:
    try:
        match move:
            case Promote(before=before, after=after):
                _promote(flow, snapshot.upload, before, after)
            case Skip(before=before, after=after):
                flow.store.close_task(before, after, Guard.UNCHANGED)
            case Finish(before=before, after=after):
                _finish(flow, before, after)
    except Conflict:
        # Somebody else took the step between our read and our write; the next round sees what they made of it.
        log.debug("graph.moved_elsewhere", upload_id=snapshot.upload.upload_id)
        return False
    return True


def _promote(flow: Workflow, upload: Upload, before: Task, after: Task) -> None:
    flow.store.write_task(before, after, Guard.UNCHANGED)
    send(flow, upload, after.lane, after.name)


def _finish(flow: Workflow, before: Upload, after: Upload) -> None:
    if before.status is UploadStatus.PROCESSING:
        flow.store.finish_upload(before, after)
    else:
        flow.store.write_upload(before, after)
    ended(flow, after)


def ended(flow: Workflow, upload: Upload) -> None:
    """Count, log and announce an upload that has just become terminal."""
    flow.metrics.uploads.labels(upload.status).inc()
    if upload.status is UploadStatus.COMPLETED and upload.generation == 0:
        flow.metrics.upload_ready.observe((upload.updated_at - upload.created_at) / SECOND_MS)
    code = upload.failure.code if upload.failure else None
    log.info("upload.ended", upload_id=upload.upload_id, status=upload.status, code=code)
    outbox.notify(upload, flow.store, flow.events, flow.clock, flow.watch)
