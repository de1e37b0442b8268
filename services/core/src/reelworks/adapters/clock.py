"""The clock of the machine."""

import time

from reelworks.domain.instants import Millis


class SystemClock:
    """`now` follows NTP's corrections, `monotonic` does not."""

    def now(self) -> Millis:
        """Milliseconds since the Unix epoch."""
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        """Seconds; only differences mean anything."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(max(seconds, 0.0))
