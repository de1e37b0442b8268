"""Segments as one progressive MP4, by stream copy: the same pictures and sound, never encoded again."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from reelworks.domain.timeline import OFFSET_S
from reelworks.errors import Temporary
from reelworks.runtime.cancellation import Cancellation
from worker.media.command import Command
from worker.media.engine import MediaEngine
from worker.media.hostile import file_url, input_options

TIMEOUT_S = 3_600.0
"""It is disk speed; faststart reads and writes everything twice."""


class Parts(Struct, frozen=True, kw_only=True):
    """Local files, each an init segment and its segments in a row; one may be missing. `seconds`: only so many."""

    pictures: Path | None
    sound: Path | None
    seconds: float | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """Those that are there."""
        return tuple(path for path in (self.pictures, self.sound) if path)


def remux(parts: Parts, destination: Path, *, engine: MediaEngine, cancellation: Cancellation) -> None:
    """Write `destination`. Raises Temporary (`remux_failed`)."""
    command = remux_command(parts, destination, engine)
    # The listener makes the runner read stdout as progress, which is what its stall limit watches.
    finished = engine.runner.run(command, cancellation=cancellation, on_progress=lambda _: None)
    if finished.exit_code != 0 or not destination.exists() or not destination.stat().st_size:
        raise Temporary("Joining the segments into a file failed.", code="remux_failed")


def remux_command(parts: Parts, destination: Path, engine: MediaEngine) -> Command:
    """Pure: the command line only."""
    return Command(
        argv=(
            engine.tools.ffmpeg,
            *("-hide_banner", "-nostdin", "-nostats", "-y", "-v", "error", "-progress", "pipe:1"),
            # Else each input would be shifted to 0 on its own, and sound and pictures with it: by up to 21 ms.
            "-copyts",
            *_inputs(parts),
            *("-c", "copy"),
            # Counted on media time, which begins a second late.
            *(() if parts.seconds is None else ("-t", f"{parts.seconds + OFFSET_S:.3f}")),
            *("-output_ts_offset", str(-OFFSET_S)),
            # The index first: plays while it loads.
            *("-movflags", "+faststart", "-map_metadata", "-1", "-bitexact"),
            *("-f", "mp4", file_url(destination)),
        ),
        timeout_s=TIMEOUT_S,
        stall_s=engine.limits.stall_s,
    )


def _inputs(parts: Parts) -> Iterator[str]:
    """Our own files, and still opened with care: what is in them came from an upload."""
    for path in parts.paths:
        yield from (*input_options(demuxers=("mov",)), "-i", file_url(path))
    for number in range(len(parts.paths)):
        yield from ("-map", f"{number}:0")
