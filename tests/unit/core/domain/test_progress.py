"""How far an upload is: each task counts for what it costs."""

from msgspec import structs

from reelworks.domain import progress
from reelworks.domain import task as tasks
from reelworks.domain.plan import INGEST, MediaSummary, make_plan
from reelworks.domain.profile import PRESETS, named
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.task import Task, TaskStatus
from reelworks.domain.timeline import Chunking
from reelworks.domain.upload import Upload, UploadStatus
from tests.unit.core.domain.builders import NOW, UPLOAD_ID, make_task, make_upload

MEDIA = MediaSummary(
    format="mp4",
    has_audio=True,
    has_video=True,
    duration_ms=100_000,
    picture_ms=100_000,
    width=1920,
    height=1080,
    frame_rate="25",
)
PLAN = make_plan(MEDIA, named("default"), Chunking(above_s=20, length_s=40))


def snapshot(**progressed: float) -> Snapshot:
    """The ingest ended at NOW; names with underscores for the tasks' own hyphens."""
    upload: Upload = make_upload(status=UploadStatus.PROCESSING, plan=PLAN, media=MEDIA)
    ingest = structs.replace(tasks.ingest(UPLOAD_ID, NOW), status=TaskStatus.DONE, finished_at=NOW)
    rows: dict[str, Task] = {INGEST: ingest}
    for spec in PLAN.tasks:
        at = progressed.get(spec.name.replace("-", "_"), 0.0)
        status = TaskStatus.DONE if at == 1 else TaskStatus.RUNNING
        rows[spec.name] = make_task(name=spec.name, kind=spec.kind, status=status, progress=at)
    return Snapshot(upload=upload, tasks=rows)


def everything(**changes: float) -> Snapshot:
    return snapshot(**{spec.name.replace("-", "_"): 1.0 for spec in PLAN.tasks} | changes)


def test_nothing_is_done_at_the_beginning_and_not_everything_before_the_upload_says_so() -> None:
    assert progress.total(snapshot()) == 0
    assert progress.total(everything()) == 0.999
    done = structs.replace(everything().upload, status=UploadStatus.COMPLETED)
    assert progress.total(Snapshot(upload=done, tasks={})) == 1


def test_without_a_plan_nothing_is_done() -> None:
    assert progress.total(Snapshot(upload=make_upload(), tasks={})) == 0


def test_a_poster_is_little_and_a_chunk_is_much() -> None:
    assert progress.total(snapshot(poster=1.0)) < 0.02
    assert progress.total(snapshot(video_000=1.0)) > 0.15


def test_a_short_last_chunk_counts_for_less() -> None:
    assert [t.name for t in PLAN.tasks if t.name.startswith("video")] == [
        "video-000",
        "video-001",
        "video-002",
    ]
    last, first = progress.total(snapshot(video_002=1.0)), progress.total(snapshot(video_000=1.0))
    assert 0.4 < last / first < 0.6


def test_half_of_a_task_is_half_of_its_share() -> None:
    whole = progress.total(snapshot(video_000=1.0))
    assert abs(progress.total(snapshot(video_000=0.5)) - whole / 2) < 0.002


def test_a_failed_task_is_no_work_any_more() -> None:
    found = everything(video_001=0.2)
    broken = structs.replace(found.tasks["video-001"], status=TaskStatus.FAILED)
    assert progress.total(Snapshot(upload=found.upload, tasks=found.tasks | {"video-001": broken})) == 0.999


def test_what_is_left_follows_the_pace_so_far() -> None:
    found = snapshot(video_000=1.0, audio=1.0)
    share = progress.total(found)
    left = progress.seconds_left(found, NOW + 60_000)
    assert left is not None
    assert abs(left - 60 * (1 - share) / share) <= 1


def test_there_is_no_estimate_before_there_is_a_pace() -> None:
    assert progress.seconds_left(snapshot(), NOW + 60_000) is None
    assert progress.seconds_left(snapshot(video_000=1.0), NOW + 500) is None
    assert progress.seconds_left(Snapshot(upload=make_upload(), tasks={}), NOW) is None


def test_there_is_no_estimate_of_what_is_over() -> None:
    found = everything()
    over = structs.replace(found.upload, status=UploadStatus.FAILED)
    assert progress.seconds_left(Snapshot(upload=over, tasks=found.tasks), NOW + 60_000) is None


def test_every_preset_has_a_cost() -> None:
    assert list(progress.PRESET_COST) == list(PRESETS)
    assert list(progress.PRESET_COST.values()) == sorted(progress.PRESET_COST.values())
