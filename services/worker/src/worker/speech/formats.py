"""A transcript as files: JSON, plain text, SubRip and WebVTT, all UTF-8. All are valid without any speech."""

import textwrap
from collections.abc import Callable, Iterator, Mapping

import msgspec
from msgspec import Struct

from worker.speech.segmentation import readable
from worker.speech.transcript import Segment, Transcript

LINE_CHARS = 42


class Format(Struct, frozen=True, kw_only=True):
    """`extension` without the dot."""

    extension: str
    content_type: str
    write: Callable[[Transcript], bytes]


def to_json(transcript: Transcript) -> bytes:
    """`{language, provider, durationMs, segments: [{startMs, endMs, text}]}`; `Transcript` reads it back."""
    return msgspec.json.encode(transcript)


def from_json(data: bytes) -> Transcript:
    """The inverse of `to_json`. Raises `msgspec.MsgspecError`."""
    return msgspec.json.decode(data, type=Transcript)


def to_txt(transcript: Transcript) -> bytes:
    """One segment a line."""
    return "".join(f"{_one_line(s.text)}\n" for s in transcript.segments).encode()


def to_srt(transcript: Transcript) -> bytes:
    """SubRip. It has no escapes: an arrow in the text would end a cue for many players, so it becomes `→`."""
    cues = (
        f"{number}\n{_time(s.start_ms, ',')} --> {_time(s.end_ms, ',')}\n{_lines(s.text.replace('-->', '→'))}\n\n"
        for number, s in enumerate(_cues(transcript), start=1)
    )
    return "".join(cues).encode()


def to_vtt(transcript: Transcript) -> bytes:
    """WebVTT (W3C). `&`, `<` and `>` are written as character references, so no text can end a cue or open a tag."""
    cues = (
        f"\n{_time(s.start_ms, '.')} --> {_time(s.end_ms, '.')}\n{_escaped(_lines(s.text))}\n"
        for s in _cues(transcript)
    )
    return ("WEBVTT\n" + "".join(cues)).encode()


FORMATS: Mapping[str, Format] = {
    f.extension: f
    for f in (
        Format(extension="json", content_type="application/json", write=to_json),
        Format(extension="txt", content_type="text/plain; charset=utf-8", write=to_txt),
        Format(extension="srt", content_type="application/x-subrip; charset=utf-8", write=to_srt),
        Format(extension="vtt", content_type="text/vtt; charset=utf-8", write=to_vtt),
    )
}
"""By extension. What the `transcribe` task writes and the API serves."""


def _cues(transcript: Transcript) -> Iterator[Segment]:
    """Segments short enough to be shown, with text, and at least 1 ms long: an empty interval is an invalid cue."""
    for segment in transcript.segments:
        for part in readable(segment):
            if part.text.strip():
                end = max(part.end_ms, part.start_ms + 1)
                yield Segment(start_ms=part.start_ms, end_ms=end, text=part.text)


def _one_line(text: str) -> str:
    # Blank lines end cues, and some engines send line breaks.
    return " ".join(text.split())


def _lines(text: str) -> str:
    """Lines of at most 42 characters where words allow it; a longer word stays whole."""
    wrapped = textwrap.wrap(_one_line(text), LINE_CHARS, break_long_words=False, break_on_hyphens=False)
    return "\n".join(wrapped)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _time(ms: int, point: str) -> str:
    """`01:02:03,456` or `01:02:03.456`; hours always, since SubRip demands them."""
    seconds, rest = divmod(max(0, ms), 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{seconds:02d}{point}{rest:03d}"
