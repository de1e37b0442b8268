"""Playlists whose segments are presigned: the bucket is private, and a player follows what a playlist names.

Playlists name each other relative to this API, so only the files behind them are signed. Nothing outside the upload's
own prefix is ever signed, whatever a playlist says.
"""

import posixpath
import re
from collections.abc import Callable

from msgspec import Struct

from reelworks.domain import snapshot as snapshots
from reelworks.domain.keys import valid_upload_id
from reelworks.domain.outcome import Outputs
from reelworks.domain.plan import TaskKind
from reelworks.domain.snapshot import Snapshot
from upload_api import growing
from upload_api.dependencies import Dependencies
from upload_api.errors import UnknownUpload
from upload_api.results import STORYBOARD

MAX_BYTES = 4_000_000
"""Six hours in two-second segments are 10,800 lines, some 2 MB."""
PLAYLIST_TYPE = "application/vnd.apple.mpegurl"
VTT_TYPE = "text/vtt"
NOTHING = "There is no such stream (yet)."

_PATH = re.compile(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_.-]+)*\.(m3u8|vtt)")
_URI = re.compile(r'URI="([^"]+)"')


class Page(Struct, frozen=True, kw_only=True):
    """What to answer. `growing`: another time there will be more."""

    body: str
    content_type: str
    growing: bool = False


def page(upload_id: str, path: str, deps: Dependencies) -> Page:
    """A playlist, captions or the storyboard. UnknownUpload for anything that is not there."""
    snapshot = deps.store.load(upload_id) if valid_upload_id(upload_id) else None
    if snapshot is None or not _PATH.fullmatch(path) or ".." in path:
        raise UnknownUpload(NOTHING)
    key, text, grows = _found(snapshot, path, deps)
    own = f"processed/{snapshot.upload.user_id}/{upload_id}/"

    def signed(uri: str) -> str:
        return _signed(uri, folder=posixpath.dirname(key), own=own, deps=deps)

    if path.endswith(".m3u8"):
        return Page(body=_playlist(text, signed), content_type=PLAYLIST_TYPE, growing=grows)
    body = _storyboard(text, signed) if path == STORYBOARD else text
    return Page(body=body, content_type=VTT_TYPE)


def _found(snapshot: Snapshot, path: str, deps: Dependencies) -> tuple[str, str, bool]:
    """Its key, what is there, and whether it will grow: as published, or over what is encoded so far."""
    outputs = _outputs(snapshot, path)
    if outputs is not None:
        return outputs.prefix + path, _text(outputs.prefix + path, deps), False
    made = growing.text(snapshot, path, deps.media, deps.manifests)
    if made is None:
        raise UnknownUpload(NOTHING)
    return *made, True


def _outputs(snapshot: Snapshot, path: str) -> Outputs | None:
    kind = TaskKind.STORYBOARD if path == STORYBOARD else TaskKind.PACKAGE
    found = [t.outputs for t in snapshots.results(snapshot).values() if t.kind is kind]
    return found[0] if found else None


def _text(key: str, deps: Dependencies) -> str:
    body = deps.media.get(key, MAX_BYTES)
    if body is None:
        raise UnknownUpload(NOTHING)
    return body.decode("utf-8", "replace")


def _playlist(text: str, signed: Callable[[str], str]) -> str:
    """Both places where a playlist names something: a line of its own, and a tag's URI."""

    def line(found: str) -> str:
        if found.startswith("#"):
            return _URI.sub(lambda match: f'URI="{signed(match[1])}"', found)
        return signed(found) if found.strip() else found

    return "\n".join(line(found) for found in text.split("\n"))


def _storyboard(text: str, signed: Callable[[str], str]) -> str:
    """A cue's text is `sheet.jpg#xywh=…`; the fragment stays behind the signature."""

    def line(found: str) -> str:
        name, mark, fragment = found.partition("#xywh=")
        return f"{signed(name)}{mark}{fragment}" if mark else found

    return "\n".join(line(found) for found in text.split("\n"))


def _signed(uri: str, *, folder: str, own: str, deps: Dependencies) -> str:
    """Playlists and captions come through here again; everything else is fetched from the bucket."""
    if uri.endswith((".m3u8", ".vtt")):
        return uri
    key = posixpath.normpath(posixpath.join(folder, uri))
    if "://" in uri or not key.startswith(own):
        raise UnknownUpload(NOTHING)
    return deps.media.sign_get(key, deps.policy.url_expires_s)
