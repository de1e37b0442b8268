"""A clock that only moves when told to."""

import threading

from reelworks.domain.instants import SECOND_MS, Millis

START: Millis = 1_750_000_000_000
"""In June 2025; any instant will do, as long as it is the same in each run."""


class FakeClock:
    """Implements ports.Clock. Sleeping takes no time but moves the clock. Thread-safe."""

    def __init__(self, now: Millis = START) -> None:
        self._now = now
        self._monotonic_ms = 0.0
        self._lock = threading.Lock()

    def now(self) -> Millis:
        """Milliseconds since the epoch."""
        return self._now

    def monotonic(self) -> float:
        """Seconds since this clock was made."""
        return self._monotonic_ms / SECOND_MS

    def sleep(self, seconds: float) -> None:
        """The same as `advance`."""
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        with self._lock:
            self._now += round(max(seconds, 0.0) * SECOND_MS)
            self._monotonic_ms += max(seconds, 0.0) * SECOND_MS

    def jump(self, seconds: float) -> None:
        """Set the wall clock forth or back, as NTP may; monotonic time does not notice."""
        with self._lock:
            self._now += round(seconds * SECOND_MS)
