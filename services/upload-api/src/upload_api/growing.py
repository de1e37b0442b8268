"""Playlists of uploads that are still being encoded, made when they are asked for."""

import threading
from collections import OrderedDict

from reelworks.domain.outcome import Outputs
from reelworks.domain.snapshot import Snapshot
from reelworks.errors import Temporary
from reelworks.ports import BlobStore
from reelworks.streaming import growing, manifest, master
from reelworks.streaming.manifest import Manifest
from reelworks.streaming.master import Presentation

MASTER = "master.m3u8"
KEPT = 512
"""Manifests in memory. One of a minute has some 10 KB; a player asks for all of them every few seconds."""
PLACE = "growing/"
"""Below the upload's prefix, where these playlists would be if they were stored: their URIs are relative to it."""


class Manifests:
    """Manifests by key. No key is written twice, so what was read once is good for ever."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._known: OrderedDict[str, Manifest] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, outputs: Outputs, media: BlobStore) -> Manifest:
        """Raises Temporary (`manifest_missing`)."""
        with self._lock:
            if (known := self._known.get(outputs.prefix)) is not None:
                self._known.move_to_end(outputs.prefix)
                return known
        found = manifest.read(outputs, media)
        with self._lock:
            self._known[outputs.prefix] = found
            while len(self._known) > self._kept:
                self._known.popitem(last=False)
        return found


def text(snapshot: Snapshot, path: str, media: BlobStore, manifests: Manifests) -> tuple[str, str] | None:
    """The key it would have, and the playlist at `path`; None if there is nothing to play (yet)."""
    ready = growing.committed(snapshot)
    show = _shown(snapshot, ready, media, manifests) if ready else None
    if ready is None or show is None:
        return None
    key = f"processed/{snapshot.upload.user_id}/{snapshot.upload.upload_id}/{PLACE}{path}"
    if path == MASTER:
        return key, master.write(show)
    name = path.removesuffix("/playlist.m3u8")
    written = growing.media_playlist(show, name, key, whole=ready.whole) if name != path else None
    return (key, written) if written is not None else None


def _shown(
    snapshot: Snapshot, ready: growing.Committed, media: BlobStore, manifests: Manifests
) -> Presentation | None:
    plan = snapshot.upload.plan
    try:
        chunks = [manifests.read(outputs, media) for outputs in ready.chunks]
        sound = manifests.read(ready.sound, media) if ready.sound else None
    except Temporary:
        return None
    return growing.presentation(plan.video if plan else None, chunks, sound, whole=ready.whole)
