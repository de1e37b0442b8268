"""A client that leaves before it has sent everything is no error of ours."""

import asyncio
from typing import Any

import pytest

from reelworks.runtime.metrics import Metrics
from reelworks.testing import InMemory
from tests.unit.upload_api.api import counted, make_app

SECONDS = "reelworks_http_request_seconds_count"


async def send_and_leave(app: Any, *parts: bytes) -> list[int]:
    """The statuses that were answered to a client that announced more than it sent."""
    events = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    events.append({"type": "http.disconnect"})
    answered: list[int] = []

    async def receive() -> Any:
        return events.pop(0)

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answered.append(message["status"])

    await app(scope(app), receive, send)
    return answered


def scope(app: Any) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/api/uploads",
        "raw_path": b"/api/uploads",
        "root_path": "",
        "query_string": b"",
        "headers": [(b"content-type", b"application/json"), (b"content-length", b"100")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "app": app,
        "state": {},
    }


@pytest.mark.parametrize("parts", [(), (b'{"fileName":',)], ids=["at once", "halfway"])
def test_a_client_that_leaves_while_it_sends_is_a_499_and_no_error(
    memory: InMemory, caplog: pytest.LogCaptureFixture, parts: tuple[bytes, ...]
) -> None:
    metrics = Metrics()
    app = make_app(memory, metrics=metrics)
    assert asyncio.run(send_and_leave(app, *parts)) == [499]
    assert counted(metrics, SECONDS, method="POST", route="/api/uploads", status="499") == 1
    assert counted(metrics, SECONDS, method="POST", route="/api/uploads", status="500") == 0
    assert [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")] == []
    assert memory.store.uploads == {}
