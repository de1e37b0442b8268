"""A small file for speech services with a size limit."""

from pathlib import Path

from reelworks.errors import Temporary
from reelworks.runtime.cancellation import Cancellation
from worker.media.audio import AudioClip
from worker.media.command import Command
from worker.media.engine import MediaEngine
from worker.media.hostile import file_url

BITRATE = "32k"
"""25 MB hold 1 h 44 min. MP3 is what every OpenAI-compatible server reads; at 16 kHz mono it sounds clean."""


def compress_speech(clip: AudioClip, *, engine: MediaEngine, cancellation: Cancellation) -> AudioClip:
    """An MP3 beside the WAV, of the same length. Raises `Temporary` (`compress_failed`): the WAV is our own."""
    destination = clip.path.with_suffix(".mp3")
    command = _command(clip.path, destination, engine)
    finished = engine.runner.run(command, cancellation=cancellation, on_progress=lambda _: None)
    if finished.exit_code != 0:
        raise Temporary("Compressing the sound for the speech service failed.", code="compress_failed")
    return AudioClip(path=destination, duration_ms=clip.duration_ms)


def _command(source: Path, destination: Path, engine: MediaEngine) -> Command:
    return Command(
        argv=(
            engine.tools.ffmpeg,
            *("-hide_banner", "-nostdin", "-nostats", "-y"),
            *("-v", "error"),
            *("-progress", "pipe:1"),
            *("-threads", str(engine.tools.threads)),
            *("-f", "wav", "-i", file_url(source)),
            *("-c:a", "libmp3lame", "-b:a", BITRATE),
            *("-f", "mp3", file_url(destination)),
        ),
        timeout_s=engine.limits.decode_timeout_s,
        stall_s=engine.limits.stall_s,
    )
