"""SIGTERM and SIGINT set one event; whoever loops looks at it. A second signal changes nothing."""

import signal
import threading


def on_signals(stopping: threading.Event) -> None:
    """Install the handlers. Main thread only (Python delivers signals there)."""

    def stop(_number: int, _frame: object) -> None:
        # Setting an Event is all that is safe here: a handler may interrupt any line, a logger's lock included.
        stopping.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
