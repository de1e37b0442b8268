"""Liveness asks nobody; readiness asks the stores, but not more often than every few seconds."""

import threading

import pytest
from litestar.testing import TestClient

from reelworks.errors import Unreachable
from reelworks.testing import FakeClock, InMemory
from tests.unit.upload_api.api import Api, make_app, problem
from upload_api.readiness import Readiness


class Pinged:
    """A store that can be switched off, and counts who asks."""

    def __init__(self) -> None:
        self.count = 0
        self.error: Unreachable | None = None

    def __call__(self) -> None:
        self.count += 1
        if self.error:
            raise self.error


@pytest.fixture
def ping() -> Pinged:
    return Pinged()


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_may_ask_with_get_or_head(api: Api, path: str) -> None:
    assert api.client.get(path).text == "ok\n"
    head = api.client.head(path)
    assert (head.status_code, head.content) == (200, b"")


def test_a_process_without_its_stores_is_alive_but_not_ready(memory: InMemory, ping: Pinged) -> None:
    ping.error = Unreachable('No answer from the table "reelworks": http://10.0.0.7')
    memory.store.ping = ping  # type: ignore[method-assign]
    with TestClient(make_app(memory)) as client:
        assert client.get("/healthz").status_code == 200
        response = client.get("/readyz")
    assert "table" in problem(response, 503, "unavailable")["detail"]
    assert "10.0.0.7" not in response.text
    assert response.headers["retry-after"]


def test_the_bucket_is_asked_too(memory: InMemory, ping: Pinged) -> None:
    ping.error = Unreachable("x")
    memory.raw.ping = ping  # type: ignore[method-assign]
    with TestClient(make_app(memory)) as client:
        assert "bucket" in problem(client.get("/readyz"), 503, "unavailable")["detail"]


def test_the_answer_is_kept_for_some_seconds(clock: FakeClock, ping: Pinged) -> None:
    readiness = Readiness({"table": ping}, clock, cache_s=3)
    assert readiness.trouble() is None
    ping.error = Unreachable("x")
    clock.advance(2.9)
    assert readiness.trouble() is None
    clock.advance(0.1)
    assert readiness.trouble() is not None
    ping.error = None
    assert readiness.trouble() is not None
    clock.advance(3)
    assert readiness.trouble() is None
    assert ping.count == 3


def test_while_one_probe_waits_for_a_store_others_go_by_the_last_answer(clock: FakeClock) -> None:
    asked, answer = threading.Event(), threading.Event()
    calls: list[int] = []

    def slow() -> None:
        calls.append(1)
        if len(calls) > 1:
            asked.set()
            assert answer.wait(5)

    readiness = Readiness({"table": slow}, clock)
    assert readiness.trouble() is None
    clock.advance(10)
    probe = threading.Thread(target=readiness.trouble)
    probe.start()
    assert asked.wait(5)
    assert readiness.trouble() is None
    answer.set()
    probe.join(5)
    assert len(calls) == 2
