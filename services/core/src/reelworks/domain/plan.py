"""The task graph of an upload: a pure function of what the probe found and the profile."""

from enum import StrEnum

from msgspec import Struct

from reelworks.domain.profile import Profile
from reelworks.errors import Permanent

INGEST = "ingest"
"""The task that checks an arrived object and makes the plan. It has a row like any other, made at its first claim."""

MAX_TASKS = 90
"""DynamoDB takes 100 items in a transaction; the upload, the ingest task and some room are left out."""


class TaskKind(StrEnum):
    """What a task does, whatever its name; a label of metrics, so the set is closed."""

    INGEST = "ingest"
    TRANSCRIBE = "transcribe"


class Lane(StrEnum):
    """The queues every installation has. A high-priority twin is another queue, by configuration."""

    EVENTS = "events"
    """S3 notifications, and ingest tasks sent again by a sweep."""
    FAST = "fast"
    """Tasks of seconds."""
    ENCODE = "encode"
    """Tasks that keep all cores busy for minutes."""
    SPEECH = "speech"
    """Transcription."""


class ObjectFacts(Struct, frozen=True, kw_only=True):
    """The object that the ingest saw. Later reads insist on this ETag (or version): no other bytes are processed."""

    size_bytes: int
    etag: str
    version_id: str | None = None


class MediaSummary(Struct, frozen=True, kw_only=True):
    """What the plan needs to know of a file. The whole report is in S3 at `report_key`.

    `duration_ms`: of the longest stream; None where the container does not say.
    """

    format: str
    has_audio: bool
    has_video: bool
    duration_ms: int | None = None
    report_key: str | None = None


class TaskSpec(Struct, frozen=True, kw_only=True):
    """One node of the graph. `depends_on` names tasks of the same plan."""

    name: str
    kind: TaskKind
    lane: str
    depends_on: tuple[str, ...] = ()


class Plan(Struct, frozen=True, kw_only=True):
    """Tasks in an order in which each comes after what it depends on."""

    profile: str
    tasks: tuple[TaskSpec, ...]


def make_plan(media: MediaSummary, profile: Profile) -> Plan:
    """The tasks for this media. A file without sound still gets its (empty) transcript, which takes no time."""
    tasks: list[TaskSpec] = []
    if profile.transcribe:
        lane = Lane.SPEECH if media.has_audio else Lane.FAST
        tasks.append(TaskSpec(name="transcribe", kind=TaskKind.TRANSCRIBE, lane=lane))
    return checked(Plan(profile=profile.name, tasks=tuple(tasks)))


def checked(plan: Plan) -> Plan:
    """The plan itself, if each dependency comes before its dependents and it fits one transaction."""
    seen: set[str] = {INGEST}
    for task in plan.tasks:
        if task.name in seen:
            raise Permanent(f"The plan names the task {task.name!r} twice.", code="invalid_plan")
        if missing := set(task.depends_on) - seen:
            raise Permanent(
                f"Task {task.name!r} depends on {sorted(missing)}, not planned before it.",
                code="invalid_plan",
            )
        seen.add(task.name)
    if len(plan.tasks) > MAX_TASKS:
        raise Permanent(
            f"The plan has {len(plan.tasks)} tasks; at most {MAX_TASKS} fit.", code="invalid_plan"
        )
    return plan
