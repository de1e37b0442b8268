"""What a finished `audio` or `video` task leaves for those who join its segments: `manifest.json` below its prefix.

In S3 and not in the row: an hour of segments would not fit there.
"""

from fractions import Fraction

import msgspec
from msgspec import Struct

from reelworks.domain.outcome import Outputs
from reelworks.errors import Temporary
from reelworks.ports import BlobStore

NAME = "manifest.json"
LOGICAL_NAME = "manifest"
MAX_BYTES = 16_000_000
"""Six hours of audio segments are below 1 MB."""


class Segment(Struct, frozen=True, kw_only=True):
    """One object. `start` (decoding time) and `ticks` (length) in the time scale of the init segment: exact."""

    key: str
    start: int
    ticks: int
    samples: int
    bytes: int


class Init(Struct, frozen=True, kw_only=True):
    """One init segment, and what it says of all segments after it. `codec`: RFC 6381."""

    key: str
    sha256: str
    bytes: int
    codec: str
    timescale: int
    width: int = 0
    height: int = 0
    channels: int = 0
    sample_rate: int = 0


class Rendition(Struct, frozen=True, kw_only=True):
    """One stream of one task. `name`: of the rung, or "audio"."""

    name: str
    init: Init
    segments: tuple[Segment, ...]

    @property
    def seconds(self) -> Fraction:
        """Of all segments."""
        return Fraction(sum(s.ticks for s in self.segments), self.init.timescale)

    @property
    def samples(self) -> int:
        """Frames of pictures; packets of sound."""
        return sum(s.samples for s in self.segments)


class Manifest(Struct, frozen=True, kw_only=True):
    """`renditions`: none for a chunk that begins behind the end of the source."""

    task: str
    renditions: tuple[Rendition, ...] = ()


def write(manifest: Manifest, prefix: str, media: BlobStore, uses: tuple[str, ...] = ()) -> Outputs:
    """Store it; what the task hands to its row. `uses`: prefixes of earlier attempts that it refers to."""
    key = prefix + NAME
    media.put(key, msgspec.json.encode(manifest), "application/json")
    return Outputs(prefix=prefix, files={LOGICAL_NAME: key}, uses=uses)


def read(outputs: Outputs, media: BlobStore) -> Manifest:
    """Of a finished task. Raises Temporary (`manifest_missing`)."""
    key = outputs.files.get(LOGICAL_NAME)
    stored = media.get(key, MAX_BYTES) if key else None
    if stored is None:
        raise Temporary(f"The manifest of {outputs.prefix} is not there.", code="manifest_missing")
    return msgspec.json.decode(stored, type=Manifest)
