"""How far an upload is, and how long it may still take: its tasks, each by what it is expected to cost."""

from collections.abc import Mapping

from reelworks.domain.instants import SECOND_MS, Millis
from reelworks.domain.plan import INGEST, TaskKind, VideoPlan, chunk_number
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.task import CLOSED, Task
from reelworks.domain.upload import Upload, UploadStatus

FIXED_S = 0.5
"""Of every task: fetch the source, start ffmpeg, write results."""
PIXELS_PER_S = 80e6
"""Encoded by two cores with x264's preset fast; only the ratio to other tasks matters here."""
PRESET_COST: Mapping[str, float] = {
    "ultrafast": 0.2,
    "superfast": 0.35,
    "veryfast": 0.5,
    "faster": 0.8,
    "fast": 1.0,
    "medium": 1.3,
    "slow": 2.0,
    "slower": 4.0,
}
"""Time per frame relative to fast: veryfast was measured, the others follow x264's own ordering."""
COST_PER_S: Mapping[TaskKind, float] = {
    TaskKind.TRANSCRIBE: 0.3,
    TaskKind.AUDIO: 0.02,
    TaskKind.POSTER: 0.01,
    TaskKind.STORYBOARD: 0.01,
    TaskKind.PACKAGE: 0.001,
    TaskKind.MP4: 0.005,
}
"""Seconds of work per second of the recording; of other kinds it does not depend on the length."""

SOONEST_S, LEAST = 2.0, 0.03
"""Before so much time and progress an estimate would be a guess."""


def total(snapshot: Snapshot) -> float:
    """0 until the plan is there, 1 only for a COMPLETED upload. It goes back where a task begins again."""
    if snapshot.upload.status is UploadStatus.COMPLETED:
        return 1.0
    costs = {name: _cost(task, snapshot.upload) for name, task in snapshot.tasks.items() if name != INGEST}
    if not costs:
        return 0.0
    done = sum(cost * _share(snapshot.tasks[name]) for name, cost in costs.items())
    return min(round(done / sum(costs.values()), 3), 0.999)


def seconds_left(snapshot: Snapshot, now: Millis) -> int | None:
    """At the pace so far, waiting included; None before there is one, and when nothing is left to wait for."""
    ingest = snapshot.tasks.get(INGEST)
    if snapshot.upload.status is not UploadStatus.PROCESSING or ingest is None or ingest.finished_at is None:
        return None
    share, spent_s = total(snapshot), (now - ingest.finished_at) / SECOND_MS
    if share < LEAST or spent_s < SOONEST_S:
        return None
    return round(spent_s * (1 - share) / share)


def _share(task: Task) -> float:
    return 1.0 if task.status in CLOSED else task.progress


def _cost(task: Task, upload: Upload) -> float:
    """Seconds that it is expected to take."""
    video = upload.plan.video if upload.plan else None
    if task.kind is TaskKind.VIDEO and video is not None:
        return FIXED_S + _encode_s(video, chunk_number(task.name))
    duration_s = (upload.media.duration_ms or 0) / SECOND_MS if upload.media else 0.0
    return FIXED_S + COST_PER_S.get(task.kind, 0.0) * duration_s


def _encode_s(video: VideoPlan, chunk: int) -> float:
    grid = video.grid
    frames = grid.chunk_frames if chunk < grid.chunks - 1 else grid.frames - chunk * grid.chunk_frames
    pixels = sum(rung.width * rung.height for rung in video.rungs)
    return frames * pixels / PIXELS_PER_S * PRESET_COST.get(video.preset, 1.0)
