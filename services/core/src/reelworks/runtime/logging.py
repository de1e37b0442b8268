"""structlog for every service: one JSON object a line, pretty on a terminal; stdlib loggers go the same way.

Event names are dotted and stable (`task.claimed`); everything else is key-values. `bound` adds ids for the time of one
message and takes them away after.
"""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import structlog
from structlog.typing import Processor

from reelworks.runtime.settings import Log

_QUIET = ("botocore", "boto3", "urllib3", "s3transfer", "httpx", "httpcore", "uvicorn.access")
"""Libraries that log every call (some of them signed URLs) at info or debug."""


def configure(settings: Log, service: str, stream: TextIO | None = None) -> None:
    """Once, at the start of a process. `stream` is stderr by default: stdout belongs to commands' results."""
    out = stream or sys.stderr
    pretty = settings.format == "console" or (settings.format == "auto" and out.isatty())
    shared = _shared(service)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=_last(pretty=pretty))
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.level.upper())
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def _shared(service: str) -> list[Processor]:
    def name_service(
        _logger: object, _method: str, event: structlog.typing.EventDict
    ) -> structlog.typing.EventDict:
        event.setdefault("service", service)
        return event

    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        name_service,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]


def _last(*, pretty: bool) -> list[Processor]:
    strip: Processor = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    if pretty:
        # Its default, once rich is installed, prints the locals of every frame: keys and signed URLs among them.
        return [strip, structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
    return [
        strip,
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(ensure_ascii=False),
    ]


def get(name: str) -> structlog.stdlib.BoundLogger:
    """A logger that takes `log.info("dotted.event", key=value)`."""
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return logger


@contextmanager
def bound(**ids: object) -> Iterator[None]:
    """Every line logged inside, by this thread, carries the ids."""
    with structlog.contextvars.bound_contextvars(**ids):
        yield
