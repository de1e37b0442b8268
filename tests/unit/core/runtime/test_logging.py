"""One JSON object a line, with the ids of the message at hand."""

import io
import json
import logging as stdlib
from collections.abc import Iterator

import pytest
import structlog

from reelworks.runtime import logging
from reelworks.runtime.settings import Log


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root = stdlib.getLogger()
    handlers, level = root.handlers[:], root.level
    out = io.StringIO()
    logging.configure(Log(format="json"), "worker", out)
    yield out
    structlog.reset_defaults()
    root.handlers[:], root.level = handlers, level


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_every_line_is_an_object_with_the_bound_ids(stream: io.StringIO) -> None:
    log = logging.get("test")
    with logging.bound(upload_id="u1", task="transcribe"):
        log.info("task.claimed", attempt=1)
    log.warning("later.line")
    first, second = lines(stream)
    assert (first["event"], first["upload_id"], first["task"], first["attempt"]) == (
        "task.claimed",
        "u1",
        "transcribe",
        1,
    )
    assert first["service"] == "worker"
    assert "upload_id" not in second


def test_exceptions_and_foreign_loggers_are_objects_too(stream: io.StringIO) -> None:
    try:
        raise ValueError("line one\nline two")
    except ValueError:
        logging.get("test").exception("it.broke")
    stdlib.getLogger("uvicorn.error").warning("from elsewhere")
    broken, foreign = lines(stream)
    assert "line two" in str(broken["exception"])
    assert foreign["event"] == "from elsewhere"


def test_libraries_that_log_each_call_are_quiet(stream: io.StringIO) -> None:
    stdlib.getLogger("botocore.auth").info("a signature")
    assert lines(stream) == []


def test_a_traceback_on_the_console_shows_no_locals(stream: io.StringIO) -> None:
    def call(api_key: str) -> None:
        raise ValueError(len(api_key))

    logging.configure(Log(format="console"), "worker", stream)
    try:
        call("sk-" + "s3cret")
    except ValueError:
        logging.get("test").exception("it.broke")
    assert "ValueError" in stream.getvalue()
    assert "sk-s3cret" not in stream.getvalue()
