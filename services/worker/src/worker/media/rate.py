"""One constant frame rate for any video, from the two that ffprobe reports. `ffprobe_json` asks.

Neither can be believed alone: the average is frames over duration, 600 for an AVI that packs its B-frames; the guess
is the smallest rate on whose grid all timestamps lie, 90000 for a picture in a tag.
"""

from fractions import Fraction

from msgspec import Struct

STANDARD = tuple(
    Fraction(numerator, denominator)
    for numerator, denominator in (
        (24000, 1001),
        (24, 1),
        (25, 1),
        (30000, 1001),
        (30, 1),
        (50, 1),
        (60000, 1001),
        (60, 1),
        (120000, 1001),
        (120, 1),
    )
)
SNAP = Fraction(1, 1000)
"""24 and 23.976 are just this far apart; the nearer one wins."""
SAME = Fraction(1, 100)
"""An average this near the guess differs by how the last frame was counted."""
HIGHEST_SANE = 480
"""Phones film slow motion at 240, some at 480; 600, 1000 and 90000 are units of time, not rates."""
HIGHEST = 60
LOWEST = 2
"""Decoding begins two frames before showing, which has to fit into the second by which media times are later; a
repeated picture costs next to nothing."""
UNKNOWN = Fraction(30)


class Rate(Struct, frozen=True, kw_only=True):
    """`average`: as declared, where believable. `constant`: to encode at. `variable`: frames come unevenly."""

    average: Fraction | None
    constant: Fraction
    variable: bool


def rate(average: str, guess: str) -> Rate:
    """From `avg_frame_rate` and `r_frame_rate`."""
    mean, finest = sane(average), sane(guess)
    variable = mean is not None and finest is not None and not _even(mean, finest)
    return Rate(average=mean, constant=bounded(_choose(mean, finest)), variable=variable)


def sane(text: str) -> Fraction | None:
    """The rate, or None for what cannot be one: `0/0`, `90000/1`."""
    try:
        fps = Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None
    return fps if 0 < fps <= HIGHEST_SANE else None


def text(fps: Fraction) -> str:
    """As ffmpeg writes it: `25/1`."""
    return f"{fps.numerator}/{fps.denominator}"


def _even(mean: Fraction, finest: Fraction) -> bool:
    """Of interlaced video the guess is the rate of fields, twice that of frames."""
    return _close(mean, finest, SAME) or _close(2 * mean, finest, SNAP)


def _choose(mean: Fraction | None, finest: Fraction | None) -> Fraction:
    if mean is None or finest is None:
        return snapped(mean or finest or UNKNOWN)
    if (standard := _standard(mean)) is not None:
        return standard
    if mean <= finest <= HIGHEST or _close(mean, finest, SAME):
        # On the grid of the guess every frame keeps its place.
        return snapped(finest)
    return next((fps for fps in STANDARD if fps >= mean), mean)


def snapped(fps: Fraction) -> Fraction:
    """The standard rate that is meant; else a fraction that container time bases can express."""
    return _standard(fps) or fps.limit_denominator(1001)


def _standard(fps: Fraction) -> Fraction | None:
    nearest = min(STANDARD, key=lambda standard: abs(standard - fps))
    return nearest if _close(nearest, fps, SNAP) else None


def _close(one: Fraction, other: Fraction, share: Fraction) -> bool:
    return abs(one - other) <= share * one


def bounded(fps: Fraction) -> Fraction:
    """Every n-th frame of what is faster than anyone streams (120 → 60, 90 → 45); each frame n times of what is slower
    than two a second (1 → 2, 3/2 → 3)."""
    if fps < LOWEST:
        return fps * -(-LOWEST // fps) if fps else Fraction(LOWEST)
    return fps / max(1, -(-fps // HIGHEST))
