"""From coded pixels to displayed ones: which way up, mirrored or not, how wide a pixel is."""

import math
import re
from typing import Literal

from msgspec import Struct

Turn = Literal[0, 90, 180, 270]
_TURNS: tuple[Turn, ...] = (0, 90, 180, 270)
TOLERANCE_DEGREES = 1.0
"""As ffmpeg's autorotation has it (fftools/ffmpeg_filter.c)."""
WIDEST_PIXEL = 5
"""352x576 shown as 16:9 has pixels of 2.9:1; beyond this a header lies."""


class Orientation(Struct, frozen=True, kw_only=True):
    """Mirror left to right if `flipped`, then turn clockwise by `rotation` degrees."""

    rotation: Turn = 0
    flipped: bool = False


FILTERS = {0: (), 90: ("transpose=clock",), 180: ("hflip", "vflip"), 270: ("transpose=cclock",)}


def upright(*, rotation: Turn, flipped: bool) -> tuple[str, ...]:
    """The filters that show a picture as its report says. For use with ffmpeg's own autorotation off: that does not
    know the `rotate` tag of old phones."""
    return (*(("hflip",) if flipped else ()), *FILTERS[rotation])


def orientation(matrix: str | None, rotate_tag: str | None) -> Orientation:
    """The display matrix decides, as ffprobe prints it; without one the `rotate` tag of old phones."""
    numbers = _numbers(matrix or "")
    if numbers is not None:
        return _decomposed(*numbers)
    try:
        return Orientation(rotation=_turn(float(rotate_tag or 0)))
    except (ValueError, OverflowError):
        return Orientation()


def _numbers(matrix: str) -> tuple[int, int, int, int] | None:
    """The upper left 2x2 of three lines like `00000000:  0  65536  0`; None if that is not what it is."""
    rows = [re.findall(r"-?\d+", line.partition(":")[2]) for line in matrix.strip().splitlines()]
    if len(rows) != 3 or any(len(row) != 3 for row in rows):
        return None
    return int(rows[0][0]), int(rows[0][1]), int(rows[1][0]), int(rows[1][1])


def _decomposed(a: int, b: int, c: int, d: int) -> Orientation:
    """(x, y) → (ax + cy, bx + dy), y pointing down. A negative determinant is a mirror, which the angle that ffprobe
    prints does not tell from a half turn."""
    flipped = a * d - b * c < 0
    angle = math.degrees(math.atan2(-b, -a) if flipped else math.atan2(b, a)) if a or b else 0.0
    return Orientation(rotation=_turn(angle), flipped=flipped)


def _turn(degrees: float) -> Turn:
    """The quarter turns meant; 0 for a slant, which no recipe of ours turns."""
    quarters = round(degrees / 90)
    return _TURNS[quarters % 4] if abs(degrees - 90 * quarters) <= TOLERANCE_DEGREES else 0


def pixel_aspect(sar: str) -> tuple[int, int]:
    """`64:45` → (64, 45); (1, 1) for what is unknown (`0:1`) or absurd."""
    width, _, height = sar.partition(":")
    if not (width.isdecimal() and height.isdecimal()):
        return 1, 1
    wide, high = int(width), int(height)
    sane = wide and high and 1 <= max(wide, high) <= WIDEST_PIXEL * min(wide, high)
    return (wide, high) if sane else (1, 1)


def display_size(width: int, height: int, aspect: tuple[int, int], rotation: Turn) -> tuple[int, int]:
    """Square pixels, the right way up."""
    square = round(width * aspect[0] / aspect[1])
    return (height, square) if rotation in (90, 270) else (square, height)
