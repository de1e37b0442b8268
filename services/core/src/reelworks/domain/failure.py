"""Why a task or an upload failed, as it is stored and shown."""

from enum import StrEnum
from typing import Self

from msgspec import Struct

from reelworks.errors import ReelworksError

MAX_MESSAGE_CHARS = 2_000
"""A row holds at most 400 KB (DynamoDB); an error text never gets near that, whatever a tool printed."""


class FailureKind(StrEnum):
    """Whether trying again could have helped."""

    PERMANENT = "permanent"
    """The input or the request is wrong: the same attempt would fail again."""
    EXHAUSTED = "exhausted"
    """Every attempt failed for a reason that could have passed; somebody may want to try again."""


class Failure(Struct, frozen=True, kw_only=True):
    """`code` for machines, `message` a sentence for people (at most 2,000 characters)."""

    kind: FailureKind
    code: str
    message: str

    @classmethod
    def of(cls, kind: FailureKind, error: ReelworksError) -> Self:
        """What is stored of an error: bounded, without control characters."""
        return cls(kind=kind, code=error.code, message=bounded(error.message))


def bounded(text: str) -> str:
    """Printable text of at most 2,000 characters."""
    printable = "".join(c if c.isprintable() or c == "\n" else " " for c in text)
    if len(printable) <= MAX_MESSAGE_CHARS:
        return printable
    return printable[: MAX_MESSAGE_CHARS - 1] + "…"
