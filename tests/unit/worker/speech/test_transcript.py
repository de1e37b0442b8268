import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.speech.transcript import Segment, Transcript


def transcript(*texts: str) -> Transcript:
    segments = tuple(Segment(start_ms=i * 1000, end_ms=i * 1000 + 900, text=t) for i, t in enumerate(texts))
    return Transcript(language="en", provider="fake", duration_ms=10_000, segments=segments)


def test_the_text_is_all_that_was_said() -> None:
    assert transcript("good morning", "and good night").text == "good morning and good night"


def test_silence_has_no_text() -> None:
    assert transcript().text == ""
    assert transcript().excerpt(10) == ""


@pytest.mark.parametrize(
    ("limit", "excerpt"),
    [
        (18, "one two three four"),
        (17, "one two three…"),
        (14, "one two three…"),
        (13, "one two…"),
        (3, "on…"),
        (1, "…"),
    ],
)
def test_an_excerpt_ends_between_words(limit: int, excerpt: str) -> None:
    assert transcript("one two three four").excerpt(limit) == excerpt


@given(st.text(max_size=60), st.integers(1, 70))
def test_an_excerpt_is_never_too_long(text: str, limit: int) -> None:
    assert len(transcript(text).excerpt(limit)) <= limit
