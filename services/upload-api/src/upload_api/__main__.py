"""`python -m upload_api`: serves until SIGTERM."""

import math
import os
import sys
import threading

import uvicorn
from litestar import Litestar

from reelworks.errors import ReelworksError
from reelworks.runtime import logging, shutdown
from reelworks.runtime.settings import Api, from_environment
from upload_api import threads
from upload_api.bootstrap import build

log = logging.get(__name__)


def main() -> int:
    """0 after an orderly end, 1 if the port cannot be had, 2 when the settings do not describe a service."""
    try:
        settings = from_environment()
        logging.configure(settings.log, "upload-api")
        app = build(settings)
    except ReelworksError as error:
        sys.stderr.write(f"upload-api: {error.message}\n")
        return 2
    # uvicorn stops on SIGTERM by itself, then raises the signal once more for whoever had it before: that is us.
    shutdown.on_signals(threading.Event())
    log.info("api.starting", host=settings.api.host, port=settings.api.port)
    executor = threads.install()
    try:
        server(app, settings.api).run()
    except SystemExit:  # how uvicorn says that it could not start; the reason is in the log
        return 1
    stuck = threads.release(executor)
    log.info("api.stopped", stuck=stuck)
    if stuck:
        os._exit(0)  # else the interpreter would wait for calls whose clients are long gone
    return 0


def server(app: Litestar, settings: Api) -> uvicorn.Server:
    """Without access log: requests are counted in metrics, and what they did is logged where it is done."""
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nothing here depends on the client's address
        ws="none",
        lifespan="off",
        # An idle server stops at once; an open request gets so long, then it is cancelled.
        timeout_graceful_shutdown=math.ceil(settings.shutdown_grace_s),
    )
    return uvicorn.Server(config)


if __name__ == "__main__":
    sys.exit(main())
