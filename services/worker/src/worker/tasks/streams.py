"""What the `audio` and `video` tasks of an upload have left, as tracks: for `package`, `preview` and `mp4`."""

from pathlib import Path

from msgspec import Struct

from reelworks.domain.plan import TaskKind
from reelworks.errors import Permanent, Temporary
from reelworks.ports import BlobStore
from reelworks.streaming import manifest, track
from reelworks.streaming.track import Track
from worker.work import Work

MAX_SEGMENT_BYTES = 500_000_000


class Streams(Struct, frozen=True, kw_only=True):
    """`pictures`: smallest rung first."""

    pictures: tuple[Track, ...]
    sound: Track | None


def load(work: Work, media: BlobStore) -> Streams:
    """Raises Temporary if a manifest is not there, Permanent if nothing was encoded at all."""
    pictures = track.join(_manifests(work, media, TaskKind.VIDEO))
    sound = track.join(_manifests(work, media, TaskKind.AUDIO))
    if not pictures and not sound:
        raise Permanent("There is nothing to play in this file.", code="no_streams")
    by_size = sorted(pictures, key=lambda t: t.init.width * t.init.height)
    return Streams(pictures=tuple(by_size), sound=sound[0] if sound else None)


def _manifests(work: Work, media: BlobStore, kind: TaskKind) -> list[manifest.Manifest]:
    """In the order of the plan, which is that of the chunks."""
    names = [task.name for task in work.upload.plan.tasks if task.kind is kind] if work.upload.plan else []
    if missing := [name for name in names if name not in work.inputs]:
        raise Temporary(f"Tasks {', '.join(missing)} have no outputs.", code="inputs_missing")
    return [manifest.read(work.inputs[name], media) for name in names]


def fetch(work: Work, media: BlobStore, found: Track, *, seconds: float | None = None) -> Path:
    """The track as one local file, init segment first; only the segments of the first `seconds`."""
    if not found.uniform:
        raise Permanent("The chunks of this rendition cannot be joined into one file.", code="mixed_chunks")
    path = work.scratch / f"{found.name}.mp4"
    position = 0.0
    with path.open("wb") as file:
        file.write(_bytes(media, found.init.key))
        for segment, duration in zip(found.segments, found.durations, strict=True):
            work.cancellation.check()
            if seconds is not None and position >= seconds:
                break
            file.write(_bytes(media, segment.key))
            position += float(duration)
    return path


def _bytes(media: BlobStore, key: str) -> bytes:
    body = media.get(key, MAX_SEGMENT_BYTES)
    if body is None:
        raise Temporary(f"The segment {key} is not there.", code="stream_incomplete")
    return body
