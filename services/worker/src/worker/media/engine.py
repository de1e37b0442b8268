"""What every media operation works with: the programs, the runner and the limits. Built once, in bootstrap."""

from msgspec import Struct

from worker.media.hostile import MAX_PIXELS
from worker.media.runner import Runner
from worker.media.tools import Tools


class MediaLimits(Struct, frozen=True, kw_only=True):
    """What one uploaded file may ask of us."""

    max_streams: int = 64
    """A multi-language master has about 30."""
    max_duration_ms: int = 6 * 3_600_000
    """Six hours of sound are 690 MB of 16 kHz scratch WAV."""
    max_pixels: int = MAX_PIXELS
    """Of one picture."""
    probe_timeout_s: float = 60.0
    """Probing reads a few MB and takes well below a second."""
    decode_timeout_s: float = 3_600.0
    """Six hours of sound take about a minute on one core."""
    stall_s: float = 60.0
    """ffmpeg reports twice a second: a minute of nothing is a hang, however slow the node."""


class MediaEngine(Struct, frozen=True, kw_only=True):
    """Thread-safe; one for the whole worker."""

    tools: Tools
    runner: Runner
    limits: MediaLimits = MediaLimits()
