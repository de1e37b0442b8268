"""When a running tool has had long enough."""

from collections.abc import Callable

from reelworks.errors import Temporary


class Watchdog:
    """Compares the clock with the two time limits of a command.

    Both are `Temporary`: a node that is starved of CPU or disk looks the same from here as a file that makes
    ffmpeg hang, and the attempts of a task are counted, so a file that really hangs it fails after three.
    """

    def __init__(self, *, timeout_s: float, stall_s: float | None, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._timeout_s = timeout_s
        self._stall_s = stall_s
        self._begun = self._moved = clock()
        self._position: object = None

    def check(self, position: object) -> None:
        """Raise `Temporary` once a limit is passed; `position` is any value that changes with progress."""
        now = self._clock()
        if position != self._position:
            self._position, self._moved = position, now
        if now - self._begun > self._timeout_s:
            raise Temporary(
                f"Processing was stopped because it took longer than {self._timeout_s:.0f} s.",
                code="media_timeout",
            )
        if self._stall_s is not None and now - self._moved > self._stall_s:
            raise Temporary(
                f"Processing was stopped because nothing moved for {self._stall_s:.0f} s.",
                code="media_stalled",
            )
