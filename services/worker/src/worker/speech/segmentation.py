"""Words into segments that are fit to be read as subtitles."""

from collections.abc import Iterable, Iterator

from worker.speech.transcript import Segment, Word

MAX_CHARS = 84
"""Two lines of 42, the limit of the BBC's and Netflix' subtitle guidelines."""
MAX_MS = 7_000
"""The longest a subtitle should stand (Netflix Timed Text Style Guide)."""
PAUSE_MS = 600
"""A silence that people hear as the end of a thought."""


def segments_of(words: Iterable[Word]) -> Iterator[Segment]:
    """Group words; a new segment begins at a pause, or when a subtitle would get too long."""
    group: list[Word] = []
    for word in words:
        if group and _is_full(group, word):
            yield _segment(group)
            group = []
        group.append(word)
    if group:
        yield _segment(group)


def _is_full(group: list[Word], word: Word) -> bool:
    chars = sum(len(w.text) + 1 for w in group) + len(word.text)
    return (
        word.start_ms - group[-1].end_ms >= PAUSE_MS
        or word.end_ms - group[0].start_ms > MAX_MS
        or chars > MAX_CHARS
    )


def _segment(group: list[Word]) -> Segment:
    text = " ".join(w.text for w in group)
    return Segment(start_ms=group[0].start_ms, end_ms=group[-1].end_ms, text=text)


def readable(segment: Segment) -> Iterator[Segment]:
    """Split a segment that is too long for a subtitle. Its time is shared out by characters: all that is known."""
    words = segment.text.split()
    total = sum(len(w) for w in words)
    per_char = (segment.end_ms - segment.start_ms) / total if total else 0.0
    if len(" ".join(words)) <= MAX_CHARS:
        yield segment
        return
    yield from segments_of(_timed(words, segment.start_ms, per_char))


def _timed(words: list[str], start_ms: int, per_char: float) -> Iterator[Word]:
    seen = 0
    for word in words:
        begin, seen = seen, seen + len(word)
        yield Word(
            start_ms=start_ms + round(begin * per_char), end_ms=start_ms + round(seen * per_char), text=word
        )
