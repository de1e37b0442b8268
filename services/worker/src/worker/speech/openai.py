"""Speech by any OpenAI-compatible endpoint, over HTTP.

asyncio, inside one call only, because a blocking request cannot be cancelled: a worker that shuts down would
wait minutes for an answer that nobody reads.
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import httpx
from msgspec import Struct

from reelworks.errors import Permanent, Temporary
from reelworks.runtime.cancellation import Cancellation
from worker.media.audio import AudioClip
from worker.speech.openai_wire import to_error, to_transcript
from worker.speech.provider import Progress
from worker.speech.transcript import Transcript

POLL_S = 0.1
MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""Six hours of fast speech with all of Whisper's numbers per segment are about 5 MB."""

Shrink = Callable[[AudioClip, Cancellation], AudioClip]
"""Compresses a clip into another file of the same length."""


class OpenAIOptions(Struct, frozen=True, kw_only=True):
    """Where and how to ask.

    `base_url` up to and including `/v1`. `timeout_s`: the longest silence of the server, which is nearly the
    whole of its computing time. `max_bytes`: OpenAI refuses more than 25 MB (13 minutes of WAV).
    """

    base_url: str = "https://api.openai.com/v1"
    api_key: str | None = None
    model: str = "whisper-1"
    timeout_s: float = 600.0
    connect_timeout_s: float = 10.0
    max_bytes: int = 25_000_000

    def __repr__(self) -> str:
        """Without the key: settings end up in logs and tracebacks."""
        return f"OpenAIOptions(base_url={self.base_url!r}, model={self.model!r})"


class OpenAISpeech:
    """See `SpeechProvider`. Stateless between calls.

    `shrink` is used for clips that are larger than `max_bytes`; without it, or if it is not enough, they are
    refused. `now_ms`: the wall clock, for Retry-After dates.
    """

    def __init__(
        self,
        options: OpenAIOptions,
        *,
        shrink: Shrink | None = None,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._options = options
        self._shrink = shrink
        self._now_ms = now_ms

    def transcribe(
        self, audio: AudioClip, *, language: str | None, cancellation: Cancellation, progress: Progress
    ) -> Transcript:
        """Raises `Temporary` (`speech_unavailable`, `speech_malformed`), `Permanent` (`speech_refused`,
        `speech_too_large`)."""
        cancellation.check()
        path = self._sendable(audio, cancellation).path
        response, body = asyncio.run(self._ask(path, language, cancellation))
        if response.status_code != httpx.codes.OK:
            raise to_error(
                response.status_code,
                body,
                retry_after=response.headers.get("retry-after"),
                now_ms=self._now_ms(),
                secret=self._options.api_key,
            )
        progress(1.0)
        return to_transcript(body, duration_ms=audio.duration_ms, language=language)

    def _sendable(self, audio: AudioClip, cancellation: Cancellation) -> AudioClip:
        limit = self._options.max_bytes
        if audio.path.stat().st_size > limit and self._shrink:
            audio = self._shrink(audio, cancellation)
        if audio.path.stat().st_size > limit:
            raise Permanent(
                f"The recording is too long for the speech service, which takes {limit // 1_000_000} MB at most. "
                "Split it and upload the parts.",
                code="speech_too_large",
            )
        return audio

    async def _ask(
        self, path: Path, language: str | None, cancellation: Cancellation
    ) -> tuple[httpx.Response, bytes]:
        """The request, dropped together with its connection as soon as the work is cancelled."""
        request = asyncio.create_task(self._post(path, language))
        try:
            while not request.done():
                await asyncio.wait({request}, timeout=POLL_S)
                cancellation.check()
        finally:
            request.cancel()
        try:
            return request.result()
        except httpx.RequestError as error:
            raise Temporary(
                f"The speech service cannot be reached ({type(error).__name__}).", code="speech_unavailable"
            ) from error

    async def _post(self, path: Path, language: str | None) -> tuple[httpx.Response, bytes]:
        options = self._options
        # Redirects are not followed (httpx' default): the key goes to the configured server only.
        timeout = httpx.Timeout(options.timeout_s, connect=options.connect_timeout_s)
        headers = {"Authorization": f"Bearer {options.api_key}"} if options.api_key else {}
        url = f"{options.base_url.rstrip('/')}/audio/transcriptions"
        with path.open("rb") as file:
            # httpx reads the file in pieces of 64 KiB while it sends. A fixed name: the server tells the format
            # by its extension, and names of uploads are nobody's business.
            files = {"file": (f"audio{path.suffix}", file)}
            async with (
                httpx.AsyncClient(timeout=timeout, headers=headers) as client,
                client.stream("POST", url, data=self._form(language), files=files) as response,
            ):
                return response, await _bounded(response)

    def _form(self, language: str | None) -> dict[str, str]:
        form = {"model": self._options.model, "response_format": "verbose_json"}
        # The API takes ISO 639-1: `de`, not `de-AT`.
        return form | ({"language": language.partition("-")[0].lower()} if language else {})


async def _bounded(response: httpx.Response) -> bytes:
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > MAX_ANSWER_BYTES:
            raise Temporary("The speech service sent an endless answer.", code="speech_malformed")
    return bytes(body)
