"""Where the output of a child process goes: bounded, whatever it prints."""

from typing import Protocol

from reelworks.errors import Permanent


class Sink(Protocol):
    """Takes what a pipe delivers. `position` grows (or changes) whenever that was a sign of progress."""

    @property
    def position(self) -> object: ...

    def feed(self, data: bytes) -> None: ...


class Tail:
    """Keeps the last `limit` bytes: ffmpeg says why it failed at the end, and may print gigabytes before."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()

    @property
    def position(self) -> object:
        """Constant: a program that only complains makes no progress."""
        return None

    def feed(self, data: bytes) -> None:
        self._kept += data
        del self._kept[: -self._limit]

    def text(self) -> str:
        """What was kept; undecodable bytes become U+FFFD."""
        return self._kept.decode("utf-8", "replace")


class Capture:
    """Keeps everything up to `limit` bytes; more raises `Permanent`, since the input made the tool print it."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()

    @property
    def position(self) -> object:
        return len(self._kept)

    def feed(self, data: bytes) -> None:
        if len(self._kept) + len(data) > self._limit:
            raise Permanent(
                "The description of this file is unreasonably large. Export it again without its metadata.",
                code="report_too_large",
            )
        self._kept += data

    def content(self) -> bytes:
        return bytes(self._kept)
