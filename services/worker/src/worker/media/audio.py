"""The sound of a file as speech engines want it: one 16 kHz mono WAV on the file's own timeline."""

import wave
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from reelworks.errors import Permanent, Temporary
from reelworks.runtime.cancellation import Cancellation
from worker.media import refusals
from worker.media.command import Command, Finished
from worker.media.engine import MediaEngine
from worker.media.hostile import MAX_BLOCK_BYTES, file_url, input_options
from worker.media.progress import Progress
from worker.media.report import AudioStream, MediaReport

SAMPLE_RATE = 16_000
"""What every engine we know is trained on (pocketsphinx en-us, Whisper)."""
BYTES_PER_MS = SAMPLE_RATE * 2 // 1000

INDEXED = frozenset({"mov", "matroska", "flac"})
"""Formats whose header or index says how long they are. The rest (mp3, wav, mpegts) estimate it
from the size of the file."""


class AudioClip(Struct, frozen=True, kw_only=True):
    """A 16 kHz mono 16-bit WAV; second 0 is second 0 of the upload."""

    path: Path
    duration_ms: int


class MediaFile(Struct, frozen=True, kw_only=True):
    """A local file and what `probe` said about it."""

    path: Path
    report: MediaReport


def extract_speech_audio(
    file: MediaFile,
    destination: Path,
    *,
    engine: MediaEngine,
    cancellation: Cancellation,
    progress: Callable[[float], None] = lambda _: None,
) -> AudioClip | None:
    """Decode the audio people hear into `destination`; None if the file has none. Memory stays flat.

    `progress` gets fractions from 0 to 1. Raises `Permanent` (`truncated`, `undecodable_audio`, `too_long`,
    `scratch_limit`), `Temporary` (`decode_crashed`, `scratch_full`, `media_stalled`, `media_timeout`).
    """
    stream = file.report.speech
    if stream is None:
        return None
    longest_ms = engine.limits.max_duration_ms
    finished = engine.runner.run(
        _command(file.path, destination, stream, engine),
        cancellation=cancellation,
        on_progress=_fraction(progress, file.report.duration_ms or longest_ms),
    )
    clip = AudioClip(path=destination, duration_ms=_decoded(destination, finished, stream))
    if clip.duration_ms > longest_ms:
        raise refusals.too_long(longest_ms)
    refuse_truncated(file.report, stream, clip.duration_ms)
    progress(1.0)
    return clip


def _command(source: Path, destination: Path, stream: AudioStream, engine: MediaEngine) -> Command:
    tools, limits = engine.tools, engine.limits
    # A second more than allowed, so that "too long" can be told from "just fits".
    longest_ms = limits.max_duration_ms + 1_000
    return Command(
        argv=(
            tools.ffmpeg,
            *("-hide_banner", "-nostdin", "-nostats", "-y"),
            *("-v", "error"),
            *("-progress", "pipe:1"),
            *("-max_alloc", str(MAX_BLOCK_BYTES)),
            # Before -i for the decoder, after it for the encoder: each defaults to the host's cores.
            *("-threads", str(tools.threads)),
            *input_options(max_pixels=limits.max_pixels),
            *("-i", file_url(source)),
            *("-map", f"0:{stream.index}", "-vn", "-sn", "-dn"),
            *("-af", _timeline(stream)),
            *("-ac", "1", "-ar", str(SAMPLE_RATE), "-c:a", "pcm_s16le"),
            *("-threads", str(tools.threads)),
            *("-t", f"{longest_ms / 1000:.3f}"),
            # No encoder tags, so the file is a function of its input; no metadata or chapters copied either.
            *("-map_metadata", "-1", "-map_chapters", "-1", "-bitexact"),
            *("-f", "wav", file_url(destination)),
        ),
        timeout_s=limits.decode_timeout_s,
        stall_s=limits.stall_s,
        max_file_bytes=longest_ms * BYTES_PER_MS + 64 * 1024,
    )


def _timeline(stream: AudioStream) -> str:
    """Put the first sample where it belongs and fill the gap before it, and any later one, with silence.

    ffmpeg itself shifts input so that its first timestamp is 0, but of which streams depends on the format: for
    MPEG-TS only of those in use, and audio that starts later than the picture would begin too early. So the shift
    is stated here. `async=1` fills and trims where timestamps jump, without stretching.
    """
    return f"asetpts=PTS-STARTPTS+{stream.start_ms / 1000:.3f}/TB,aresample=async=1:first_pts=0"


def _fraction(progress: Callable[[float], None], total_ms: int) -> Callable[[Progress], None]:
    return lambda event: progress(min(1.0, max(0.0, event.out_time_us / 1000 / max(1, total_ms))))


def _decoded(destination: Path, finished: Finished, stream: AudioStream) -> int:
    """Duration of what was written, in ms. Damage within a file is no failure: what decodes, counts."""
    if finished.crashed:
        raise Temporary(f"Decoding the sound failed (signal {-finished.exit_code}).", code="decode_crashed")
    if "No space left on device" in finished.stderr_tail:
        raise Temporary("The worker ran out of scratch space.", code="scratch_full")
    if finished.exit_code != 0:
        raise refusals.undecodable_audio(stream.codec)
    return wav_duration_ms(destination)


def wav_duration_ms(path: Path) -> int:
    """Length of a PCM WAV file; raises `Permanent` if it is none."""
    try:
        with wave.open(str(path), "rb") as wav:
            return wav.getnframes() * 1000 // wav.getframerate()
    except (wave.Error, EOFError, FileNotFoundError) as error:
        raise Permanent("The extracted sound is not a WAV file.", code="undecodable_audio") from error


def refuse_truncated(report: MediaReport, stream: AudioStream, decoded_ms: int) -> None:
    """ffmpeg decodes half a file and exits 0, so the result is compared with what the file declares.

    More than 1 s and more than 2 % must be missing: encoder delay, edit lists and rounding explain less.
    """
    declared_ms = _declared_end(report, stream)
    if declared_ms is None or not INDEXED & set(report.formats):
        return
    missing = declared_ms - decoded_ms
    if missing > max(1_000, declared_ms * 2 // 100):
        raise refusals.cut_short(declared_ms=declared_ms, decoded_ms=decoded_ms)


def _declared_end(report: MediaReport, stream: AudioStream) -> int | None:
    """Where the track ends; the whole file's duration says so only if there is no other stream to outlast it."""
    if stream.duration_ms is not None:
        return stream.start_ms + stream.duration_ms
    alone = len(report.audio) == 1 and not report.video
    return report.duration_ms if alone else None
