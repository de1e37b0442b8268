"""The segments that ffmpeg left in a directory, as a rendition with the keys they are going to have."""

import hashlib
from pathlib import Path

from reelworks.streaming.manifest import Init, Rendition, Segment
from worker.media.encode.segmenting import INIT_NAME
from worker.media.hls import fragments, init_segment
from worker.media.hls.boxes import malformed
from worker.media.hls.init_segment import InitFacts


def rendition(directory: Path, prefix: str) -> Rendition | None:
    """`prefix`: where the directory's files go, ends in "/". None if nothing was encoded.

    Every segment must begin with a keyframe. Raises Temporary (`segment_damaged`).
    """
    paths = sorted(directory.glob("*.m4s"))
    if not paths:
        return None
    data = (directory / INIT_NAME).read_bytes()
    facts = init_segment.read(data)
    found = [_segment(path, facts, prefix) for path in paths]
    segments = tuple(segment for segment in found if segment is not None)
    if None in found[:-1]:
        raise malformed("a segment in the middle is empty")
    return (
        Rendition(name=directory.name, init=_init(data, facts, prefix), segments=segments)
        if segments
        else None
    )


def _init(data: bytes, facts: InitFacts, prefix: str) -> Init:
    return Init(
        key=prefix + INIT_NAME,
        sha256=hashlib.sha256(data).hexdigest(),
        bytes=len(data),
        codec=facts.codec,
        timescale=facts.timescale,
        width=facts.width,
        height=facts.height,
        channels=facts.channels,
        sample_rate=facts.sample_rate,
    )


def _segment(path: Path, facts: InitFacts, prefix: str) -> Segment | None:
    found = fragments.measure(path, facts)
    if found is None:
        return None
    if not found.sync or not found.samples:
        raise malformed(f"{path.name} does not begin with a keyframe")
    return Segment(
        key=prefix + path.name,
        start=found.start,
        ticks=found.ticks,
        samples=found.samples,
        bytes=path.stat().st_size,
    )
