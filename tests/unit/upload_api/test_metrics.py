"""Requests are counted by route template; strangers cannot make new series."""

import asyncio

import httpx
import pytest
from litestar.testing import TestClient

from reelworks.runtime.metrics import Metrics
from reelworks.testing import InMemory
from tests.unit.upload_api.api import Api, counted, make_app

SECONDS = "reelworks_http_request_seconds_count"


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def client(memory: InMemory, metrics: Metrics) -> TestClient:  # type: ignore[type-arg]
    return TestClient(make_app(memory, metrics=metrics))


def series(metrics: Metrics) -> int:
    return sum(len(metric.samples) for metric in metrics.registry.collect())


def test_a_request_is_counted_under_its_template(api: Api, metrics: Metrics) -> None:
    upload = api.created()
    api.get(upload)
    assert counted(metrics, SECONDS, method="POST", route="/api/uploads", status="201") == 1
    assert counted(metrics, SECONDS, method="GET", route="/api/uploads/{upload_id}", status="200") == 1


def test_a_thousand_random_paths_are_one_bucket(memory: InMemory, metrics: Metrics) -> None:
    app = make_app(memory, metrics=metrics)

    async def get(*paths: str) -> None:
        transport = httpx.ASGITransport(app)  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            for path in paths:
                await client.get(path)

    asyncio.run(get("/nope", "/api/uploads/x"))
    before = series(metrics)
    asyncio.run(get(*(f"/random/{n}" for n in range(1_000)), *(f"/api/uploads/{n}" for n in range(100))))
    assert series(metrics) == before
    assert counted(metrics, SECONDS, method="GET", route="unmatched", status="404") == 1_001


def test_invented_methods_are_one_bucket(api: Api, metrics: Metrics) -> None:
    for method in ("BREW", "PROPFIND", "X" * 50):
        api.client.request(method, "/")
    assert counted(metrics, SECONDS, method="other", route="unmatched", status="405") == 3


def test_a_bug_is_counted_as_a_500(memory: InMemory, metrics: Metrics) -> None:
    memory.store.load = None  # type: ignore[assignment,method-assign]
    with TestClient(make_app(memory, metrics=metrics), raise_server_exceptions=False) as client:
        client.get(f"/api/uploads/{'0' * 32}")
    assert counted(metrics, SECONDS, method="GET", route="/api/uploads/{upload_id}", status="500") == 1


def test_metrics_are_exposed(api: Api) -> None:
    api.created()
    response = api.client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=")
    assert response.headers["content-type"].count("charset") == 1
    assert 'reelworks_uploads_total{status="PENDING_UPLOAD"} 1.0' in response.text
