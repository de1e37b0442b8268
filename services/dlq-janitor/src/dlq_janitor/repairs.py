"""What a sweep does about one due row. Every repair is one conditional write, so two janitors do no harm:
the second one's write is refused and it goes on.

A repair writes first and sends the message second. Dying in between costs one more interval, never a lost task.
"""

from enum import StrEnum

from msgspec import Struct

from dlq_janitor import orphans
from reelworks.domain import snapshot as snapshots
from reelworks.domain import task as tasks
from reelworks.domain import upload as uploads
from reelworks.domain.instants import Millis
from reelworks.domain.lease import LeaseRules
from reelworks.domain.plan import INGEST, Lane
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.task import CLOSED, Task, TaskStatus
from reelworks.domain.upload import Upload, UploadStatus
from reelworks.ports import BlobStore, Due, Guard
from reelworks.workflow import graph, outbox
from reelworks.workflow.graph import Workflow


class Repair(StrEnum):
    """Also the `kind` label of `reelworks_sweep_actions_total`, so the set is closed."""

    LEASE_LAPSED = "lease_lapsed"
    """A worker died: the task is READY again and its message sent."""
    ATTEMPTS_USED_UP = "attempts_used_up"
    """A worker died on the last attempt: the task is FAILED, its message goes to the dead-letter queue."""
    CALLBACK_LATE = "callback_late"
    """An outside system never called back: the task is READY again."""
    MESSAGE_RESENT = "message_resent"
    """A READY task, or the ingest of an upload that is processed again, that nobody claimed: its message is sent."""
    TASK_RETIRED = "task_retired"
    """A task whose upload ended without it."""
    EVENT_RECREATED = "event_recreated"
    """The object is there, its event never came."""
    UPLOAD_EXPIRED = "upload_expired"
    """Nothing was ever uploaded."""
    GRAPH_ADVANCED = "graph_advanced"
    """A step between two tasks, or the last one, was lost."""
    ORPHAN_UNWATCHED = "orphan_unwatched"
    """A row whose upload is gone: nobody looks at it any more."""
    EVENT_SENT = "event_sent"
    """A terminal event that was still due is out."""
    ORPHANS_SWEPT = "orphans_swept"
    """Objects and rows that nothing refers to any more were deleted."""


class Repairs(Struct, frozen=True, kw_only=True):
    """Everything that a repair needs."""

    flow: Workflow
    raw: BlobStore
    media: BlobStore
    rules: LeaseRules


def repair(repairs: Repairs, due: Due) -> Repair | None:
    """Look at one due row and do what it needs; None if it needed nothing but a later look.

    Raises Conflict when somebody else was faster, Unreachable when a store did not answer.
    """
    snapshot = repairs.flow.store.load(due.upload_id)
    if snapshot is None:
        repairs.flow.store.unwatch(due)
        return Repair.ORPHAN_UNWATCHED
    now = repairs.flow.clock.now()
    if due.task is None:
        return _repair_upload(repairs, snapshot, now) if _is_due(snapshot.upload.due_at, now) else None
    if due.generation != snapshot.upload.generation:
        repairs.flow.store.unwatch(due)
        return Repair.ORPHAN_UNWATCHED
    task = snapshot.tasks.get(due.task)
    return _repair_task(repairs, snapshot, task, now) if task and _is_due(task.due_at, now) else None


def _is_due(due_at: Millis | None, now: Millis) -> bool:
    """The index lags behind the table: the row itself has the last word."""
    return due_at is not None and due_at <= now


def _repair_task(repairs: Repairs, snapshot: Snapshot, task: Task, now: Millis) -> Repair | None:
    lapsed = tasks.lapsed(task, now, repairs.rules)
    if not snapshots.wanted(snapshot, task) and (lapsed or task.status is TaskStatus.READY):
        repairs.flow.store.close_task(task, tasks.skipped(task, now), Guard.UNCHANGED)
        return Repair.TASK_RETIRED
    if lapsed is not None:
        return _take_back(repairs, snapshot, task, lapsed)
    if task.status is TaskStatus.READY:
        repairs.flow.store.write_task(task, tasks.resent(task, now), Guard.UNCHANGED)
        graph.send(repairs.flow, snapshot.upload, task.lane, task.name)
        return Repair.MESSAGE_RESENT
    return None


def _take_back(repairs: Repairs, snapshot: Snapshot, task: Task, lapsed: Task) -> Repair:
    flow = repairs.flow
    used_up = lapsed.status in CLOSED
    if used_up:
        flow.store.close_task(task, lapsed, Guard.UNCHANGED)
    else:
        flow.store.write_task(task, lapsed, Guard.UNCHANGED)
    # For a FAILED task too: the worker that gets it moves it to the dead-letter queue, as it does with any other.
    graph.send(flow, snapshot.upload, lapsed.lane, lapsed.name)
    if used_up:
        graph.settle(flow, task.upload_id)
        return Repair.ATTEMPTS_USED_UP
    return Repair.CALLBACK_LATE if task.status is TaskStatus.SUSPENDED else Repair.LEASE_LAPSED


def _repair_upload(repairs: Repairs, snapshot: Snapshot, now: Millis) -> Repair | None:
    upload = snapshot.upload
    if upload.notify_due is not None:
        return _send_event(repairs, upload, now)
    match upload.status:
        case UploadStatus.PENDING_UPLOAD:
            return _find_object(repairs, snapshot, now)
        case UploadStatus.PROCESSING:
            return _advance(repairs, snapshot, now)
        case _:
            found = orphans.sweep(repairs.flow, repairs.media, snapshot)
            return Repair.ORPHANS_SWEPT if found else None


def _send_event(repairs: Repairs, upload: Upload, now: Millis) -> Repair | None:
    flow = repairs.flow
    if outbox.notify(upload, flow.store, flow.events, flow.clock, flow.watch):
        return Repair.EVENT_SENT
    _look_again(repairs, upload, now)
    return None


def _find_object(repairs: Repairs, snapshot: Snapshot, now: Millis) -> Repair | None:
    """S3 has the last word about whether something was uploaded."""
    flow, upload = repairs.flow, snapshot.upload
    ingest = snapshot.tasks.get(INGEST)
    if ingest is not None and ingest.status not in CLOSED:
        _look_again(repairs, upload, now)  # its own row is watched
        return None
    if ingest is not None:
        _look_again(repairs, upload, now)
        graph.settle(flow, upload.upload_id)
        return Repair.GRAPH_ADVANCED
    if repairs.raw.head(upload.object_key) is not None:
        _look_again(repairs, upload, now)
        graph.send(flow, upload, Lane.EVENTS, INGEST)
        return Repair.EVENT_RECREATED
    if uploads.overdue(upload, now, flow.watch):
        expired = uploads.expired(upload, now, flow.watch)
        flow.store.write_upload(upload, expired)
        graph.ended(flow, expired)
        return Repair.UPLOAD_EXPIRED
    _look_again(repairs, upload, now)
    return None


def _advance(repairs: Repairs, snapshot: Snapshot, now: Millis) -> Repair | None:
    if uploads.unplanned(snapshot.upload) and INGEST not in snapshot.tasks:
        _look_again(repairs, snapshot.upload, now)
        graph.send(repairs.flow, snapshot.upload, Lane.EVENTS, INGEST)
        return Repair.MESSAGE_RESENT
    moves = snapshots.advance(snapshot, now, repairs.flow.watch)
    _look_again(repairs, snapshot.upload, now)
    if not moves:
        return None
    graph.settle(repairs.flow, snapshot.upload.upload_id)
    return Repair.GRAPH_ADVANCED


def _look_again(repairs: Repairs, upload: Upload, now: Millis) -> None:
    repairs.flow.store.write_upload(upload, uploads.watched_again(upload, now, repairs.flow.watch))
