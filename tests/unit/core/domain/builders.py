"""Rows for tests, with one place for what does not matter to them."""

from typing import Any

from reelworks.domain import plan as plans
from reelworks.domain.outcome import Accepted, Outputs
from reelworks.domain.plan import MediaSummary, ObjectFacts, TaskKind, TaskSpec
from reelworks.domain.task import Claimant, Task, TaskStatus
from reelworks.domain.upload import Upload

NOW = 1_800_000_000_000
UPLOAD_ID = "0123456789abcdef0123456789abcdef"
FACTS = ObjectFacts(size_bytes=1_000, etag='"abc"')
MEDIA = MediaSummary(format="mp4", has_audio=True, has_video=True, duration_ms=5_000)
PLAN = plans.Plan(
    profile="default", tasks=(TaskSpec(name="transcribe", kind=TaskKind.TRANSCRIBE, lane="speech"),)
)

NEWS = Accepted(outputs=Outputs(prefix="p/"), object=FACTS, media=MEDIA, plan=PLAN)


def make_upload(**changes: Any) -> Upload:
    """A fresh upload of one hour."""
    fields: dict[str, Any] = {
        "upload_id": UPLOAD_ID,
        "user_id": "ada",
        "file_name": "talk.mp4",
        "object_key": f"uploads/ada/{UPLOAD_ID}/talk.mp4",
        "content_type": "video/mp4",
        "size_bytes": 1_000,
        "profile": "transcript",
        "created_at": NOW,
        "updated_at": NOW,
        "expires_at": NOW + 3_600_000,
        "due_at": NOW + 120_000,
    }
    return Upload(**{**fields, **changes})


def make_task(**changes: Any) -> Task:
    """A READY transcribe task."""
    fields: dict[str, Any] = {
        "upload_id": UPLOAD_ID,
        "name": "transcribe",
        "kind": TaskKind.TRANSCRIBE,
        "lane": "speech",
        "status": TaskStatus.READY,
        "due_at": NOW + 600_000,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Task(**{**fields, **changes})


def make_claimant(name: str = "w1", message: str = "m1") -> Claimant:
    """A worker with a message in hand; its token tells who it is."""
    return Claimant(worker=name, token=f"token-{name}-{message}", message_id=message)
