"""Rows to begin with."""

import secrets
from typing import Any

from msgspec import structs

from reelworks.domain import task as tasks
from reelworks.domain import upload as uploads
from reelworks.domain.instants import Millis
from reelworks.domain.lease import LeaseRules
from reelworks.domain.outcome import Accepted, Outputs
from reelworks.domain.plan import MediaSummary, ObjectFacts, Plan, TaskKind, TaskSpec
from reelworks.domain.task import Claimant, Claimed, Task
from reelworks.domain.upload import Upload, WatchRules
from reelworks.ports import Guard, UploadStore

T0: Millis = 1_750_000_000_000
FIRST_TOKEN = "token-1"
RULES = LeaseRules()
WATCH = WatchRules()
FACTS = ObjectFacts(size_bytes=5, etag='"e"')
MEDIA = MediaSummary(format="mp4", has_audio=True, has_video=True, duration_ms=4_000)
OUTPUTS = Outputs(prefix="processed/ann/x/", files={"json": "processed/ann/x/t.json"}, excerpt="hello – ü")


def upload(**changes: Any) -> Upload:
    """An upload that waits for its object."""
    upload_id = secrets.token_hex(16)
    new = Upload(
        upload_id=upload_id,
        user_id="ann",
        file_name="Ferien – тест.mp4",
        object_key=f"uploads/ann/{upload_id}/clip.mp4",
        content_type="video/mp4",
        size_bytes=5,
        created_at=T0,
        updated_at=T0,
        expires_at=T0 + 3_600_000,
        due_at=T0 + 120_000,
    )
    return structs.replace(new, **changes)


def plan(*names: str) -> Plan:
    """Independent tasks of these names."""
    specs = tuple(TaskSpec(name=name, kind=TaskKind.TRANSCRIBE, lane="fast") for name in names)
    return Plan(profile="default", tasks=specs)


def claimed(task: Task, token: str = FIRST_TOKEN, now: Millis = T0) -> Task:
    """The task with a lease."""
    decision = tasks.claim(task, Claimant(worker="w", token=token, message_id="m"), now, RULES)
    assert isinstance(decision, Claimed), decision
    return decision.task


def running_ingest(store: UploadStore, row: Upload) -> Task:
    """The stored ingest of a stored upload, leased."""
    task = claimed(tasks.ingest(row.upload_id, T0))
    store.write_task(None, task, Guard.UNCHANGED)
    return task


def processing(store: UploadStore, *names: str) -> tuple[Upload, dict[str, Task]]:
    """A stored upload with a plan, and its READY tasks by name."""
    before = upload()
    store.create(before)
    ingest = running_ingest(store, before)
    after = accepted(before, *names)
    planned = [tasks.planned(spec, after.upload_id, T0) for spec in plan(*names).tasks]
    store.accept_plan(before, after, (ingest, tasks.done(ingest, OUTPUTS, T0)), planned)
    return after, {task.name: task for task in planned}


def accepted(before: Upload, *names: str) -> Upload:
    """The upload with a plan of these tasks."""
    return uploads.accepted(
        before,
        Accepted(outputs=Outputs(prefix="p/"), object=FACTS, media=MEDIA, plan=plan(*names)),
        T0 + 1,
        WATCH,
    )


def stored_upload(store: UploadStore, row: Upload) -> Upload:
    """As it is in the table."""
    snapshot = store.load(row.upload_id)
    assert snapshot is not None
    return snapshot.upload


def stored_task(store: UploadStore, row: Task) -> Task:
    """As it is in the table."""
    snapshot = store.load(row.upload_id)
    assert snapshot is not None
    return snapshot.tasks[row.name]
