"""How long a media segment is and how many samples it has, by its own index: exact, without decoding."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from worker.media.hls.boxes import Box, malformed, parse
from worker.media.hls.init_segment import InitFacts

MAX_INDEX_BYTES = 4_000_000
"""Of one moof; ten seconds of 120 frames have 20 KB."""
NOT_SYNC = 0x10000
"""sample_is_non_sync_sample (14496-12, 8.8.3.1)."""
BASE, INDEX, DURATION, SIZE, FLAGS = 0x1, 0x2, 0x8, 0x10, 0x20
"""Optional fields of tfhd, in their order: base data offset, description, default duration, size and flags."""
DATA_OFFSET, FIRST_FLAGS, RUN_DURATION, RUN_SIZE, RUN_FLAGS, RUN_OFFSET = 0x1, 0x4, 0x100, 0x200, 0x400, 0x800
"""Optional fields of trun."""


class Fragment(Struct, frozen=True, kw_only=True):
    """In ticks of the init segment's scale. `start`: decoding time of the first sample. `sync`: it is a keyframe."""

    start: int
    ticks: int
    samples: int
    sync: bool


def measure(path: Path, init: InitFacts) -> Fragment | None:
    """The whole segment, however many fragments are in it; None for one without any, which is what ffmpeg leaves when
    there was nothing to encode. Raises Temporary (`segment_damaged`)."""
    parts = [_fragment(box, init) for box in _indexes(path)]
    if not parts:
        return None
    return Fragment(
        start=parts[0].start,
        ticks=sum(part.ticks for part in parts),
        samples=sum(part.samples for part in parts),
        sync=parts[0].sync,
    )


def _indexes(path: Path) -> Iterator[Box]:
    """Every moof; the media data between them is skipped, not read."""
    end = path.stat().st_size
    with path.open("rb") as file:
        at = 0
        while at < end:
            file.seek(at)
            header = file.read(8)
            size = int.from_bytes(header[:4], "big")
            if size < 8 or at + size > end:
                raise malformed("a box is cut off")
            if header[4:] == b"moof":
                if size > MAX_INDEX_BYTES:
                    raise malformed("a moof is too large")
                yield next(parse(memoryview(header + file.read(size - 8))))
            at += size


def _fragment(moof: Box, init: InitFacts) -> Fragment:
    track = moof.find("traf")
    duration, flags = _defaults(track.find("tfhd"), init)
    decode = track.find("tfdt")
    runs = [_run(box, duration, flags) for box in track.children() if box.kind == "trun"]
    if not runs:
        raise malformed("no trun")
    return Fragment(
        start=decode.number(4, 8 if decode.number(0, 1) == 1 else 4),
        ticks=sum(ticks for ticks, _, _ in runs),
        samples=sum(samples for _, samples, _ in runs),
        sync=runs[0][2],
    )


def _defaults(header: Box, init: InitFacts) -> tuple[int, int]:
    """Duration and flags of samples that have none of their own."""
    present = header.number(1, 3)
    at, duration, flags = 8, init.default_duration, init.default_flags
    for field, size in ((BASE, 8), (INDEX, 4), (DURATION, 4), (SIZE, 4), (FLAGS, 4)):
        if not present & field:
            continue
        if field == DURATION:
            duration = header.number(at, size)
        elif field == FLAGS:
            flags = header.number(at, size)
        at += size
    return duration, flags


def _run(run: Box, duration: int, flags: int) -> tuple[int, int, bool]:
    """Ticks, samples, and whether the first is a keyframe."""
    present, samples = run.number(1, 3), run.number(4, 4)
    at = 8 + 4 * bool(present & DATA_OFFSET)
    first = run.number(at, 4) if present & FIRST_FLAGS else None
    at += 4 * bool(present & FIRST_FLAGS)
    fields = [bit for bit in (RUN_DURATION, RUN_SIZE, RUN_FLAGS, RUN_OFFSET) if present & bit]
    stride = 4 * len(fields)
    if first is None:
        own = RUN_FLAGS in fields and samples
        first = run.number(at + 4 * fields.index(RUN_FLAGS), 4) if own else flags
    ticks = samples * duration
    if RUN_DURATION in fields:
        ticks = sum(run.number(at + n * stride, 4) for n in range(samples))
    return ticks, samples, not first & NOT_SYNC
