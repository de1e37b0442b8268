"""`python -m worker`: one worker process, until SIGTERM."""

import os
import sys
import threading

from reelworks.errors import ReelworksError
from reelworks.runtime import logging, shutdown
from reelworks.runtime.settings import from_environment
from worker.bootstrap import build

log = logging.get(__name__)


def main() -> int:
    """0 after an orderly end, 1 if work had to be abandoned, 2 when the settings do not describe a worker."""
    try:
        settings = from_environment()
        logging.configure(settings.log, "worker")
        stopping = threading.Event()
        shutdown.on_signals(stopping)
        parts = build(settings, stopping)
    except ReelworksError as error:
        sys.stderr.write(f"worker: {error.message}\n")
        return 2
    parts.ops.start()
    log.info("worker.started", lanes=settings.worker.lanes, slots=settings.worker.slots)
    try:
        orderly = parts.consumer.run()
    finally:
        parts.ops.stop()
        parts.scratch.close()
    if not orderly:
        os._exit(1)  # else the interpreter would wait for the thread that hangs; its lease ends by itself
    return 0


if __name__ == "__main__":
    sys.exit(main())
