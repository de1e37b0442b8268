"""Ways in which files arrive broken. Each takes the bytes and a generator, so that a seed gives the same file again."""

import random
from collections.abc import Callable, Mapping
from types import MappingProxyType

HEADER = 600
"""Bytes in which most formats say what follows."""

Damage = Callable[[bytes, random.Random], bytes]


def bits(data: bytes, chance: random.Random) -> bytes:
    """Single bits turned over, one to a few hundred."""
    return _changed(
        data, chance, len(data), 2 ** chance.randrange(9), lambda old: old ^ 1 << chance.randrange(8)
    )


def header(data: bytes, chance: random.Random) -> bytes:
    """Up to eight bytes of the beginning replaced."""
    return _changed(data, chance, HEADER, chance.randint(1, 8), lambda _: chance.randrange(256))


def index(data: bytes, chance: random.Random) -> bytes:
    """Up to eight bytes of the end replaced, where MP4 and Matroska keep their tables."""
    start = max(0, len(data) - 2_000)
    return data[:start] + _changed(
        data[start:], chance, len(data) - start, chance.randint(1, 8), lambda _: chance.randrange(256)
    )


def _changed(
    data: bytes, chance: random.Random, within: int, times: int, change: Callable[[int], int]
) -> bytes:
    broken = bytearray(data)
    for _ in range(times):
        at = chance.randrange(min(within, len(broken)))
        broken[at] = change(broken[at])
    return bytes(broken)


def number(data: bytes, chance: random.Random) -> bytes:
    """Four bytes, wherever they are, that say something huge, negative or nothing: lengths, counts, sizes."""
    at = chance.choice((chance.randrange(HEADER), chance.randrange(len(data)), max(0, len(data) - 900)))
    value = chance.choice((b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\0\0\0", bytes(4), b"\0\0\0\1"))
    return data[:at] + value + data[at + 4 :]


def truncated(data: bytes, chance: random.Random) -> bytes:
    """The end is missing."""
    return data[: chance.randrange(1, len(data))]


def beheaded(data: bytes, chance: random.Random) -> bytes:
    """The beginning is missing."""
    return data[chance.randrange(1, len(data)) :]


def hole(data: bytes, chance: random.Random) -> bytes:
    """A stretch of zeros, as a disk or a failed resumable upload leaves it."""
    start, end = _stretch(data, chance)
    return data[:start] + bytes(end - start) + data[end:]


def lost(data: bytes, chance: random.Random) -> bytes:
    """A stretch is missing; everything after it is early."""
    start, end = _stretch(data, chance)
    return data[:start] + data[end:]


def repeated(data: bytes, chance: random.Random) -> bytes:
    """A stretch is there twice."""
    start, end = _stretch(data, chance)
    return data[:end] + data[start:]


def noise(data: bytes, chance: random.Random) -> bytes:
    """A stretch of random bytes."""
    start, end = _stretch(data, chance)
    return data[:start] + chance.randbytes(end - start) + data[end:]


def _stretch(data: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(data))
    return start, min(len(data), start + chance.randint(1, max(1, len(data) // 3)))


DAMAGES: Mapping[str, Damage] = MappingProxyType(
    {
        damage.__name__: damage
        for damage in (bits, header, index, number, truncated, beheaded, hole, lost, repeated, noise)
    }
)
