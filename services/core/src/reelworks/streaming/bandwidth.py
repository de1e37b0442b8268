"""Bit rates as they are, not as they were wished for."""

from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct

from reelworks.streaming.track import Track


class Rates(Struct, frozen=True, kw_only=True):
    """Bits a second."""

    peak: int = 0
    average: int = 0

    def __add__(self, other: "Rates") -> "Rates":
        return Rates(peak=self.peak + other.peak, average=self.average + other.average)


def measure(track: Track, target_s: int) -> Rates:
    """Peak as RFC 8216 (4.1) defines it: the highest rate of any run of segments that lasts 0.5 to 1.5 targets."""
    sizes, durations = [s.bytes * 8 for s in track.segments], track.durations
    average = _rate(sum(sizes), track.seconds)
    runs = (run for first in range(len(sizes)) for run in _runs(first, sizes, durations, Fraction(target_s)))
    return Rates(peak=max(runs, default=average), average=average)


def _runs(first: int, sizes: list[int], durations: tuple[Fraction, ...], target: Fraction) -> Iterator[int]:
    """Rates of the runs that begin with that segment."""
    bits, seconds = 0, Fraction(0)
    for at in range(first, len(sizes)):
        bits, seconds = bits + sizes[at], seconds + durations[at]
        if seconds > target * 3 / 2:
            return
        if seconds >= target / 2:
            yield _rate(bits, seconds)


def _rate(bits: int, seconds: Fraction) -> int:
    """Rounded up: a promise to be kept."""
    return (bits / max(seconds, Fraction(1, 1000))).__ceil__()
