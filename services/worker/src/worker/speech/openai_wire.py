"""The OpenAI transcription API as bytes: what its answers mean. Pure.

https://platform.openai.com/docs/api-reference/audio/createTranscription, `response_format=verbose_json`; many
servers imitate it (whisper.cpp, faster-whisper-server, vLLM, LocalAI, Groq), some without segments.
"""

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from reelworks.errors import Permanent, ReelworksError, Temporary
from worker.speech.retry_after import retry_after_ms
from worker.speech.transcript import Segment, Transcript

RETRYABLE = frozenset({408, 409, 425, 429})
"""Besides every 5xx: timeouts, conflicts, too early, too many."""
MISCONFIGURED = frozenset({401, 403, 404, 407})
"""A wrong key, address or model: no upload is to blame, so the attempt may be repeated once that is put right."""
MAX_SERVER_MESSAGE = 300

LANGUAGES: Mapping[str, str] = {
    "arabic": "ar", "chinese": "zh", "czech": "cs", "danish": "da", "dutch": "nl", "english": "en", "finnish": "fi",
    "french": "fr", "german": "de", "greek": "el", "hebrew": "he", "hindi": "hi", "hungarian": "hu",
    "indonesian": "id", "italian": "it", "japanese": "ja", "korean": "ko", "norwegian": "no", "polish": "pl",
    "portuguese": "pt", "romanian": "ro", "russian": "ru", "spanish": "es", "swedish": "sv", "thai": "th",
    "turkish": "tr", "ukrainian": "uk", "vietnamese": "vi",
}  # fmt: skip
"""Whisper answers with English names; HLS and players want BCP 47. A name that is not here is "unknown"."""


class _Segment(Struct):
    start: float
    end: float
    text: str


class _Answer(Struct):
    text: str = ""
    language: str | None = None
    segments: list[_Segment] | None = None


class _ErrorBody(Struct):
    message: str = ""


class _Error(Struct):
    error: _ErrorBody | str = ""


def to_transcript(body: bytes, *, duration_ms: int, language: str | None) -> Transcript:
    """Read an answer of 200. Raises `Temporary` (`speech_malformed`): a proxy's page, a cut-off answer."""
    try:
        answer = msgspec.json.decode(body, type=_Answer)
    except msgspec.MsgspecError as error:
        raise Temporary(
            "The speech service sent an answer that cannot be read.", code="speech_malformed"
        ) from error
    whole = [_Segment(start=0, end=duration_ms / 1000, text=answer.text)]
    found = whole if answer.segments is None else answer.segments
    return Transcript(
        language=language or _language(answer.language),
        provider="openai",
        duration_ms=duration_ms,
        segments=tuple(_segment(s, duration_ms) for s in found if s.text.strip()),
    )


def _segment(segment: _Segment, duration_ms: int) -> Segment:
    """Whisper pads to 30 s and may place the end of its last segment beyond the sound."""
    start = min(max(0, round(segment.start * 1000)), duration_ms)
    end = min(max(start, round(segment.end * 1000)), duration_ms)
    return Segment(start_ms=start, end_ms=end, text=segment.text.strip())


def _language(name: str | None) -> str | None:
    if name is None:
        return None
    lowered = name.lower()
    return LANGUAGES.get(lowered) or (lowered if len(lowered.partition("-")[0]) in (2, 3) else None)


def to_error(
    status: int, body: bytes, *, retry_after: str | None, now_ms: int, secret: str | None
) -> ReelworksError:
    """What any answer but 200 means for the task."""
    if status in RETRYABLE or status >= 500:
        return Temporary(
            f"The speech service is not available at the moment (HTTP {status}).",
            code="speech_unavailable",
            retry_after_ms=retry_after_ms(retry_after, now_ms=now_ms),
        )
    said = _server_message(body, secret)
    if status in MISCONFIGURED:
        return Temporary(
            f"The speech service does not accept this installation's key, address or model (HTTP {status}): {said}",
            code="speech_misconfigured",
        )
    return Permanent(f"The speech service refused the request (HTTP {status}): {said}", code="speech_refused")


def _server_message(body: bytes, secret: str | None) -> str:
    """At most 300 characters of what the server said, without the key: some servers echo it."""
    try:
        error = msgspec.json.decode(body, type=_Error).error
        text = error if isinstance(error, str) else error.message
    except msgspec.MsgspecError:
        text = ""
    text = text or body.decode("utf-8", "replace")
    if secret:
        text = text.replace(secret, "[key]")
    return " ".join(text.split())[:MAX_SERVER_MESSAGE] or "no reason given"
