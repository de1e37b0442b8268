"""What every speech engine looks like to the `transcribe` task."""

from collections.abc import Callable
from typing import Protocol

from reelworks.runtime.cancellation import Cancellation
from worker.media.audio import AudioClip
from worker.speech.transcript import Transcript

Progress = Callable[[float], None]
"""Called with the fraction done, from 0 to 1, never decreasing."""


class SpeechProvider(Protocol):
    """Thread-safe: one instance serves all tasks of a worker."""

    def transcribe(
        self, audio: AudioClip, *, language: str | None, cancellation: Cancellation, progress: Progress
    ) -> Transcript:
        """Write down what is said. `language` (BCP 47): what it is spoken in, None: find out or assume.

        Raises `Permanent`, `Temporary`, or the reason of the cancellation, within a second of it.
        """
        ...
