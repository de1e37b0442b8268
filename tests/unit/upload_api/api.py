"""What the tests say to the API, in one place."""

from dataclasses import dataclass
from typing import Any

import httpx
from litestar import Litestar
from litestar.testing import TestClient
from msgspec import structs

from reelworks.domain.upload import Upload
from reelworks.runtime.metrics import Metrics
from reelworks.runtime.settings import Settings
from reelworks.testing import FakeClock, InMemory
from upload_api.app import create_app
from upload_api.bootstrap import dependencies
from upload_api.dependencies import Dependencies

BODY: dict[str, Any] = {"fileName": "talk.mp4", "contentType": "video/mp4", "sizeBytes": 1_000}
CHECKSUM = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
PROBLEM = "application/problem+json"


def make_deps(memory: InMemory, settings: Settings | None = None, **changes: Any) -> Dependencies:
    """As the bootstrap makes them, on memory."""
    deps = dependencies(settings or Settings(), memory)  # type: ignore[arg-type]
    return structs.replace(deps, **changes)


def make_app(memory: InMemory, settings: Settings | None = None, **changes: Any) -> Litestar:
    return create_app(make_deps(memory, settings, **changes))


@dataclass
class Api:
    client: TestClient[Litestar]
    memory: InMemory
    clock: FakeClock

    def create(self, headers: dict[str, str] | None = None, **changes: Any) -> httpx.Response:
        """A change to None takes the field away."""
        body = {name: value for name, value in {**BODY, **changes}.items() if value is not None}
        return self.client.post("/api/uploads", json=body, headers=headers)

    def created(self, **changes: Any) -> Upload:
        """The row of a new upload."""
        response = self.create(**changes)
        assert response.status_code == 201, response.text
        return self.row(response)

    def row(self, response: httpx.Response) -> Upload:
        return self.memory.store.uploads[response.json()["uploadId"]]

    def get(self, upload: Upload) -> dict[str, Any]:
        response = self.client.get(f"/api/uploads/{upload.upload_id}")
        assert response.status_code == 200
        view: dict[str, Any] = response.json()
        return view


def problem(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The body of an error, after checking that it is one."""
    assert (response.status_code, response.headers["content-type"]) == (status, PROBLEM), response.text
    body: dict[str, Any] = response.json()
    assert (body["status"], body.get("code")) == (status, code), body
    assert body["type"] == f"/problems/{code.replace('_', '-')}"
    assert body["title"]
    assert body["detail"]
    return body


def fields(response: httpx.Response) -> dict[str, str]:
    """Field → message of a 400."""
    body = problem(response, 400, "invalid_request")
    return {error["field"]: error["message"] for error in body["errors"]}


def counted(metrics: Metrics, name: str, **labels: str) -> float:
    """The value of a sample, 0 if there is none."""
    return metrics.registry.get_sample_value(name, labels) or 0.0
