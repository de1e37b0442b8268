"""How long to wait for something, and what ends the wait early: the deadline, or a person who pressed Ctrl-C."""

import threading
import time
from collections.abc import Callable

from reelworks.embedded.errors import OutOfTime
from reelworks.errors import Interrupted

FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 1.0
REQUEST_S = 10.0
"""The longest that one HTTP request to this machine may take."""


class Patience:
    """`limit_s`: from now on, None has no end. `stopping`: set by the signal handlers."""

    def __init__(
        self,
        stopping: threading.Event,
        limit_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stopping = stopping
        self._limit_s = limit_s
        self._clock = clock
        self._begun = clock()

    def check(self) -> None:
        """Raises Interrupted or OutOfTime if it is over."""
        if self._stopping.is_set():
            raise Interrupted("It was stopped from outside before it was finished.")
        if self._limit_s is not None and self._left() <= 0:
            raise OutOfTime(f"It was not finished within {self._limit_s:.0f} seconds.")

    def pause(self, seconds: float) -> None:
        """Wait so long, unless it is over before."""
        self.check()
        self._stopping.wait(min(seconds, self._left()))
        self.check()

    def request_s(self) -> float:
        """What the next HTTP request may take."""
        self.check()
        return min(REQUEST_S, self._left())

    def _left(self) -> float:
        if self._limit_s is None:
            return threading.TIMEOUT_MAX
        return max(0.0, self._limit_s - (self._clock() - self._begun))


class Backoff:
    """Pauses between two looks: short at first, for what is about to happen, then longer, up to `longest_s`."""

    def __init__(self, longest_s: float = LONGEST_PAUSE_S) -> None:
        self._longest_s = longest_s
        self._next = FIRST_PAUSE_S

    def next_s(self) -> float:
        """Seconds."""
        current, self._next = self._next, min(self._next * 1.5, self._longest_s)
        return current
