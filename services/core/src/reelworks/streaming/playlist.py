"""Media playlists (RFC 8216): written from measured segments, and read back to be checked."""

import posixpath
import re
from collections.abc import Iterator
from fractions import Fraction

from msgspec import Struct

from reelworks.errors import Temporary
from reelworks.streaming.manifest import Init
from reelworks.streaming.track import Track

VERSION = 7
"""fMP4 with EXT-X-MAP needs 6; Apple's tools and ffmpeg write 7."""
CONTENT_TYPE = "application/vnd.apple.mpegurl"


def relative(key: str, playlist_key: str) -> str:
    """The URI of an object in a playlist. Keys have nothing in them that needs escaping but a user id, which both
    share."""
    return posixpath.relpath(key, posixpath.dirname(playlist_key))


def target_duration(durations: tuple[Fraction, ...]) -> int:
    """No EXTINF, rounded to the nearest second, is longer (4.3.3.1); at least one."""
    return max(1, *(int(d + Fraction(1, 2)) for d in durations))


def write(track: Track, key: str, target_s: int, *, ended: bool = True) -> str:
    """The playlist at `key`. Not `ended`: more segments will be appended, the player is to ask again."""
    lines = [
        "#EXTM3U",
        f"#EXT-X-VERSION:{VERSION}",
        f"#EXT-X-TARGETDURATION:{target_s}",
        "#EXT-X-MEDIA-SEQUENCE:0",
        f"#EXT-X-PLAYLIST-TYPE:{'VOD' if ended else 'EVENT'}",
        "#EXT-X-INDEPENDENT-SEGMENTS",
        *_segments(track, key),
        *(["#EXT-X-ENDLIST"] if ended else []),
    ]
    return "\n".join(lines) + "\n"


def _segments(track: Track, key: str) -> Iterator[str]:
    """One EXT-X-MAP for chunks whose init segments are the same, else a new one for each that differs."""
    current: Init | None = None
    for part in track.parts:
        if current is None or part.init.sha256 != current.sha256:
            if current is not None and _breaks(current, part.init):
                yield "#EXT-X-DISCONTINUITY"
            current = part.init
            yield f'#EXT-X-MAP:URI="{relative(current.key, key)}"'
        for segment in part.segments:
            yield f"#EXTINF:{segment.ticks / part.init.timescale:.6f},"
            yield relative(segment.key, key)


def _breaks(before: Init, after: Init) -> bool:
    """New parameter sets alone are no discontinuity, and one in the pictures only would make players wait for the
    sound's."""
    return (before.timescale, before.width, before.height) != (after.timescale, after.width, after.height)


class Entry(Struct, frozen=True, kw_only=True):
    """A segment as a player sees it. `uri` and `init` as written; `init` None: none was named before it."""

    uri: str
    seconds: float
    init: str | None


class Parsed(Struct, frozen=True, kw_only=True):
    """A media playlist."""

    target_s: int
    entries: tuple[Entry, ...]
    ended: bool


def parse(text: str) -> Parsed:
    """The inverse of `write`, as strict. Raises Temporary (`playlist_broken`)."""
    lines = text.splitlines()
    target = re.search(r"^#EXT-X-TARGETDURATION:(\d+)$", text, re.MULTILINE)
    if not lines or lines[0] != "#EXTM3U" or target is None:
        raise _broken("it has no header")
    return Parsed(
        target_s=int(target[1]), entries=tuple(_entries(lines)), ended=lines[-1] == "#EXT-X-ENDLIST"
    )


def _entries(lines: list[str]) -> Iterator[Entry]:
    init: str | None = None
    seconds: float | None = None
    for line in lines:
        if line.startswith("#EXT-X-MAP:"):
            init = line.partition('URI="')[2].rstrip('"')
        elif line.startswith("#EXTINF:"):
            seconds = float(line.removeprefix("#EXTINF:").partition(",")[0])
        elif line and not line.startswith("#"):
            if seconds is None:
                raise _broken(f"{line} has no duration")
            yield Entry(uri=line, seconds=seconds, init=init)
            seconds = None


def _broken(what: str) -> Temporary:
    return Temporary(f"A media playlist is broken: {what}.", code="playlist_broken")
