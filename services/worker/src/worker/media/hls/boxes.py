"""ISO base media boxes (ISO/IEC 14496-12), as far as our own init and media segments need them."""

from collections.abc import Iterator

from msgspec import Struct

from reelworks.errors import Temporary

HEADER_BYTES = 8
LARGE_HEADER_BYTES = 16


class Box(Struct, frozen=True, kw_only=True):
    """`data`: without the header."""

    kind: str
    data: memoryview

    def children(self, skip: int = 0) -> Iterator["Box"]:
        """The boxes inside, after `skip` bytes of the box's own fields."""
        yield from parse(self.data[skip:])

    def find(self, *path: str) -> "Box":
        """The first box at the end of the path. Raises Temporary if there is none."""
        box = self
        for kind in path:
            found = next((child for child in box.children() if child.kind == kind), None)
            if found is None:
                raise malformed(f"no {kind} in {box.kind}")
            box = found
        return box

    def number(self, at: int, size: int) -> int:
        """Big-endian, unsigned."""
        if at + size > len(self.data):
            raise malformed(f"{self.kind} is too short")
        return int.from_bytes(self.data[at : at + size], "big")


def parse(data: memoryview) -> Iterator[Box]:
    """The boxes of a buffer, one after the other."""
    while data:
        if len(data) < HEADER_BYTES:
            raise malformed("a box header is cut off")
        size, header = int.from_bytes(data[:4], "big"), HEADER_BYTES
        if size == 1:
            size, header = int.from_bytes(data[8:16], "big"), LARGE_HEADER_BYTES
        elif size == 0:
            size = len(data)
        if size < header or size > len(data):
            raise malformed("a box is cut off")
        yield Box(kind=bytes(data[4:8]).decode("latin-1"), data=data[header:size])
        data = data[size:]


def whole(data: bytes) -> Box:
    """A file as one box without a name, for `find`."""
    return Box(kind="file", data=memoryview(data))


def malformed(what: str) -> Temporary:
    """Our own encoder wrote it, so another attempt may do better."""
    return Temporary(f"A segment is damaged ({what}).", code="segment_damaged")
