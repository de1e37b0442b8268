"""A provider that hears what it is told to: for tests and for trying the pipeline without a model."""

from msgspec import Struct

from reelworks.runtime.cancellation import Cancellation
from worker.media.audio import AudioClip
from worker.speech.provider import Progress
from worker.speech.transcript import Segment, Transcript


class FakeSpeech(Struct, frozen=True, kw_only=True):
    """Says `text` over the whole clip; nothing in a clip without length, or if there is no text."""

    text: str = "this is a fake transcript"

    def transcribe(
        self, audio: AudioClip, *, language: str | None, cancellation: Cancellation, progress: Progress
    ) -> Transcript:
        """One segment, at once."""
        cancellation.check()
        progress(1.0)
        spoken = Segment(start_ms=0, end_ms=audio.duration_ms, text=self.text)
        return Transcript(
            language=language or "en",
            provider="fake",
            duration_ms=audio.duration_ms,
            segments=(spoken,) if self.text and audio.duration_ms else (),
        )
