import re

from hypothesis import given
from hypothesis import strategies as st

from worker.speech.formats import FORMATS, LINE_CHARS, from_json, to_json, to_srt, to_txt, to_vtt
from worker.speech.transcript import Segment, Transcript


def saying(*texts: str, start_ms: int = 1_500) -> Transcript:
    segments = tuple(
        Segment(start_ms=start_ms + i * 3_000, end_ms=start_ms + i * 3_000 + 2_000, text=t)
        for i, t in enumerate(texts)
    )
    return Transcript(language="en", provider="fake", duration_ms=60_000, segments=segments)


anything = st.builds(
    saying,
    st.text(max_size=300),
    st.text(alphabet="->\n&<> a", max_size=300),
    start_ms=st.integers(0, 400_000_000),
)


def test_the_formats_of_two_sentences() -> None:
    said = saying("good morning", "and good night")

    assert to_txt(said) == b"good morning\nand good night\n"
    assert to_srt(said) == (
        b"1\n00:00:01,500 --> 00:00:03,500\ngood morning\n\n"
        b"2\n00:00:04,500 --> 00:00:06,500\nand good night\n\n"
    )
    assert to_vtt(said) == (
        b"WEBVTT\n\n00:00:01.500 --> 00:00:03.500\ngood morning\n\n00:00:04.500 --> 00:00:06.500\nand good night\n"
    )
    assert to_json(saying("hi")) == (
        b'{"language":"en","provider":"fake","durationMs":60000,'
        b'"segments":[{"startMs":1500,"endMs":3500,"text":"hi"}]}'
    )


def test_silence_is_valid_in_every_format() -> None:
    silence = saying()

    assert to_vtt(silence) == b"WEBVTT\n"
    assert to_srt(silence) == b""
    assert to_txt(silence) == b""
    assert from_json(to_json(silence)) == silence


@given(anything)
def test_json_comes_back_as_it_was(said: Transcript) -> None:
    assert from_json(to_json(said)) == said


def test_text_cannot_open_tags_in_vtt() -> None:
    assert b"a &lt;b&gt; &amp; c --&gt; d" in to_vtt(saying("a <b> & c --> d"))


VTT_CUE = re.compile(
    r"\d{2,}:[0-5]\d:[0-5]\d\.\d{3} --> \d{2,}:[0-5]\d:[0-5]\d\.\d{3}\n(?P<text>[^\n]+(\n[^\n]+)*)"
)


@given(anything)
def test_any_text_gives_a_valid_vtt(said: Transcript) -> None:
    header, *cues = to_vtt(said).decode().strip("\n").split("\n\n")

    assert header == "WEBVTT"
    for cue in cues:
        match = VTT_CUE.fullmatch(cue)
        assert match
        assert "-->" not in match["text"]
        assert "<" not in match["text"]


@given(anything)
def test_any_text_gives_numbered_srt_cues(said: Transcript) -> None:
    text = to_srt(said).decode()
    cues = text.strip("\n").split("\n\n") if text else []

    for number, cue in enumerate(cues, start=1):
        first, times, *lines = cue.split("\n")
        assert int(first) == number
        assert re.fullmatch(r"\d{2,}:\d\d:\d\d,\d{3} --> \d{2,}:\d\d:\d\d,\d{3}", times)
        assert lines
        assert not any("-->" in line for line in lines)


def test_long_speech_becomes_lines_and_cues_that_fit_on_a_screen() -> None:
    cues = to_vtt(saying("every good boy deserves favour " * 10)).decode().split("\n\n")[1:]

    assert len(cues) > 2
    for cue in cues:
        _, *lines = cue.strip().split("\n")
        assert len(lines) <= 3
        assert all(len(line) <= LINE_CHARS for line in lines)


def test_a_segment_without_length_is_shown_for_a_moment() -> None:
    said = Transcript(
        language=None,
        provider="fake",
        duration_ms=1,
        segments=(Segment(start_ms=5, end_ms=5, text="now"),),
    )

    assert b"00:00:00.005 --> 00:00:00.006" in to_vtt(said)


def test_hours_go_beyond_two_digits() -> None:
    assert b"100:00:00,000 -->" in to_srt(saying("late", start_ms=360_000_000))


def test_every_format_knows_its_type() -> None:
    assert {name: f.content_type.partition(";")[0] for name, f in FORMATS.items()} == {
        "json": "application/json",
        "txt": "text/plain",
        "srt": "application/x-subrip",
        "vtt": "text/vtt",
    }
