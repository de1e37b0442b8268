"""`python -m dlq_janitor`: one janitor process, until SIGTERM."""

import sys
import threading

from dlq_janitor.bootstrap import build
from reelworks.errors import ReelworksError
from reelworks.runtime import logging, shutdown
from reelworks.runtime.settings import from_environment

STOP_S = 5.0

log = logging.get(__name__)


def main() -> int:
    """0 after an orderly end, 2 when the settings do not describe a janitor."""
    try:
        settings = from_environment()
        logging.configure(settings.log, "dlq-janitor")
        stopping = threading.Event()
        shutdown.on_signals(stopping)
        parts = build(settings, stopping)
    except ReelworksError as error:
        sys.stderr.write(f"dlq-janitor: {error.message}\n")
        return 2
    parts.ops.start()
    log.info("janitor.started", interval_s=settings.janitor.interval_s)
    # A thread of its own, so that a call that hangs cannot hold up the end; every repair may be cut off anywhere.
    thread = threading.Thread(target=parts.loop.run, name="sweeps", daemon=True)
    thread.start()
    stopping.wait()
    thread.join(STOP_S)
    parts.ops.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
