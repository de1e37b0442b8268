"""Transcribe: the sound of an upload as text, in four formats, below the attempt's own prefix."""

from msgspec import Struct

from reelworks.domain.options import resolved
from reelworks.domain.outcome import Done, Outcome, Outputs
from reelworks.ports import BlobStore
from worker.media.audio import AudioClip, extract_speech_audio
from worker.media.engine import MediaEngine
from worker.media.report import MediaReport
from worker.speech.formats import FORMATS
from worker.speech.provider import SpeechProvider
from worker.speech.transcript import Transcript
from worker.tasks import source
from worker.work import Work

EXCERPT_CHARS = 4_000
"""What a client wants to show at once; a row must stay far below 400 KB."""
DOWNLOADED, EXTRACTED = 0.05, 0.15
"""Fractions of the whole, by and large: recognition takes most of the time."""


class TranscribeDependencies(Struct, frozen=True, kw_only=True):
    """The buckets, ffmpeg, and an engine that understands speech. `language`: where the profile names none."""

    raw: BlobStore
    media: BlobStore
    engine: MediaEngine
    speech: SpeechProvider
    language: str | None = None


def transcribe(work: Work, needs: TranscribeDependencies) -> Outcome:
    """Done with `json`, `txt`, `srt` and `vtt`. A file without sound or speech has an empty transcript."""
    report = source.report(work.upload, needs.media)
    clip = _audio(work, needs, report)
    transcript = _listen(work, needs, clip, report)
    files = {}
    for name, kind in FORMATS.items():
        files[name] = f"{work.prefix}transcript.{kind.extension}"
        needs.media.put(files[name], kind.write(transcript), kind.content_type)
    outputs = Outputs(
        prefix=work.prefix,
        files=files,
        excerpt=transcript.excerpt(EXCERPT_CHARS),
        language=transcript.language,
    )
    return Done(outputs=outputs)


def _audio(work: Work, needs: TranscribeDependencies, report: MediaReport) -> AudioClip | None:
    """The sound as a 16 kHz WAV; the source is gone from the scratch directory afterwards."""
    if report.speech is None:
        return None
    file = source.fetch(work, needs, report)
    work.report(DOWNLOADED)
    clip = extract_speech_audio(
        file,
        work.scratch / "speech.wav",
        engine=needs.engine,
        cancellation=work.cancellation,
        progress=lambda part: work.report(DOWNLOADED + part * (EXTRACTED - DOWNLOADED)),
    )
    file.path.unlink()
    return clip


def _listen(
    work: Work, needs: TranscribeDependencies, clip: AudioClip | None, report: MediaReport
) -> Transcript:
    language = resolved(work.upload.profile, work.upload.options).language or needs.language
    if clip is None:
        return Transcript(language=language, provider="none", duration_ms=report.duration_ms or 0)
    return needs.speech.transcribe(
        clip,
        language=language,
        cancellation=work.cancellation,
        progress=lambda part: work.report(EXTRACTED + part * (1 - EXTRACTED)),
    )
