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
HEADER_ONLY = frozenset({"matroska", "flv"})
"""Among them those whose length is a number on its own, which may as well be too small."""
TAIL_MS = 1_000
"""Where reading starts before the declared end; the seek goes back to a keyframe anyway."""
MAX_TAIL_BYTES = 8 * 1024 * 1024
"""An hour with one keyframe prints 6 MB; where there is more, reading everything takes less memory."""
CUT_OFF = ("partial file", "File ended prematurely")
"""What mov.c and matroskadec.c say when bytes are missing."""

_Stream = AudioStream | VideoStream


class Ending(Struct, frozen=True, kw_only=True):
    """`end_ms`: where the last packet ends, None if there was none. `cut_off`: bytes are missing."""

    end_ms: int | None
    cut_off: bool


UNKNOWN = Ending(end_ms=None, cut_off=False)


def verified(
    path: Path, report: MediaReport, *, engine: MediaEngine, cancellation: Cancellation
) -> MediaReport:
    """The report with a duration to rely on.

    Raises `Permanent` (`truncated`) for a file that was cut off; whatever cancelled it.
    """
    declared_ms = report.duration_ms
    if not declared_ms:
        measured = _measured(path, report, engine, cancellation)
        return structs.replace(report, duration_ms=measured.end_ms)
    if not CHECKED & set(report.formats):
        return report
    ending = _tail(path, declared_ms, engine, cancellation)
    if ending.end_ms is None:
        # Nothing where the end should be: a cut, a header that lies, or a seek that failed.
        ending = _measured(path, report, engine, cancellation)
    return _corrected(report, declared_ms, ending)


def _corrected(report: MediaReport, declared_ms: int, ending: Ending) -> MediaReport:
    end_ms = ending.end_ms
    if end_ms is None:
        return report
    if falls_short(declared_ms, end_ms):
        if ending.cut_off:
            raise refusals.cut_short(declared_ms=declared_ms, decoded_ms=end_ms)
        return _shortened(report, end_ms)
    if falls_short(end_ms, declared_ms) and HEADER_ONLY & set(report.formats):
        return structs.replace(report, duration_ms=end_ms)
    return report


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


def _tail(path: Path, declared_ms: int, engine: MediaEngine, cancellation: Cancellation) -> Ending:
    """What comes after the seek to just before the declared end."""
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
        max_stdout_bytes=MAX_TAIL_BYTES,
    )
    finished = _attempt(lambda: engine.runner.run(command, cancellation=cancellation))
    if finished is None:
        return UNKNOWN
    lines = finished.stdout.decode("ascii", "replace").splitlines()
    return _ending(max(map(_packet_end, lines), default=0), finished)


def _ending(end_ms: int, finished: Finished) -> Ending:
    return Ending(end_ms=end_ms or None, cut_off=any(words in finished.stderr_tail for words in CUT_OFF))


def _packet_end(line: str) -> int:
    """`3.960000,0.040000` → 4000; 0 for a packet without a time."""
    start, _, rest = line.partition(",")
    return (milliseconds(start) or 0) + (milliseconds(rest.partition(",")[0]) or 0)


def _measured(path: Path, report: MediaReport, engine: MediaEngine, cancellation: Cancellation) -> Ending:
    """Where what people see and hear ends, by reading all of it."""
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
    return UNKNOWN if finished is None else _ending(last, finished)


def _attempt(run: Callable[[], Finished]) -> Finished | None:
    """The check is a courtesy: where it takes too long or says too much, what follows finds out."""
    try:
        finished = run()
    except (Permanent, Temporary):
        return None
    return None if finished.crashed else finished
