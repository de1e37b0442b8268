"""Plans, reports and jobs for tests of command lines."""

from fractions import Fraction
from pathlib import Path
from typing import Any

from reelworks.domain.plan import Rung, VideoPlan
from reelworks.domain.timeline import Grid
from reelworks.runtime.cancellation import Cancellation
from worker.media.audio import MediaFile
from worker.media.encode.cut import Cut
from worker.media.encode.transcoder import Transcoding
from worker.media.engine import MediaEngine
from worker.media.report import AudioStream, MediaReport, VideoStream
from worker.media.runner import Runner
from worker.media.tools import Tools

RUNGS = (
    Rung(name="360", width=640, height=360, crf=23),
    Rung(name="720", width=1280, height=720, crf=21, max_kbps=3000),
)
GRID = Grid(frame_rate="30000/1001", gop_frames=60, segment_frames=120, chunk_frames=240, frames=600)
PLAN = VideoPlan(rungs=RUNGS, grid=GRID, preset="fast")
WHOLE = Cut(start=Fraction(0), frames=240)


def video(**changes: Any) -> VideoStream:
    """Plain HD pictures of 20 s."""
    fields: dict[str, Any] = {
        "index": 0,
        "codec": "h264",
        "width": 1280,
        "height": 720,
        "duration_ms": 20_020,
    }
    return VideoStream(**{**fields, **changes})


def report(picture: VideoStream | None = None, **changes: Any) -> MediaReport:
    """An MP4 with those pictures and stereo sound."""
    sound = AudioStream(index=1, codec="aac", channels=2, sample_rate=48_000, duration_ms=20_020)
    fields: dict[str, Any] = {
        "formats": ("mov", "mp4"),
        "size_bytes": 1,
        "duration_ms": 20_020,
        "audio": (sound,),
    }
    return MediaReport(video=(picture or video(),), **{**fields, **changes})


def job(found: MediaReport | None = None, threads: int = 2) -> Transcoding:
    tools = Tools(ffmpeg="ffmpeg", ffprobe="ffprobe", threads=threads)
    return Transcoding(
        file=MediaFile(path=Path("/scratch/source"), report=found or report()),
        directory=Path("/scratch"),
        engine=MediaEngine(tools=tools, runner=Runner()),
        cancellation=Cancellation(),
    )
