"""The offline default: pocketsphinx 5 with the US English model that its wheel brings along."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

import pocketsphinx

from reelworks.errors import Permanent
from reelworks.runtime.cancellation import Cancellation
from worker.media.audio import AudioClip
from worker.speech.provider import Progress
from worker.speech.segmentation import segments_of
from worker.speech.transcript import Transcript, Word
from worker.speech.utterances import Utterance, utterances

PIECE_BYTES = 16_000
"""Half a second. pocketsphinx holds the interpreter lock while it decodes (about 0.08 s for this much), and
between two pieces the heartbeat and the other threads have their turn and the cancellation is looked at."""
CALIBRATION_BYTES = 4 * 32_000
"""Speech from which a recording's loudness and timbre are learned before its first words are decoded."""
FRAME_MS = 10
"""pocketsphinx' analysis frames: 100 a second (`frate`)."""
MAX_WORD_FRAMES = 200
"""Two seconds. Ten seconds of white noise came out as one (rude) word of ten seconds."""


class Part(Protocol):
    """One entry of a decoder's result; frames are inclusive."""

    word: str
    start_frame: int
    end_frame: int


class Decoder(Protocol):
    """What is used of `pocketsphinx.Decoder`, which publishes no types."""

    def reinit_feat(self) -> None: ...
    def start_utt(self) -> None: ...
    def process_raw(self, data: bytes, no_search: bool = ...) -> object: ...
    def end_utt(self) -> None: ...
    def hyp(self) -> object | None: ...
    def seg(self) -> Iterable[Part]: ...
    def get_cmn(self, update: bool) -> str: ...
    def set_cmn(self, cmn: str) -> None: ...


def make_decoder() -> Decoder:
    """0.4 s, 100 MB. Fatal errors only: its log is a wall of text."""
    decoder: Decoder = pocketsphinx.Decoder(loglevel="FATAL")
    return decoder


class PocketSphinx:
    """Speech to lower-case words without punctuation. English only.

    One decoder for all threads, made at the first need and taken for one utterance at a time: since decoding
    never releases the interpreter lock, a second decoder would cost 100 MB and bring no speed.
    """

    def __init__(self, make: Callable[[], Decoder] = make_decoder) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._decoder: Decoder | None = None
        self._neutral = ""

    def transcribe(
        self, audio: AudioClip, *, language: str | None, cancellation: Cancellation, progress: Progress
    ) -> Transcript:
        """See `SpeechProvider`. Raises `Permanent` (`language_unsupported`) for anything but English."""
        if language and language.lower().partition("-")[0] not in ("en", "eng"):
            raise Permanent(
                f"The offline speech engine understands English only, not {language[:16]!r}. "
                "Choose English, or configure a provider that knows the language.",
                code="language_unsupported",
            )
        words = self._words(audio, cancellation, progress)
        return Transcript(
            language="en",
            provider="pocketsphinx",
            duration_ms=audio.duration_ms,
            segments=tuple(segments_of(words)),
        )

    def _words(self, audio: AudioClip, cancellation: Cancellation, progress: Progress) -> Iterator[Word]:
        means = None
        for heard in utterances(audio.path):
            cancellation.check()
            for utterance in heard.ended:
                with self._borrowed(cancellation) as decoder:
                    means = means or self._calibrate(decoder, utterance)
                    _reset(decoder, means)
                    words = _decode(decoder, utterance, cancellation)
                    means = decoder.get_cmn(True)
                yield from words
            progress(min(1.0, heard.position_ms / max(1, audio.duration_ms)))

    def _calibrate(self, decoder: Decoder, utterance: Utterance) -> str:
        """The cepstral means of this recording, learned from its first seconds.

        They are set before every utterance, so a transcript depends on its own file only, not on what the
        decoder heard before. Starting from the model's defaults instead cost 12 % wrong words against 8 %.
        """
        _reset(decoder, self._neutral)
        decoder.start_utt()
        decoder.process_raw(utterance.pcm[:CALIBRATION_BYTES], no_search=True)
        means = decoder.get_cmn(True)
        decoder.end_utt()
        return means

    @contextmanager
    def _borrowed(self, cancellation: Cancellation) -> Iterator[Decoder]:
        """The decoder; waits while another thread has it, unless cancelled."""
        while not self._lock.acquire(timeout=0.1):
            cancellation.check()
        try:
            if self._decoder is None:
                self._decoder = self._make()
                self._neutral = self._decoder.get_cmn(False)
            yield self._decoder
        finally:
            self._lock.release()


def _reset(decoder: Decoder, means: str) -> None:
    """Forget what was heard before, most of all the noise statistics, which go on from utterance to utterance.

    Without it 45 of 45 results depended on what came before. 0.02 ms. `start_stream` does it too, but is deprecated.
    """
    decoder.reinit_feat()
    decoder.set_cmn(means)


def _decode(decoder: Decoder, utterance: Utterance, cancellation: Cancellation) -> list[Word]:
    decoder.start_utt()
    try:
        for at in range(0, len(utterance.pcm), PIECE_BYTES):
            cancellation.check()
            decoder.process_raw(utterance.pcm[at : at + PIECE_BYTES])
    finally:
        # Also when cancelled: a decoder with an open utterance cannot start the next one.
        decoder.end_utt()
    if decoder.hyp() is None:
        return []
    return [word for part in decoder.seg() if (word := _word(part, utterance.start_ms))]


def _word(part: Part, offset_ms: int) -> Word | None:
    """None for what is no word: `<s>`, `<sil>`, `[NOISE]`, `++BREATH++`, or a sound too long to be one."""
    frames = part.end_frame + 1 - part.start_frame
    if part.word.startswith(("<", "[", "+")) or frames > MAX_WORD_FRAMES:
        return None
    return Word(
        start_ms=offset_ms + part.start_frame * FRAME_MS,
        end_ms=offset_ms + (part.start_frame + frames) * FRAME_MS,
        # `read(2)` is the second pronunciation of `read`.
        text=part.word.partition("(")[0],
    )
