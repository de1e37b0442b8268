"""All rungs of one chunk by one ffmpeg: one decode, one filter graph, as many encoders as there are rungs."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from reelworks.domain.plan import Rung, VideoPlan
from worker.media.command import Command
from worker.media.encode import encoders, segmenting, transcoder
from worker.media.encode.cut import Cut, cut
from worker.media.encode.encoders import Encoder
from worker.media.encode.filters import graph
from worker.media.encode.segmenting import Segments
from worker.media.encode.transcoder import Transcoding
from worker.media.report import VideoStream


def encode_chunk(
    job: Transcoding,
    plan: VideoPlan,
    chunk: int,
    *,
    encoder: Encoder = Encoder.X264,
    progress: Callable[[float], None] = lambda _: None,
) -> dict[str, Path]:
    """Segments of the chunk, below a directory for each rung's name. A chunk behind the end has none.

    `progress` gets fractions. Raises what `transcoder.run` raises; too few frames are for the caller to judge.
    """
    picture = job.file.report.picture
    if picture is None:
        raise ValueError("This file has no pictures; the plan should have no video task.")
    directories = {rung.name: job.directory / rung.name for rung in plan.rungs}
    for directory in directories.values():
        directory.mkdir()
    part = cut(plan.grid, chunk, job.file.report, picture, longest_ms=job.engine.limits.max_duration_ms)
    expected = min(part.frames, max(1, plan.grid.frames - chunk * plan.grid.chunk_frames))

    command = ladder_command(job, plan, part, picture, encoder)
    transcoder.run(job, command, lambda event: progress(min(1.0, event.frame / expected)))
    return directories


def ladder_command(
    job: Transcoding, plan: VideoPlan, part: Cut, picture: VideoStream, encoder: Encoder
) -> Command:
    """Pure: the command line only."""
    outputs = [
        argument
        for number, rung in enumerate(plan.rungs)
        for argument in _output(job, plan, part, (number, rung), encoder)
    ]
    return transcoder.command(job, ("-filter_complex", graph(plan, picture, part), *outputs), seek=part.seek)


def _output(
    job: Transcoding, plan: VideoPlan, part: Cut, numbered: tuple[int, Rung], encoder: Encoder
) -> tuple[str, ...]:
    number, rung = numbered
    return (
        *("-map", f"[v{number}]"),
        # The graph has put the frames on the grid; ffmpeg is to drop and double none.
        *("-fps_mode", "passthrough"),
        *encoders.options(encoder, plan, rung),
        *("-threads", str(job.engine.tools.threads)),
        *segmenting.output(_segments(plan, part), Path(rung.name)),
    )


def _segments(plan: VideoPlan, part: Cut) -> Segments:
    length = plan.grid.segment_frames / plan.grid.fps
    return Segments(start=part.start, length=length, first_number=int(Fraction(part.start) / length))
