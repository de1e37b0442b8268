"""Transcribe: the sound of an upload as text, in four formats, below the attempt's own prefix."""

import msgspec
from msgspec import Struct

from reelworks.domain import profile as profiles
from reelworks.domain.outcome import Done, Outcome, Outputs
from reelworks.domain.upload import Upload
from reelworks.errors import Temporary
from reelworks.ports import BlobStore
from worker.media.audio import AudioClip, MediaFile, extract_speech_audio
from worker.media.engine import MediaEngine
from worker.media.report import MediaReport
from worker.speech.formats import FORMATS
from worker.speech.provider import SpeechProvider
from worker.speech.transcript import Transcript
from worker.tasks.ingest import SOURCE_NAME
from worker.work import Work

EXCERPT_CHARS = 4_000
"""What a client wants to show at once; a row must stay far below 400 KB."""
MAX_REPORT_BYTES = 4_000_000
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
    report = _report(work.upload, needs)
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


def _report(upload: Upload, needs: TranscribeDependencies) -> MediaReport:
    """What the ingest found out about the file."""
    key = upload.media.report_key if upload.media else None
    stored = needs.media.get(key, MAX_REPORT_BYTES) if key else None
    if stored is None:
        raise Temporary("The probe report of this upload is not in the media bucket.", code="report_missing")
    return msgspec.json.decode(stored, type=MediaReport)


def _audio(work: Work, needs: TranscribeDependencies, report: MediaReport) -> AudioClip | None:
    """The sound as a 16 kHz WAV; the source is gone from the scratch directory afterwards."""
    facts = work.upload.object
    if report.speech is None or facts is None:
        return None
    source = work.scratch / SOURCE_NAME
    needs.raw.download(work.upload.object_key, facts, source, work.cancellation)
    work.report(DOWNLOADED)
    clip = extract_speech_audio(
        MediaFile(path=source, report=report),
        work.scratch / "speech.wav",
        engine=needs.engine,
        cancellation=work.cancellation,
        progress=lambda part: work.report(DOWNLOADED + part * (EXTRACTED - DOWNLOADED)),
    )
    source.unlink()
    return clip


def _listen(
    work: Work, needs: TranscribeDependencies, clip: AudioClip | None, report: MediaReport
) -> Transcript:
    language = profiles.named(work.upload.profile).language or needs.language
    if clip is None:
        return Transcript(language=language, provider="none", duration_ms=report.duration_ms or 0)
    return needs.speech.transcribe(
        clip,
        language=language,
        cancellation=work.cancellation,
        progress=lambda part: work.report(EXTRACTED + part * (1 - EXTRACTED)),
    )
