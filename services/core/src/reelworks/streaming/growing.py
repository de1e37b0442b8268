"""A stream that can be watched while its later chunks are still being encoded.

What is committed never changes, so a playlist over it only ever gets longer, and the packaged one begins with the same
lines. Without a gap: what comes after a chunk that is not there yet has to wait for it.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction

from msgspec import Struct, structs

from reelworks.domain.outcome import Outputs
from reelworks.domain.plan import TaskKind, VideoPlan
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.task import Task, TaskStatus
from reelworks.domain.upload import UploadStatus
from reelworks.streaming import playlist, track
from reelworks.streaming.manifest import Manifest, Rendition
from reelworks.streaming.master import Presentation
from reelworks.streaming.track import Track


class Committed(Struct, frozen=True, kw_only=True):
    """What may be played by now: outputs of the first chunks, and of the sound. `whole`: nothing is missing."""

    chunks: tuple[Outputs, ...] = ()
    sound: Outputs | None = None
    whole: bool = False


def committed(snapshot: Snapshot) -> Committed | None:
    """None before there is anything to play, and once nothing more will come: FAILED and CANCELLED uploads would let
    players wait for ever.

    With sound still missing nothing is playable: a player that began without it would not look for it again.
    """
    upload = snapshot.upload
    if upload.plan is None or upload.status is not UploadStatus.PROCESSING:
        return None
    chunks = [snapshot.tasks.get(t.name) for t in upload.plan.tasks if t.kind is TaskKind.VIDEO]
    sounds = [snapshot.tasks.get(t.name) for t in upload.plan.tasks if t.kind is TaskKind.AUDIO]
    done, heard = tuple(_first_done(chunks)), tuple(_first_done(sounds))
    if len(heard) < len(sounds) or not (done if chunks else heard):
        return None
    return Committed(chunks=done, sound=heard[0] if heard else None, whole=len(done) == len(chunks))


def _first_done(tasks: Iterable[Task | None]) -> Iterator[Outputs]:
    """Up to the first that is not."""
    for task in tasks:
        if task is None or task.status is not TaskStatus.DONE or task.outputs is None:
            return
        yield task.outputs


def presentation(
    video: VideoPlan | None, chunks: Iterable[Manifest], sound: Manifest | None, *, whole: bool
) -> Presentation | None:
    """What the manifests of the committed tasks have to show; None if that is nothing.

    The target duration is the one that the packaged playlists will have: it must not change under a player.
    """
    pictures = tuple(sorted(track.join(chunks), key=lambda t: t.init.width * t.init.height))
    heard = next(iter(track.join([sound] if sound else [])), None)
    if not pictures and (video is not None or heard is None):
        return None
    planned = () if whole or video is None else (video.grid.segment_frames / video.grid.fps,)
    durations = [d for t in (*pictures, *([heard] if heard else [])) for d in t.durations]
    return Presentation(
        pictures=pictures,
        sound=heard if whole or heard is None else _until(heard, pictures[0].seconds),
        target_s=playlist.target_duration((*durations, *planned)),
        frame_rate=float(video.grid.fps) if video else None,
    )


def _until(sound: Track, end: Fraction) -> Track:
    """The segments that begin before `end`: sound and pictures are to last about as long."""
    return Track(name=sound.name, parts=tuple(_part_until(part, end) for part in sound.parts[:1]))


def _part_until(part: Rendition, end: Fraction) -> Rendition:
    first = part.segments[0].start
    limit = end * part.init.timescale
    return structs.replace(part, segments=tuple(s for s in part.segments if s.start - first < limit))


def media_playlist(show: Presentation, name: str, key: str, *, whole: bool) -> str | None:
    """The playlist of one track, as if it were at `key`; None if there is no such track."""
    for found in (*show.pictures, *([show.sound] if show.sound else [])):
        if found.name == name:
            return playlist.write(found, key, show.target_s, ended=whole)
    return None
