"""Cuts a WAV into utterances as it is read, so memory stays flat however long it is.

Voice activity detection finds where speech begins and ends (WebRTC's, which pocketsphinx brings along). Speech
that does not end is cut at its quietest moment, for two reasons: a decoder's memory grows with an utterance,
and its last pass holds the interpreter lock (0.04 s for each second of speech).
"""

import wave
from array import array
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from pocketsphinx import Endpointer

BYTES_PER_S = 32_000
FRAME_BYTES = 960
"""30 ms, the detector's default; WebRTC's takes 10, 20 or 30."""
PIECE_BYTES = 33 * FRAME_BYTES
PRE_ROLL_BYTES = 10 * FRAME_BYTES
"""300 ms from before the detector was sure: without it, first words went wrong (word errors 9.2 % → 7.2 %)."""
MAX_BYTES = 15 * BYTES_PER_S
SEARCH_FRAMES = 166
"""Five seconds in which the quiet moment is looked for: people breathe more often than that."""


class Utterance(Struct, frozen=True, kw_only=True):
    """16-bit mono PCM at 16 kHz that contains speech."""

    start_ms: int
    pcm: bytes


class Heard(Struct, frozen=True, kw_only=True):
    """Progress: the file was read up to `position_ms`, and these utterances ended."""

    position_ms: int
    ended: tuple[Utterance, ...]


def utterances(path: Path) -> Iterator[Heard]:
    """One `Heard` for each second of a 16 kHz mono 16-bit WAV, with what ended in it."""
    cutter = Cutter()
    with wave.open(str(path), "rb") as wav:
        while piece := wav.readframes(PIECE_BYTES // 2):
            whole = len(piece) - len(piece) % FRAME_BYTES
            frames = [piece[at : at + FRAME_BYTES] for at in range(0, whole, FRAME_BYTES)]
            ended = [u for frame in frames for u in cutter.feed(frame)]
            if len(piece) < PIECE_BYTES:
                ended += cutter.finish(piece[whole:])
            yield Heard(position_ms=cutter.position_ms, ended=tuple(ended))
    # A file whose length is a multiple of a second has not been finished above.
    yield Heard(position_ms=cutter.position_ms, ended=tuple(cutter.finish(b"")))


class Cutter:
    """The state between frames. Positions are byte offsets from the start of the sound."""

    def __init__(self) -> None:
        self._detector = Endpointer()
        self._position = 0
        self._recent = bytearray()
        self._speech = bytearray()
        self._start = 0
        self._end = 0

    @property
    def position_ms(self) -> int:
        return _ms(self._position)

    def feed(self, frame: bytes) -> Iterator[Utterance]:
        """Take one frame of 960 bytes; yield what it ends."""
        self._advance(frame)
        released: bytes | None = self._detector.process(frame)
        if released is None:
            return
        if not self._speech:
            self._begin()
        self._speech += released
        if not self._detector.in_speech:
            yield self._cut(len(self._speech))
        elif len(self._speech) >= MAX_BYTES:
            yield self._cut(quietest(self._speech))

    def finish(self, rest: bytes) -> Iterator[Utterance]:
        """Take what is left, less than a frame; yield the speech that was going on. Idempotent."""
        self._advance(rest)
        if self._detector.in_speech:
            # It indexes into what it is given, so one silent sample stands for nothing, and comes back.
            released: bytes = self._detector.end_stream(rest or bytes(2)) or b""
            self._speech += released if rest else released[:-2]
        if self._speech:
            yield self._cut(len(self._speech))

    def _advance(self, frame: bytes) -> None:
        self._position += len(frame)
        self._recent += frame
        del self._recent[: -BYTES_PER_S - PRE_ROLL_BYTES]

    def _begin(self) -> None:
        """Start with the pre-roll, but with nothing that the last utterance had already."""
        onset = round(self._detector.speech_start * BYTES_PER_S / 2) * 2
        self._start = max(onset - PRE_ROLL_BYTES, self._end, self._position - len(self._recent))
        origin = self._position - len(self._recent)
        self._speech += self._recent[self._start - origin : onset - origin]

    def _cut(self, length: int) -> Utterance:
        utterance = Utterance(start_ms=_ms(self._start), pcm=bytes(self._speech[:length]))
        del self._speech[:length]
        self._start = self._end = self._start + length
        return utterance


def quietest(pcm: bytes | bytearray) -> int:
    """Where to cut: the middle of the quietest 90 ms of the last five seconds, as a byte offset."""
    first = max(0, len(pcm) // FRAME_BYTES - SEARCH_FRAMES)
    loudness = [
        sum(map(abs, array("h", bytes(pcm[at : at + FRAME_BYTES]))))
        for at in range(first * FRAME_BYTES, len(pcm) - FRAME_BYTES + 1, FRAME_BYTES)
    ]
    around = [sum(loudness[i - 1 : i + 2]) for i in range(1, len(loudness) - 1)]
    return (first + 1 + around.index(min(around))) * FRAME_BYTES + FRAME_BYTES // 2


def _ms(position: int) -> int:
    return position * 1000 // BYTES_PER_S
