"""A few frames of a video as raw pixels, spread over its length, from keyframes: decoding nothing else makes a poster
of a long film as cheap as that of a clip.

Two ways. Short files are read once from end to end; of long ones, and of those in which every frame is a keyframe, only
the places of interest. A file with hardly any keyframes is decoded as it is, up to a limit.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from reelworks.errors import Temporary
from reelworks.runtime.cancellation import Cancellation
from worker.media.audio import MediaFile
from worker.media.command import Command, Finished
from worker.media.engine import MediaEngine
from worker.media.hostile import MAX_BLOCK_BYTES, file_url, input_options
from worker.media.report import VideoStream

READ_THROUGH_MS = 10 * 60_000
"""At x264's usual keyframe every 2 to 10 s, reading on and 40 to 100 seeks cost about the same at ten minutes."""
SPREAD_MS = 2_000
"""Between samples where the container does not know its length."""
FULL_DECODE_S, FULL_DECODE_PIXELS = 600, 1280 * 720
"""How much of a file without keyframes is decoded, for that size, less of a larger one: about two minutes of one core.
What comes later is not looked at."""
INTRA_ONLY = frozenset(
    {"mjpeg", "prores", "dnxhd", "dvvideo", "ffv1", "rawvideo", "huffyuv", "v210", "cfhd", "jpeg2000"}
)
SAMPLING_TIMEOUT_S = 300.0
TIMES_NAME = "frame-times.txt"


class Frame(Struct, frozen=True, kw_only=True):
    """`time_ms` on the file's timeline; `pixels` in the layout that was asked for; `key`: a keyframe."""

    time_ms: int
    pixels: bytes
    key: bool = True


class Layout(Struct, frozen=True, kw_only=True):
    """What to make of each frame: a filter chain, and how many bytes come out."""

    filters: str
    frame_bytes: int


class Reading(Struct, frozen=True, kw_only=True):
    """One run of ffmpeg. `key`: keyframes only. `seek`: input options. `spread`: a filter that drops frames."""

    count: int
    key: bool
    seek: tuple[str, ...] = ()
    spread: str = ""


class Source(Struct, frozen=True, kw_only=True):
    """A local file, its picture, and what is needed to decode it. `scratch`: a directory for small files.

    `read_through_ms`: in longer files only the places of interest are read.
    """

    file: MediaFile
    stream: VideoStream
    engine: MediaEngine
    cancellation: Cancellation
    scratch: Path
    read_through_ms: int = READ_THROUGH_MS

    @property
    def duration_ms(self) -> int:
        """Of the picture, as far as the container says; 0: unknown."""
        return self.stream.duration_ms or self.file.report.duration_ms or 0

    @property
    def length_ms(self) -> int:
        """Of the longest stream, which is what players show."""
        return max(self.file.report.duration_ms or 0, self.stream.start_ms + self.duration_ms)


def sample(
    source: Source,
    layout: Layout,
    count: int,
    *,
    enough: int,
    progress: Callable[[float], None] = lambda _: None,
) -> tuple[Frame, ...]:
    """Up to `count` frames in the order of time, no two of the same instant; () if nothing can be decoded.

    `enough`: with fewer keyframes than that, other frames are taken as well.
    """
    every = source.stream.codec in INTRA_ONLY
    long = source.duration_ms > source.read_through_ms or (every and source.duration_ms > SPREAD_MS * count)
    frames = _seeks(source, layout, count, progress) if long else _pass(source, layout, count, key=True)
    if len(frames) < enough:
        frames = max(frames, _pass(source, layout, count, key=False), key=len)
    return frames


def _pass(source: Source, layout: Layout, count: int, *, key: bool) -> tuple[Frame, ...]:
    """One run from the beginning, with at least a `count`th of the length between two frames."""
    step = (source.duration_ms or SPREAD_MS * count) / 1000 / count
    spread = rf"select=isnan(prev_selected_t)+gte(t-prev_selected_t\,{step:.3f}),"
    seek = () if key else ("-t", str(_bearable_s(source.stream)))
    return _in_order(_frames(source, layout, Reading(count=count, key=key, seek=seek, spread=spread)))


def _bearable_s(stream: VideoStream) -> int:
    """Seconds of that video to decode in full."""
    return FULL_DECODE_S * FULL_DECODE_PIXELS // max(FULL_DECODE_PIXELS, stream.width * stream.height)


def _seeks(
    source: Source, layout: Layout, count: int, progress: Callable[[float], None]
) -> tuple[Frame, ...]:
    """The keyframe before each of `count` places, evenly distributed."""

    def found() -> Iterator[Frame]:
        for number in range(count):
            at_ms = source.duration_ms * (2 * number + 1) // (2 * count)
            seek = ("-noaccurate_seek", "-ss", f"{at_ms / 1000:.3f}")
            for frame in _frames(source, layout, Reading(count=1, key=True, seek=seek)):
                # Times count from the place that was asked for, and the keyframe is before it.
                yield Frame(time_ms=max(0, at_ms + frame.time_ms), pixels=frame.pixels)
            progress((number + 1) / count)

    return _in_order(found())


def _in_order(frames: Iterator[Frame]) -> tuple[Frame, ...]:
    """By time, one of each instant: several places may have the same keyframe before them."""
    by_time = {frame.time_ms: frame for frame in frames}
    return tuple(by_time[time_ms] for time_ms in sorted(by_time))


def _frames(source: Source, layout: Layout, reading: Reading) -> Iterator[Frame]:
    """What one run delivers; whole frames only: a decoder that was cut off may leave a part of one."""
    times = source.scratch / TIMES_NAME
    times.unlink(missing_ok=True)
    command = _command(source, layout, reading, times)
    finished = source.engine.runner.run(command, cancellation=source.cancellation)
    refuse_crash(finished)
    lines = times.read_text().splitlines() if times.exists() else []
    size = layout.frame_bytes
    for number, line in enumerate(lines[: len(finished.stdout) // size]):
        pixels = finished.stdout[number * size : (number + 1) * size]
        yield Frame(time_ms=int(line), pixels=pixels, key=reading.key)


def _command(source: Source, layout: Layout, reading: Reading, times: Path) -> Command:
    return Command(
        argv=(
            *decode_options(source, key=reading.key),
            *reading.seek,
            *("-i", file_url(source.file.path)),
            *("-map", f"0:{source.stream.index}", "-an", "-sn", "-dn"),
            # As they come: a constant rate would repeat each keyframe until the next.
            *("-fps_mode", "passthrough", "-enc_time_base", "1:1000"),
            *("-vf", reading.spread + layout.filters, "-frames:v", str(reading.count)),
            # Raw frames carry no times, so they are written beside them.
            *("-stats_enc_pre", file_url(times), "-stats_enc_pre_fmt", "{pts}"),
            *("-f", "rawvideo", "pipe:1"),
        ),
        timeout_s=SAMPLING_TIMEOUT_S,
        max_stdout_bytes=reading.count * layout.frame_bytes,
    )


def decode_options(source: Source, *, key: bool) -> tuple[str, ...]:
    """The program and everything before the input's own seek options. Errors within the file stop nothing."""
    tools, limits = source.engine.tools, source.engine.limits
    return (
        tools.ffmpeg,
        *("-hide_banner", "-nostdin", "-nostats", "-y", "-v", "error"),
        *("-max_alloc", str(MAX_BLOCK_BYTES)),
        *("-threads", str(tools.threads), "-filter_threads", str(tools.threads)),
        *input_options(max_pixels=limits.max_pixels),
        *("-noautorotate", *(("-skip_frame", "nokey") if key else ())),
    )


def refuse_crash(finished: Finished) -> None:
    """Raise `Temporary` for what is about us: a crash, a full disk."""
    if finished.crashed:
        raise Temporary(f"Decoding the picture failed (signal {-finished.exit_code}).", code="decode_crashed")
    if "No space left on device" in finished.stderr_tail:
        raise Temporary("The worker ran out of scratch space.", code="scratch_full")
