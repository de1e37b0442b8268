"""Sizes of renditions: never larger than the source, same aspect, even numbers, portrait as well as landscape."""

from msgspec import Struct

WORTH_A_RUNG = 1.2
"""A source that is so much larger than the highest rung that fits gets a rung of its own size."""


class Size(Struct, frozen=True, kw_only=True):
    """Pixels as displayed (rotated, square)."""

    width: int
    height: int

    @property
    def short(self) -> int:
        """The shorter side: what a rung is named after."""
        return min(self.width, self.height)


def even(pixels: float) -> int:
    """The nearest even number, at least 2: 4:2:0 chroma needs pairs."""
    return max(2, 2 * round(pixels / 2))


def scaled(source: Size, short: int) -> Size:
    """The source with its shorter side made `short`, same aspect, no side longer than it was."""
    return Size(width=_scaled(source.width, short, source), height=_scaled(source.height, short, source))


def _scaled(side: int, short: int, source: Size) -> int:
    """Rounding to even may not add the pixel that an odd side lacks."""
    return max(2, min(even(side * short / source.short), side - side % 2))


def ladder(source: Size, heights: tuple[int, ...]) -> tuple[Size, ...]:
    """The sizes of the rungs, smallest first: those that fit, and the source's own where that is worth it."""
    fitting = [scaled(source, height) for height in sorted(set(heights)) if height <= source.short]
    own = scaled(source, min(even(source.short - 0.5), max(heights)))
    if not fitting or (source.short < max(heights) and own.short >= WORTH_A_RUNG * fitting[-1].short):
        fitting.append(own)
    return tuple(fitting)
