"""Where a chunk is in the source, and how ffmpeg gets there.

The output has exactly the frames [first, first + frames) of the plan's grid, whatever the source's own frames are: the
decoder starts at a keyframe at or before the chunk, and the `fps` filter, which knows where the chunk begins, throws
away what comes earlier. `-ss` alone would drop the frame that is still on screen when the chunk begins.
"""

from fractions import Fraction

from msgspec import Struct

from reelworks.domain.timeline import Grid
from worker.media.encode.extent import declared_end_ms
from worker.media.report import MediaReport, VideoStream

SEEKS_TO_KEYFRAMES = frozenset({"mov", "matroska", "avi", "flv"})
"""Formats with an index of keyframes. In the others (MPEG-TS, program streams, Ogg) a seek lands anywhere, and the
decoder is silent up to the next keyframe."""
PREROLL_S = 12
"""Longer than the keyframe distance of broadcasts and camcorders (0.5 to 5 s)."""
SHIFTED = frozenset({"mpegts", "mpeg", "ogg"})
"""Where ffmpeg moves the first timestamp of the streams *in use* to 0 (AVFMT_TS_DISCONT), so that pictures that start
after the sound would start too early. Only without a seek."""
PAD_ABOVE_MS = 1_000
"""A picture that ends so much before the sound is held to the end: a still with an hour of speech must play."""


class Cut(Struct, frozen=True, kw_only=True):
    """One chunk. `seek`: seconds before `-i`, None to read from the beginning; `skip`: seconds from there to the
    chunk. `frames`: at most so many. `delay_ms`: put the first picture there, None to trust the timestamps.
    `hold_ms`: repeat the last picture so long.
    """

    start: Fraction
    frames: int
    seek: Fraction | None = None
    skip: Fraction = Fraction(0)
    delay_ms: int | None = None
    hold_ms: int = 0


def cut(grid: Grid, chunk: int, report: MediaReport, picture: VideoStream, *, longest_ms: int) -> Cut:
    """The chunk of that number; the last one goes on to the end, but not beyond `longest_ms`."""
    start = grid.start(chunk)
    skip = min(start, _preroll(grid, report))
    whole = skip == start
    last = grid.length(chunk) is None
    return Cut(
        start=start,
        frames=_rest(grid, chunk, longest_ms) if last else grid.chunk_frames,
        seek=None if whole else start - skip,
        skip=skip,
        delay_ms=picture.start_ms if whole and SHIFTED & set(report.formats) else None,
        hold_ms=hold_ms(grid, picture),
    )


def hold_ms(grid: Grid, picture: VideoStream) -> int:
    """How much the plan, made for the longest stream, is longer than the pictures."""
    if picture.duration_ms is None:
        return 0
    missing = round(grid.frames * 1000 / grid.fps) - picture.start_ms - picture.duration_ms
    return missing if missing > PAD_ABOVE_MS else 0


def expected_ms(grid: Grid, report: MediaReport, picture: VideoStream) -> int | None:
    """Where the encoded pictures must end, None if nothing trustworthy says so."""
    declared = declared_end_ms(report, picture)
    return None if declared is None else declared + hold_ms(grid, picture)


def _preroll(grid: Grid, report: MediaReport) -> Fraction:
    """Whole frames, so that the grid keeps its phase."""
    if SEEKS_TO_KEYFRAMES & set(report.formats):
        return Fraction(0)
    return (PREROLL_S * grid.fps).__ceil__() / grid.fps


def _rest(grid: Grid, chunk: int, longest_ms: int) -> int:
    most = (longest_ms * grid.fps / 1000).__ceil__()
    return max(1, most - chunk * grid.chunk_frames)
