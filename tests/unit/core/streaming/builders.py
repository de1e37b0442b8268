"""Tracks as tasks would leave them, without any media behind."""

from typing import Any

from reelworks.streaming.manifest import Init, Rendition, Segment
from reelworks.streaming.track import Track

TASKS = "processed/u/1/tasks"
PACKAGE = f"{TASKS}/package/t9"


def init(prefix: str, **changes: Any) -> Init:
    fields: dict[str, Any] = {
        "key": f"{prefix}init.mp4",
        "sha256": "same",
        "bytes": 900,
        "codec": "avc1.64001f",
        "timescale": 30_000,
        "width": 1280,
        "height": 720,
    }
    return Init(**{**fields, **changes})


def chunk(
    number: int, frames: tuple[int, ...] = (120, 120), size: int = 100_000, **changes: Any
) -> Rendition:
    """A chunk of 29.97 frames a second."""
    prefix = f"{TASKS}/video-{number:03d}/t{number}/720/"
    segments = tuple(
        Segment(
            key=f"{prefix}{number * 2 + at:05d}.m4s",
            start=30_000 + (number * 240 + at * 120) * 1001,
            ticks=count * 1001,
            samples=count,
            bytes=size,
        )
        for at, count in enumerate(frames)
    )
    return Rendition(name="720", init=init(prefix, **changes), segments=segments)


def pictures(*parts: Rendition) -> Track:
    return Track(name="720", parts=parts or (chunk(0), chunk(1, (120, 60))))


def sound(size: int = 64_000) -> Track:
    prefix = f"{TASKS}/audio/t5/audio/"
    facts = init(
        prefix,
        codec="mp4a.40.2",
        timescale=48_000,
        width=0,
        height=0,
        channels=2,
        sample_rate=48_000,
    )
    segments = tuple(
        Segment(
            key=f"{prefix}{n:05d}.m4s", start=46_976 + n * 192_000, ticks=192_000, samples=187, bytes=size
        )
        for n in range(4)
    )
    return Track(name="audio", parts=(Rendition(name="audio", init=facts, segments=segments),))
