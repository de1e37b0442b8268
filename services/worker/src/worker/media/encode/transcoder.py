"""One ffmpeg run over an uploaded file: what all runs have in common, and what their failures mean."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from msgspec import Struct

from reelworks.errors import Permanent, Temporary
from reelworks.runtime.cancellation import Cancellation
from worker.media.audio import MediaFile
from worker.media.command import Command, Finished
from worker.media.engine import MediaEngine
from worker.media.hostile import MAX_BLOCK_BYTES, file_url, input_options
from worker.media.progress import Progress

TIMEOUT_S = 6 * 3_600.0
"""Six minutes of 4K with a slow preset on one core take about two hours. Hangs are found by the stall limit."""
MAX_FILE_BYTES = 2_000_000_000
"""Of one segment; ten seconds of 4K noise have 150 MB."""


class Transcoding(Struct, frozen=True, kw_only=True):
    """What it works with. `directory`: scratch, where the outputs go."""

    file: MediaFile
    directory: Path
    engine: MediaEngine
    cancellation: Cancellation


def command(job: Transcoding, outputs: tuple[str, ...], seek: Fraction | None = None) -> Command:
    """ffmpeg with the upload as its only input, bounded in every way, then `outputs`."""
    tools, limits = job.engine.tools, job.engine.limits
    return Command(
        argv=(
            tools.ffmpeg,
            *("-hide_banner", "-nostdin", "-nostats", "-y"),
            *("-v", "error"),
            *("-progress", "pipe:1"),
            *("-max_alloc", str(MAX_BLOCK_BYTES)),
            # Before -i for the decoder, then for filters; outputs say it again for the encoder. Each defaults to the
            # host's cores.
            *("-threads", str(tools.threads)),
            *("-filter_complex_threads", str(tools.threads)),
            *input_options(max_pixels=limits.max_pixels),
            # The graph turns the picture: ffmpeg itself knows matrices, not the `rotate` tag of old phones.
            "-noautorotate",
            # Not accurate: from the keyframe on, so that the graph sees the picture which is on screen there.
            *(() if seek is None else ("-noaccurate_seek", "-ss", f"{float(seek):.6f}")),
            *("-i", file_url(job.file.path)),
            *outputs,
        ),
        timeout_s=TIMEOUT_S,
        stall_s=limits.stall_s,
        max_file_bytes=MAX_FILE_BYTES,
        cwd=job.directory,
    )


def run(job: Transcoding, command: Command, on_progress: Callable[[Progress], None]) -> None:
    """Raises `Permanent` (`undecodable`), `Temporary` (`encode_crashed`, `scratch_full`) and what the runner raises.

    Damage within a file is no failure: what decodes, counts; how much that must be is for the caller.
    """
    finished = job.engine.runner.run(command, cancellation=job.cancellation, on_progress=on_progress)
    if finished.exit_code != 0:
        raise _failure(finished)


def _failure(finished: Finished) -> Permanent | Temporary:
    if finished.crashed:
        return Temporary(f"Encoding failed (signal {-finished.exit_code}).", code="encode_crashed")
    if "No space left on device" in finished.stderr_tail:
        return Temporary("The worker ran out of scratch space.", code="scratch_full")
    return Permanent(
        "This file cannot be decoded. Export it as MP4 with H.264 and AAC and upload it again.",
        code="undecodable",
    )
