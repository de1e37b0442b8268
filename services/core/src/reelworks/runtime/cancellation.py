"""How running work learns that it must stop: its lease was lost, or the process is shutting down.

The heartbeat and the shutdown cancel; the subprocess runner, downloads and speech engines look.
"""

import threading

from reelworks.errors import Interrupted, LeaseLost


class Cancellation:
    """A one-way switch with a reason. Thread-safe; the first reason wins."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._reason: LeaseLost | Interrupted | None = None

    @property
    def reason(self) -> LeaseLost | Interrupted | None:
        """Why the work must stop, or None while it may go on."""
        return self._reason

    def cancel(self, reason: LeaseLost | Interrupted) -> None:
        """Ask the work to stop. Later calls change nothing."""
        with self._lock:
            if self._reason is None:
                self._reason = reason
        self._event.set()

    def wait(self, seconds: float) -> bool:
        """Sleep up to `seconds`, but wake at once when cancelled. True if cancelled."""
        return self._event.wait(seconds)

    def check(self) -> None:
        """Raise the reason if the work must stop."""
        if self._reason is not None:
            raise self._reason
