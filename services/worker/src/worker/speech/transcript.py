"""A transcript: what was said and when."""

from msgspec import Struct


class Segment(Struct, frozen=True, kw_only=True, rename="camel"):
    """One stretch of speech; times on the upload's presentation timeline."""

    start_ms: int
    end_ms: int
    text: str


class Transcript(Struct, frozen=True, kw_only=True, rename="camel"):
    """`language`: BCP 47, None if unknown. No segments means that there was no speech, which is no error."""

    language: str | None
    provider: str
    duration_ms: int
    segments: tuple[Segment, ...] = ()

    @property
    def text(self) -> str:
        """All that was said, on one line."""
        return " ".join(segment.text for segment in self.segments)

    def excerpt(self, max_chars: int) -> str:
        """The beginning, for the row: at most `max_chars` characters, cut between words and marked with `…`."""
        text = self.text
        if len(text) <= max_chars:
            return text
        cut = text[: max_chars - 1]
        if not text[len(cut)].isspace():
            # One word that is longer than all there is room for is cut within.
            cut = cut.rsplit(maxsplit=1)[0] if len(cut.split()) > 1 else cut
        return cut.rstrip() + "…"


class Word(Struct, frozen=True, kw_only=True):
    """One recognised word, before words become segments."""

    start_ms: int
    end_ms: int
    text: str
