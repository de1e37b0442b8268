"""Is a stream complete? Asked before anything names it.

Raises Temporary for what another attempt may repair, Permanent for a source that ends too early.
"""

import posixpath
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

from reelworks.domain.timeline import Grid
from reelworks.errors import Temporary
from reelworks.ports import BlobStore
from reelworks.runtime.cancellation import Cancellation
from reelworks.streaming import playlist
from reelworks.streaming.track import Track
from worker.media.encode import extent

CONNECTIONS = 8
"""A HEAD takes about 10 ms, an hour has 3,000 segments."""
ROUNDING_S = 0.000_001
"""EXTINF has six digits."""


def rungs(tracks: tuple[Track, ...], names: Iterable[str], grid: Grid) -> None:
    """Every rung is there, all have the same frames in the same segments, and no chunk but the last has less than the
    plan says: a gap in the middle would stop players."""
    if missing := set(names) - {track.name for track in tracks}:
        raise _incomplete(f"rungs {', '.join(sorted(missing))} are missing")
    layouts = {tuple(segment.samples for segment in track.segments) for track in tracks}
    if len(layouts) != 1:
        raise _incomplete("the rungs differ in their frames")
    for part in tracks[0].parts[:-1]:
        if part.samples != grid.chunk_frames:
            raise _incomplete(f"a chunk has {part.samples} frames instead of {grid.chunk_frames}")


def covers(track: Track, declared_ms: int | None) -> None:
    """As long as the source says it is."""
    refusal = extent.cut_short(declared_ms, int(track.seconds * 1000))
    if refusal is not None:
        raise refusal


def text(track: Track, written: str, key: str) -> None:
    """The playlist parses, and names exactly the track's segments with their lengths, below their init segments."""
    parsed = playlist.parse(written)
    directory = posixpath.dirname(key)
    expected = [(part.init, segment) for part in track.parts for segment in part.segments]
    if not parsed.ended or len(parsed.entries) != len(expected):
        raise _incomplete(f"the playlist of {track.name} is not complete")
    for entry, (init, segment) in zip(parsed.entries, expected, strict=True):
        seconds = Fraction(segment.ticks, init.timescale)
        named = posixpath.normpath(posixpath.join(directory, entry.uri)) == segment.key
        if not named or abs(seconds - entry.seconds) > ROUNDING_S or entry.init is None:
            raise _incomplete(f"the playlist of {track.name} does not name {segment.key}")
        if round(entry.seconds) > parsed.target_s:
            raise _incomplete(f"{segment.key} is longer than the target duration")


def objects(tracks: Iterable[Track], media: BlobStore, cancellation: Cancellation) -> None:
    """Every object is there, with all its bytes."""
    expected = {key: size for track in tracks for key, size in track.keys.items()}

    def check(item: tuple[str, int]) -> None:
        cancellation.check()
        key, size = item
        facts = media.head(key)
        if facts is None or facts.size_bytes != size or size == 0:
            raise _incomplete(f"{key} is missing or has another size")

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(check, expected.items()))


def _incomplete(what: str) -> Temporary:
    return Temporary(f"The stream is incomplete: {what}.", code="stream_incomplete")
