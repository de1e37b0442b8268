"""The sound of an upload as one HLS rendition: encoded once, whole.

AAC that is encoded per chunk clicks and drifts by about 30 ms at each join, and a whole hour takes seconds.
"""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from msgspec import Struct

from reelworks.domain.timeline import OFFSET_S
from worker.media.command import Command
from worker.media.encode import segmenting, transcoder
from worker.media.encode.segmenting import Segments
from worker.media.encode.transcoder import Transcoding
from worker.media.progress import Progress
from worker.media.report import AudioStream

NAME = "audio"
RATES = (44_100, 48_000)
"""Sample rates that are left as they are; everything else becomes the last. Less is what some players refuse."""
TRUE_PEAK_DB = -1.5
"""Headroom that AAC needs to stay below full scale (EBU R 128 s1 allows −1)."""
LOUDNESS_RANGE = 11
"""Of a film or a talk; filter default 7 is for music."""


class SoundOptions(Struct, frozen=True, kw_only=True):
    """`segment_s`: exact length of segments. `loudness_lufs`: EBU R128 target, None leaves the level alone."""

    segment_s: Fraction
    kbps: int = 128
    loudness_lufs: float | None = None


def encode_sound(
    job: Transcoding,
    stream: AudioStream,
    options: SoundOptions,
    progress: Callable[[float], None] = lambda _: None,
) -> Path:
    """The directory with init segment and segments. Raises what `transcoder.run` raises."""
    (job.directory / NAME).mkdir()
    total_ms = job.file.report.duration_ms or job.engine.limits.max_duration_ms

    def listen(event: Progress) -> None:
        done_ms = event.out_time_us / 1000 - OFFSET_S * 1000
        progress(min(1.0, max(0.0, done_ms / max(1, total_ms))))

    transcoder.run(job, sound_command(job, stream, options), listen)
    return job.directory / NAME


def sound_command(job: Transcoding, stream: AudioStream, options: SoundOptions) -> Command:
    """Pure: the command line only."""
    rate = stream.sample_rate if stream.sample_rate in RATES else RATES[-1]
    segments = Segments(start=Fraction(0), length=options.segment_s)
    outputs = (
        *("-map", f"0:{stream.index}", "-vn", "-sn", "-dn"),
        *("-af", _filters(stream, options)),
        # Stereo always: 5.1 AAC is silent or refused in web players.
        *("-c:a", "aac", "-b:a", f"{options.kbps}k", "-ac", "2", "-ar", str(rate)),
        *("-threads", str(job.engine.tools.threads)),
        *("-t", f"{job.engine.limits.max_duration_ms / 1000:.3f}"),
        *segmenting.output(segments, Path(NAME)),
    )
    return transcoder.command(job, outputs)


def _filters(stream: AudioStream, options: SoundOptions) -> str:
    """Sound that begins later than the picture is preceded by silence, gaps are filled."""
    placed = f"asetpts=PTS-STARTPTS+{stream.start_ms / 1000:.3f}/TB,aresample=async=1:first_pts=0"
    if options.loudness_lufs is None:
        return placed
    target = f"I={options.loudness_lufs}:TP={TRUE_PEAK_DB}:LRA={LOUDNESS_RANGE}"
    return f"{placed},loudnorm={target}"
