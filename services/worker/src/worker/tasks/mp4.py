"""MP4 and preview: downloads made of the finished segments, by copy."""

from pathlib import Path

from msgspec import Struct

from reelworks.domain.outcome import Done, Outcome, Outputs
from reelworks.ports import BlobStore
from reelworks.streaming import track
from reelworks.streaming.track import Track
from worker.media.encode.remux import Parts, remux
from worker.media.engine import MediaEngine
from worker.tasks import publish, streams
from worker.tasks.streams import Streams
from worker.work import Work

MP4_TYPE = "video/mp4"
FETCHED, JOINED = 0.4, 0.7
"""Fractions of the whole, by and large."""


class Mp4Dependencies(Struct, frozen=True, kw_only=True):
    """The media bucket and ffmpeg."""

    media: BlobStore
    engine: MediaEngine


def mp4(work: Work, needs: Mp4Dependencies) -> Outcome:
    """Done with `mp4`: the rung that the task's name says (`mp4-720`), with sound, index first."""
    found = streams.load(work, needs.media)
    rung = track.named(found.pictures, work.task.name.partition("-")[2])
    return file(work, needs, Streams(pictures=(rung,), sound=found.sound), "mp4")


def file(
    work: Work, needs: Mp4Dependencies, chosen: Streams, name: str, *, seconds: float | None = None
) -> Outcome:
    """Done with one MP4 of that name, from one rung and the sound."""
    pictures = _fetched(work, needs, chosen.pictures[0] if chosen.pictures else None, seconds)
    sound = _fetched(work, needs, chosen.sound, seconds)
    work.report(FETCHED)
    destination = work.scratch / f"out-{name}.mp4"
    parts = Parts(pictures=pictures, sound=sound, seconds=seconds)
    remux(parts, destination, engine=needs.engine, cancellation=work.cancellation)
    work.report(JOINED)
    key = f"{work.prefix}{name}.mp4"
    needs.media.upload(destination, key, MP4_TYPE, publish.FOREVER)
    return Done(outputs=Outputs(prefix=work.prefix, files={name: key}))


def _fetched(work: Work, needs: Mp4Dependencies, found: Track | None, seconds: float | None) -> Path | None:
    return streams.fetch(work, needs.media, found, seconds=seconds) if found else None
