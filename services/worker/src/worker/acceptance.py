"""The ingest's commit: the plan, all task rows and the upload's status in one transaction, then the first messages."""

from reelworks.domain import snapshot as snapshots
from reelworks.domain import task as tasks
from reelworks.domain import upload as uploads
from reelworks.domain.instants import Millis
from reelworks.domain.outcome import Accepted
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.task import Task
from reelworks.domain.upload import Upload, UploadStatus
from reelworks.errors import Conflict
from reelworks.workflow.graph import Workflow
from worker.lease import Lease
from worker.verdict import Ending

MAX_ROUNDS = 5


def accept(flow: Workflow, snapshot: Snapshot, lease: Lease, accepted: Accepted) -> Ending:
    """Store the plan, or find that the upload does not want it any more. Raises LeaseLost, Unreachable."""
    upload = snapshot.upload
    for _ in range(MAX_ROUNDS):
        try:
            _store(flow, upload, lease, accepted)
        except Conflict:
            # A sweep may have moved the due time of the upload meanwhile; a cancelled one is another matter.
            fresh = flow.store.load(upload.upload_id)
            if fresh is None or not snapshots.wanted(fresh, lease.task):
                return Ending.OVER
            upload = fresh.upload
        else:
            return Ending.DONE
    raise Conflict("The upload's row kept moving while its plan was being stored.")


def _store(flow: Workflow, upload: Upload, lease: Lease, accepted: Accepted) -> None:
    planned: list[Task] = []

    def done(task: Task, now: Millis) -> Task:
        planned[:] = [
            tasks.planned(spec, upload.upload_id, now, upload.generation) for spec in accepted.plan.tasks
        ]
        return tasks.done(task, accepted.outputs, now)

    def save(before: Task, after: Task) -> None:
        now = after.updated_at
        processing = uploads.accepted(upload, accepted, now, flow.watch)
        flow.store.accept_plan(upload, processing, (before, after), planned)

    lease.write(done, save)
    if upload.status is not UploadStatus.PROCESSING:
        flow.metrics.uploads.labels(UploadStatus.PROCESSING).inc()
