"""How hard the pictures of a file are to encode: a few seconds of it, quickly, in every size of the ladder.

One ffmpeg for each sample decodes, scales and encodes as the ladder does, with x264's fastest preset. It writes no
video, only statistics: x264's own sizes and errors of frames, and the error of showing each size in the next larger.
"""

import math
import re
from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct, structs

from reelworks.domain.per_title import Complexity, RungNeeds
from reelworks.domain.plan import Rung, VideoPlan
from worker.media.command import Command
from worker.media.encode import filters, transcoder
from worker.media.encode.transcoder import Transcoding
from worker.media.report import VideoStream

SAMPLES = 4
SAMPLE_S = 2.0
"""Four of two seconds rank clips rightly, and take 1.5 to 2.4 s of two cores at 1080p."""
SHARE = 0.05
"""Of the pictures, at most: the probe takes a fifth of the time of the encode for each second, so one percent."""
LEAST_S = 0.4
"""Below, one sample is a handful of frames and tells nothing: videos shorter than 8 s are left alone."""
TIMEOUT_S = 60.0
"""Of one sample. Slow sources (HDR in 4K) take ten."""
STATISTICS = "frames.log"
PEAK = 255.0
_FRAME = re.compile(r"out=\s*(\d+).*PSNR=\s*(\d+\.\d+|inf) f_size=\s*(\d+).*type= ([IPB])")
_LOSS = re.compile(r"mse_y:(\d+(?:\.\d+)?)")


class _Frame(Struct, frozen=True):
    """One encoded frame. `error`: squared, of luma."""

    size_bytes: int
    error: float
    key: bool


class _Sample(Struct, frozen=True):
    """`frames` of each rung, `losses` of each step up: per frame."""

    frames: tuple[tuple[_Frame, ...], ...]
    losses: tuple[tuple[float, ...], ...]


def measure(job: Transcoding, plan: VideoPlan) -> Complexity | None:
    """None for videos that are too short to be measured cheaply, or whose samples have no pictures.

    Writes below `job.directory`. Raises what `transcoder.run` raises.
    """
    picture = job.file.report.picture
    if picture is None:
        return None
    samples = [_sample(job, plan, picture, start, length) for start, length in moments(plan)]
    return summarised(plan, [sample for sample in samples if all(sample.frames)])


def moments(plan: VideoPlan) -> Iterator[tuple[Fraction, float]]:
    """Start and length of the samples in seconds, spread over the video."""
    whole = plan.grid.frames / plan.grid.fps
    total = min(SAMPLES * SAMPLE_S, SHARE * float(whole))
    if total < LEAST_S:
        return
    count = math.ceil(total / SAMPLE_S)
    for number in range(count):
        yield whole * (2 * number + 1) / (2 * count), total / count


def summarised(plan: VideoPlan, samples: list[_Sample]) -> Complexity | None:
    """The busiest sample decides about rates, all together about errors."""
    if not samples:
        return None
    rungs = tuple(
        RungNeeds(
            name=rung.name,
            kbps=max(_kbps(sample.frames[n], plan) for sample in samples),
            error=_mean([frame.error for sample in samples for frame in sample.frames[n]]),
        )
        for n, rung in enumerate(plan.rungs)
    )
    steps = range(len(plan.rungs) - 1)
    losses = tuple(_mean([loss for sample in samples for loss in sample.losses[n]]) for n in steps)
    return Complexity(rungs=rungs, losses=losses)


def _kbps(frames: tuple[_Frame, ...], plan: VideoPlan) -> float:
    """A sample has one keyframe or two; the plan has one in each group."""
    gop = plan.grid.gop_frames
    keys = [frame.size_bytes for frame in frames if frame.key]
    others = [frame.size_bytes for frame in frames if not frame.key]
    group = _mean(keys or others) + (gop - 1) * _mean(others or keys)
    return group / gop * float(plan.grid.fps) * 8 / 1000


def _mean(values: list[float] | list[int]) -> float:
    return sum(values) / len(values) if values else 0.0


def _sample(
    job: Transcoding, plan: VideoPlan, picture: VideoStream, start: Fraction, length: float
) -> _Sample:
    frames = max(2, round(length * plan.grid.fps))
    transcoder.run(job, command(job, plan, picture, start, frames), lambda _: None)
    return _Sample(frames=tuple(_frames(job, plan)), losses=tuple(_losses(job, plan)))


def command(job: Transcoding, plan: VideoPlan, picture: VideoStream, start: Fraction, frames: int) -> Command:
    """Pure: the command line only."""
    outputs = [argument for n, rung in enumerate(plan.rungs) for argument in _output(job, n, rung)]
    arguments = (
        *("-filter_complex", graph(plan, picture, frames)),
        *outputs,
        *("-vstats_file", STATISTICS),
    )
    return structs.replace(transcoder.command(job, arguments, seek=start), timeout_s=TIMEOUT_S)


def _output(job: Transcoding, number: int, rung: Rung) -> tuple[str, ...]:
    return (
        *("-map", f"[v{number}]"),
        *("-fps_mode", "passthrough"),
        *("-c:v", "libx264", "-preset", "ultrafast", "-crf", str(rung.crf), "-sc_threshold", "0"),
        *("-flags", "+psnr"),
        *("-threads", str(job.engine.tools.threads)),
        *("-f", "null", "-"),
    )


def graph(plan: VideoPlan, picture: VideoStream, frames: int) -> str:
    """`[v0]`, `[v1]` … for the encoders, the smallest first, and a comparison of each size with the next larger.

    A seek lands on a keyframe, or anywhere: the sample is whatever comes from there on.
    """
    top = len(plan.rungs) - 1
    shared = (
        *filters.whole_frames(picture),
        *("setpts=PTS-STARTPTS", f"fps={plan.grid.frame_rate}:round=near", f"trim=end_frame={frames}"),
        *filters.shown(picture, plan.rungs[top]),
    )
    scaled = "".join(f"[s{n}]" for n in range(top))
    parts = [f"[0:{picture.index}]{','.join(shared)},split={top + 1}{scaled}[s{top}]"]
    for n, rung in enumerate(plan.rungs):
        size = "null" if n == top else f"scale={rung.width}:{rung.height}:flags=bicubic,setsar=1"
        uses = [f"[v{n}]", *([f"[r{n}]"] if n > 0 else []), *([f"[u{n}]"] if n < top else [])]
        parts.append(f"[s{n}]{size},split={len(uses)}{''.join(uses)}")
    for n, above in enumerate(plan.rungs[1:]):
        larger = f"[u{n}]scale={above.width}:{above.height}:flags=bicubic,setsar=1[x{n}]"
        parts += [larger, f"[x{n}][r{n + 1}]psnr=stats_file={_loss_name(n)},nullsink"]
    return ";".join(parts)


def _loss_name(step: int) -> str:
    return f"loss-{step}.log"


def _frames(job: Transcoding, plan: VideoPlan) -> Iterator[tuple[_Frame, ...]]:
    found: list[list[_Frame]] = [[] for _ in plan.rungs]
    for line in _lines(job, STATISTICS):
        if match := _FRAME.search(line):
            number, psnr, size, kind = match.groups()
            frame = _Frame(size_bytes=int(size), error=_error(float(psnr)), key=kind == "I")
            found[int(number)].append(frame)
    yield from map(tuple, found)


def _losses(job: Transcoding, plan: VideoPlan) -> Iterator[tuple[float, ...]]:
    for step in range(len(plan.rungs) - 1):
        lines = _lines(job, _loss_name(step))
        yield tuple(float(match[1]) for line in lines if (match := _LOSS.search(line)))


def _lines(job: Transcoding, name: str) -> list[str]:
    """None, if ffmpeg found nothing to write; the file is gone afterwards, the next sample has its own."""
    path = job.directory / name
    if not path.exists():
        return []
    text = path.read_text("ascii", "replace")
    path.unlink()
    return text.splitlines()


def _error(psnr: float) -> float:
    """Of decibels; of `inf`, none."""
    return PEAK * PEAK / math.pow(10, psnr / 10) if math.isfinite(psnr) else 0.0
