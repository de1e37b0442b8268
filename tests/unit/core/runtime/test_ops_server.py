"""Probes and metrics of a process that serves nothing else."""

from collections.abc import Iterator

import httpx
import pytest

from reelworks.errors import InvalidSettings
from reelworks.runtime.metrics import Metrics
from reelworks.runtime.ops_server import OpsServer

HOST = "127.0.0.1"


class Health:
    trouble: str | None = None

    def __call__(self) -> str | None:
        return self.trouble


@pytest.fixture
def health() -> Health:
    return Health()


@pytest.fixture
def server(health: Health) -> Iterator[OpsServer]:
    metrics = Metrics()
    metrics.uploads.labels("COMPLETED").inc()
    server = OpsServer(HOST, 0, metrics, health, lambda: None)
    server.start()
    yield server
    server.stop()


def get(server: OpsServer, path: str) -> httpx.Response:
    return httpx.get(f"http://{HOST}:{server.port}{path}", trust_env=False)


def test_probe_says_what_is_wrong(server: OpsServer, health: Health) -> None:
    assert get(server, "/healthz").status_code == 200
    health.trouble = "the loop hangs"
    answer = get(server, "/healthz")
    assert (answer.status_code, answer.text) == (503, "the loop hangs\n")
    assert get(server, "/readyz").status_code == 200


def test_metrics_are_served_in_the_text_format(server: OpsServer) -> None:
    answer = get(server, "/metrics")
    assert 'reelworks_uploads_total{status="COMPLETED"} 1.0' in answer.text
    assert answer.headers["content-type"].startswith("text/plain; version=")


def test_other_paths_are_not_found(server: OpsServer) -> None:
    assert get(server, "/etc/passwd").status_code == 404


def test_taken_port_is_a_sentence(server: OpsServer) -> None:
    with pytest.raises(InvalidSettings, match=f"{HOST}:{server.port}"):
        OpsServer(HOST, server.port, Metrics(), lambda: None, lambda: None)
