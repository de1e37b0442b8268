from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from worker.speech.segmentation import MAX_CHARS, MAX_MS, readable, segments_of
from worker.speech.transcript import Segment, Word


def spoken(*words: tuple[int, int, str]) -> list[Word]:
    return [Word(start_ms=start, end_ms=end, text=text) for start, end, text in words]


def test_words_in_one_breath_are_one_segment() -> None:
    assert list(segments_of(spoken((0, 300, "good"), (400, 900, "morning")))) == [
        Segment(start_ms=0, end_ms=900, text="good morning")
    ]


def test_a_pause_begins_a_new_segment() -> None:
    found = list(segments_of(spoken((0, 300, "yes"), (900, 1200, "no"), (1799, 2000, "maybe"))))

    assert [s.text for s in found] == ["yes", "no maybe"]


def test_silence_has_no_segments() -> None:
    assert list(segments_of([])) == []


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(1, 2000), st.integers(1, 20)), max_size=80))
def test_segments_are_readable_and_lose_nothing(shapes: list[tuple[int, int, int]]) -> None:
    now, words = 0, []
    for pause, length, chars in shapes:
        words.append(Word(start_ms=now + pause, end_ms=now + pause + length, text="x" * chars))
        now += pause + length

    found = list(segments_of(words))

    assert " ".join(s.text for s in found) == " ".join(w.text for w in words)
    assert all(len(s.text) <= MAX_CHARS and s.end_ms - s.start_ms <= MAX_MS for s in found)
    assert all(a.end_ms <= b.start_ms for a, b in pairwise(found))


def test_a_long_segment_is_split_in_proportion() -> None:
    words = ["word"] * 40
    whole = Segment(start_ms=10_000, end_ms=26_000, text=" ".join(words))

    parts = list(readable(whole))

    assert " ".join(p.text for p in parts) == whole.text
    assert (parts[0].start_ms, parts[-1].end_ms) == (10_000, 26_000)
    assert all(len(p.text) <= MAX_CHARS for p in parts)


def test_a_short_segment_stays_as_it_is() -> None:
    segment = Segment(start_ms=0, end_ms=60_000, text="a long silence, then this")

    assert list(readable(segment)) == [segment]
