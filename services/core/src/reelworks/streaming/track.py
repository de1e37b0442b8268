"""The renditions of all chunks, joined: one track from beginning to end."""

from collections.abc import Iterable
from fractions import Fraction

from msgspec import Struct

from reelworks.errors import Temporary
from reelworks.streaming.manifest import Init, Manifest, Rendition, Segment


class Track(Struct, frozen=True, kw_only=True):
    """`parts`: as the chunks, in order; never empty, each with segments."""

    name: str
    parts: tuple[Rendition, ...]

    @property
    def init(self) -> Init:
        """The first one; it stands for all of them if `uniform`."""
        return self.parts[0].init

    @property
    def uniform(self) -> bool:
        """Whether one init segment does for all chunks: byte by byte the same."""
        return len({part.init.sha256 for part in self.parts}) == 1

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Of all chunks."""
        return tuple(segment for part in self.parts for segment in part.segments)

    @property
    def durations(self) -> tuple[Fraction, ...]:
        """Of the segments, exact, in seconds."""
        return tuple(Fraction(s.ticks, part.init.timescale) for part in self.parts for s in part.segments)

    @property
    def seconds(self) -> Fraction:
        """Of the whole."""
        return sum((part.seconds for part in self.parts), Fraction(0))

    @property
    def samples(self) -> int:
        """Frames of pictures; packets of sound."""
        return sum(part.samples for part in self.parts)

    @property
    def keys(self) -> dict[str, int]:
        """Every object a player may ask for, and its size."""
        inits = {part.init.key: part.init.bytes for part in self.parts}
        return inits | {segment.key: segment.bytes for segment in self.segments}


def join(manifests: Iterable[Manifest]) -> tuple[Track, ...]:
    """Tracks by name, in the order of the first manifest. The manifests are in the order of their chunks."""
    parts: dict[str, list[Rendition]] = {}
    for manifest in manifests:
        for rendition in manifest.renditions:
            parts.setdefault(rendition.name, []).append(rendition)
    return tuple(Track(name=name, parts=tuple(found)) for name, found in parts.items())


def named(tracks: Iterable[Track], name: str) -> Track:
    """The track of that name. Raises Temporary (`rendition_missing`)."""
    for track in tracks:
        if track.name == name:
            return track
    raise Temporary(f"The rendition {name!r} is not there.", code="rendition_missing")
