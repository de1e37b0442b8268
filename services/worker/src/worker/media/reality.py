"""Whether a file lasts as long as its header says. `probe` asks, once the file is known to be readable.

Packets are read, never decoded: the last seconds where the header gives a length, the whole file where it gives none
(a browser's MediaRecorder writes none). A file that was cut off is refused; a header that lies is corrected.
"""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, structs

from reelworks.errors import Permanent, Temporary
from reelworks.runtime.cancellation import Cancellation
from worker.media import refusals
from worker.media.command import Command, Finished
from worker.media.engine import MediaEngine
from worker.media.ffprobe_json import milliseconds
from worker.media.hostile import MAX_BLOCK_BYTES, file_url, input_options
from worker.media.progress import Progress
from worker.media.report import AudioStream, MediaReport, VideoStream

CHECKED = frozenset({"mov", "matroska", "flv"})
"""Formats that declare a length and can seek to their end. Others estimate it from size or last timestamp."""
TAIL_MS = 1_000
"""Where reading starts before the declared end; the seek goes back to a keyframe anyway."""
CUT_OFF = ("partial file", "File ended prematurely")
"""What mov.c and matroskadec.c say when bytes are missing."""

_Stream = AudioStream | VideoStream


class Tail(Struct, frozen=True, kw_only=True):
    """`end_ms`: where the last packet ends, None if there was none. `cut_off`: bytes are missing."""

    end_ms: int | None
    cut_off: bool


def verified(
    path: Path, report: MediaReport, *, engine: MediaEngine, cancellation: Cancellation
) -> MediaReport:
    """The report with a duration to rely on.

    Raises `Permanent` (`truncated`) for a file that was cut off; whatever cancelled it.
    """
    declared_ms = report.duration_ms
    if declared_ms is None or declared_ms <= 0:
        return structs.replace(report, duration_ms=_measured(path, report, engine, cancellation))
    if not CHECKED & set(report.formats):
        return report
    tail = _tail(path, declared_ms, engine, cancellation)
    if tail is None:
        return report
    end_ms = tail.end_ms
    if end_ms is None and not tail.cut_off:
        # Nothing where the end should be: a seek that failed, or a header that lies.
        end_ms = _measured(path, report, engine, cancellation)
    if end_ms is None or not falls_short(declared_ms, end_ms):
        return report
    if tail.cut_off:
        raise refusals.cut_short(declared_ms=declared_ms, decoded_ms=end_ms)
    return _shortened(report, end_ms)


def falls_short(declared_ms: int, actual_ms: int) -> bool:
    """More than 1 s and more than 2 %: encoder delay, edit lists and rounding explain less."""
    return declared_ms - actual_ms > max(1_000, declared_ms * 2 // 100)


def _shortened(report: MediaReport, end_ms: int) -> MediaReport:
    return structs.replace(
        report,
        duration_ms=end_ms,
        audio=tuple(structs.replace(s, duration_ms=_within(s, end_ms)) for s in report.audio),
        video=tuple(structs.replace(s, duration_ms=_within(s, end_ms), frames=None) for s in report.video),
    )


def _within(stream: _Stream, end_ms: int) -> int | None:
    if stream.duration_ms is None:
        return None
    return max(0, min(stream.duration_ms, end_ms - stream.start_ms))


def _tail(path: Path, declared_ms: int, engine: MediaEngine, cancellation: Cancellation) -> Tail | None:
    """None if it cannot be had cheaply."""
    start_s = max(0, declared_ms - TAIL_MS) / 1000
    command = Command(
        argv=(
            engine.tools.ffprobe,
            *("-hide_banner", "-v", "error", "-max_alloc", str(MAX_BLOCK_BYTES), "-threads", "1"),
            *input_options(max_pixels=engine.limits.max_pixels),
            *("-read_intervals", f"{start_s:.3f}%"),
            *("-show_entries", "packet=pts_time,duration_time", "-of", "csv=p=0"),
            file_url(path),
        ),
        timeout_s=engine.limits.probe_timeout_s,
    )
    finished = _attempt(lambda: engine.runner.run(command, cancellation=cancellation))
    if finished is None or finished.crashed:
        return None
    return Tail(
        end_ms=max(map(_packet_end, finished.stdout.decode("ascii", "replace").splitlines()), default=0)
        or None,
        cut_off=any(words in finished.stderr_tail for words in CUT_OFF),
    )


def _packet_end(line: str) -> int:
    """`3.960000,0.040000` → 4000; 0 for a packet without a time."""
    start, _, rest = line.partition(",")
    return (milliseconds(start) or 0) + (milliseconds(rest.partition(",")[0]) or 0)


def _measured(path: Path, report: MediaReport, engine: MediaEngine, cancellation: Cancellation) -> int | None:
    """The length of what people see and hear, by reading all of it; None if that fails."""
    streams = [stream.index for stream in (report.picture, report.speech) if stream is not None]
    last = 0

    def remember(progress: Progress) -> None:
        nonlocal last
        last = max(last, progress.out_time_us // 1000)

    command = Command(
        argv=(
            engine.tools.ffmpeg,
            *("-hide_banner", "-nostdin", "-nostats", "-v", "error", "-progress", "pipe:1"),
            *("-max_alloc", str(MAX_BLOCK_BYTES), "-threads", "1"),
            *input_options(max_pixels=engine.limits.max_pixels),
            *("-i", file_url(path)),
            *(option for index in streams for option in ("-map", f"0:{index}")),
            *("-c", "copy", "-f", "null", "-"),
        ),
        timeout_s=engine.limits.decode_timeout_s,
        stall_s=engine.limits.stall_s,
    )
    finished = _attempt(lambda: engine.runner.run(command, cancellation=cancellation, on_progress=remember))
    return last or None if finished is not None else None


def _attempt(run: Callable[[], Finished]) -> Finished | None:
    """The check is a courtesy: where it takes too long or says too much, what follows finds out."""
    try:
        return run()
    except (Permanent, Temporary):
        return None
