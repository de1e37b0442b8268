"""PNG without ffmpeg: builds without zlib, such as the static ones from PyPI, know none, and people upload many.

zlib is Python's own; what is left is to undo the row filters (ISO/IEC 15948, chapter 9). Rows go to a file as they
come, so memory stays flat. The slowest filter takes 0.4 µs a byte: 2.5 s for a screenshot in full HD, 15 s for a photo.
"""

import struct
import zlib
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path

from msgspec import Struct

from reelworks.errors import Permanent
from worker.media import refusals

CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""By colour type: grey, RGB, palette, grey with alpha, RGB with alpha."""
PIXEL_FORMATS = {0: "gray", 2: "rgb24", 3: "rgba", 4: "ya8", 6: "rgba"}
DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
READ_BYTES = 64 * 1024
MAX_PALETTE_BYTES = 3 * 256
MAX_WIDTH = 65_535
"""As JPEG has it; rows are in memory."""


class Header(Struct, frozen=True, kw_only=True):
    """IHDR; `kind` is the colour type."""

    width: int
    height: int
    depth: int
    kind: int

    @property
    def row_bytes(self) -> int:
        return (self.width * self.depth * CHANNELS[self.kind] + 7) // 8

    @property
    def step(self) -> int:
        """Bytes from a sample to the one left of it; at least one."""
        return max(1, self.depth * CHANNELS[self.kind] // 8)

    @property
    def pixel_format(self) -> str:
        """As ffmpeg calls what `unpack` writes."""
        return PIXEL_FORMATS[self.kind]


def unpack(source: Path, destination: Path, *, max_pixels: int, check: Callable[[], None]) -> Header:
    """Write the pixels, 8 bits a channel. `check` is called often and may raise.

    Raises `Permanent` (`too_many_pixels`, `undecodable_picture`).
    """
    with source.open("rb") as file, destination.open("wb") as pixels:
        chunks = _chunks(iter(lambda: file.read(8), b""), file.read)
        header = _header(next(chunks, (b"", b""))[1])
        if header.width * header.height > max_pixels or header.width > MAX_WIDTH:
            raise refusals.too_many_pixels(max_pixels, header.width, header.height)
        extra: dict[bytes, bytes] = {}
        for row in _unfiltered(_inflated(chunks, header, extra), header):
            check()
            pixels.write(_eight_bits(row, header, extra))
    return header


def damaged() -> Permanent:
    return Permanent(
        "The picture is damaged. Export it again and upload the new file.", code="undecodable_picture"
    )


def _header(body: bytes) -> Header:
    try:
        width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", body)
    except struct.error as error:
        raise damaged() from error
    if not (width and height) or depth not in DEPTHS.get(kind, ()):
        raise damaged()
    if interlaced:
        raise Permanent("Export the PNG without interlacing and upload it again.", code="undecodable_picture")
    return Header(width=width, height=height, depth=depth, kind=kind)


def _chunks(heads: Iterator[bytes], read: Callable[[int], bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Name and body, image data in pieces. Checksums are not looked at: a wrong bit shows or does not."""
    read(8)
    for head in heads:
        if len(head) < 8:
            return
        length, name = struct.unpack(">I4s", head)
        while length > 0 and (body := read(min(length, READ_BYTES))):
            length -= len(body)
            yield name, body
        read(4)


def _inflated(
    chunks: Iterator[tuple[bytes, bytes]], header: Header, extra: dict[bytes, bytes]
) -> Iterator[bytes]:
    """Filtered rows, each with its filter in front; `extra` gets the palette and its transparency before the first."""
    stream, kept, size = zlib.decompressobj(), b"", header.row_bytes + 1
    for name, body in chunks:
        if name in (b"PLTE", b"tRNS"):
            extra[name] = body[:MAX_PALETTE_BYTES]
        packed = body if name == b"IDAT" else b""
        while packed:
            kept += _some(stream, packed, max(size, READ_BYTES))
            packed = stream.unconsumed_tail
            whole = len(kept) // size * size
            yield from (kept[at : at + size] for at in range(0, whole, size))
            kept = kept[whole:]


def _some(stream: "zlib._Decompress", packed: bytes, limit: int) -> bytes:
    """Bounded: some bytes may stand for a gigabyte of zeros."""
    try:
        return stream.decompress(packed, limit)
    except zlib.error as error:
        raise damaged() from error


def _unfiltered(filtered: Iterator[bytes], header: Header) -> Iterator[bytes]:
    """Exactly the rows that the header promises."""
    above = bytes(header.row_bytes)
    for _ in range(header.height):
        row = next(filtered, b"")
        undo = FILTERS.get(row[0]) if row else None
        if undo is None:
            raise damaged()
        above = undo(row[1:], above, header.step)
        yield above


def _none(row: bytes, above: bytes, step: int) -> bytes:  # noqa: ARG001
    return row


def _sub(row: bytes, above: bytes, step: int) -> bytes:  # noqa: ARG001
    """Differences to the left: running sums, channel by channel, in C."""
    out = bytearray(len(row))
    for channel in range(step):
        out[channel::step] = bytes(map((255).__and__, accumulate(row[channel::step])))
    return bytes(out)


def _up(row: bytes, above: bytes, step: int) -> bytes:  # noqa: ARG001
    """All bytes at once, as one number: seven bits are added, the eighth is put right, so nothing carries over."""
    a, b = int.from_bytes(row), int.from_bytes(above)
    low = int.from_bytes(b"\x7f" * len(row))
    return ((a & low) + (b & low) ^ (a ^ b) & ~low).to_bytes(len(row))


def _average(row: bytes, above: bytes, step: int) -> bytes:
    out = bytearray(step) + row
    for at, up in enumerate(above, step):
        out[at] = (out[at] + ((out[at - step] + up) >> 1)) & 255
    return bytes(out[step:])


def _paeth(row: bytes, above: bytes, step: int) -> bytes:
    """The neighbour that is nearest to left + above - above left."""
    out, corners = bytearray(step) + row, bytes(step) + above
    for at, (up, corner) in enumerate(zip(above, corners, strict=False), step):
        left = out[at - step]
        to_left, to_up, to_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
        # Ties go to the first in this order.
        nearest = left if to_left <= to_up and to_left <= to_corner else up if to_up <= to_corner else corner
        out[at] = (out[at] + nearest) & 255
    return bytes(out[step:])


FILTERS: dict[int, Callable[[bytes, bytes, int], bytes]] = dict(
    enumerate((_none, _sub, _up, _average, _paeth))
)


def _eight_bits(row: bytes, header: Header, extra: dict[bytes, bytes]) -> bytes:
    if header.depth == 16:
        row = row[::2]
    elif header.depth < 8:
        row = _spread(row, header)
    return _painted(row, extra) if header.kind == 3 else row


def _spread(row: bytes, header: Header) -> bytes:
    """One byte for each sample of 1, 2 or 4 bits; greys up to white, palette indices as they are."""
    mask, scale = (1 << header.depth) - 1, 1 if header.kind == 3 else 255 // ((1 << header.depth) - 1)
    shifts = range(8 - header.depth, -1, -header.depth)
    return bytes((byte >> shift & mask) * scale for byte in row for shift in shifts)[: header.width]


def _painted(row: bytes, extra: dict[bytes, bytes]) -> bytes:
    """RGBA by the palette; what is not in it is black."""
    palette = extra.get(b"PLTE", b"").ljust(MAX_PALETTE_BYTES, b"\0")
    tables = (
        *(palette[channel::3] for channel in range(3)),
        extra.get(b"tRNS", b"")[:256].ljust(256, b"\xff"),
    )
    out = bytearray(4 * len(row))
    for channel, table in enumerate(tables):
        out[channel::4] = row.translate(table)
    return bytes(out)
