"""Every error there is answers problem+json."""

from collections.abc import Iterator

import pytest
from litestar.exceptions import ClientException, HTTPException, NotAuthorizedException
from litestar.testing import TestClient

from reelworks.errors import Conflict, LeaseLost, Temporary, Unreachable
from reelworks.testing import InMemory
from tests.unit.upload_api.api import PROBLEM, Api, make_app, problem
from upload_api.problems import KINDS, problem_of


@pytest.fixture
def broken(memory: InMemory) -> Iterator[Api]:
    """A bug in a dependency."""

    def load(_: str) -> None:
        raise RuntimeError("password=hunter2 at /srv/app/secret.py")

    memory.store.load = load  # type: ignore[assignment,method-assign]
    with TestClient(make_app(memory), raise_server_exceptions=False) as client:
        yield Api(client=client, memory=memory, clock=memory.clock)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "path",
    [
        "/nope",
        "/api",
        "/api/nope",
        "/assets/nope.js",
        "/assets/..%2fapp.py",
        "/problems/nope",
        "/schema/nope",
        "/%",
    ],
)
def test_an_unknown_path_is_a_404(api: Api, path: str) -> None:
    problem(api.client.get(path), 404, "not_found")


@pytest.mark.parametrize(
    ("method", "path"), [("PUT", "/api/uploads"), ("DELETE", "/"), ("POST", "/healthz"), ("BREW", "/")]
)
def test_a_wrong_method_is_a_405_that_says_which_are_allowed(api: Api, method: str, path: str) -> None:
    response = api.client.request(method, path)
    problem(response, 405, "method_not_allowed")
    assert response.headers["allow"]


def test_a_bug_is_a_500_that_tells_nothing(broken: Api) -> None:
    response = broken.client.get(f"/api/uploads/{'0' * 32}")
    problem(response, 500, "internal")
    assert "hunter2" not in response.text
    assert "secret.py" not in response.text


def test_errors_carry_the_security_headers_too(api: Api) -> None:
    assert api.client.get("/nope").headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Unreachable("x"), 503, "unavailable"),
        (Temporary("x"), 503, "unavailable"),
        (Conflict("x"), 409, "conflict"),
        (LeaseLost("x"), 500, "internal"),
        (ValueError("x"), 500, "internal"),
        (HTTPException(detail="x", status_code=500), 500, "internal"),
        (HTTPException(detail="x", status_code=404), 404, "not_found"),
    ],
)
def test_each_kind_of_error_has_its_status(error: Exception, status: int, code: str) -> None:
    found = problem_of(error)
    assert (found.status, found.code) == (status, code)
    assert found.detail != "x"


@pytest.mark.parametrize("error", [ClientException(detail="bad cookie"), NotAuthorizedException(detail="no")])
def test_other_errors_of_the_framework_are_about_blank(error: HTTPException) -> None:
    found = problem_of(error)
    assert (found.type, found.status, found.detail) == ("about:blank", error.status_code, error.detail)


@pytest.mark.parametrize("code", KINDS)
def test_each_problem_type_leads_to_its_explanation(api: Api, code: str) -> None:
    response = api.client.get(f"/problems/{code.replace('_', '-')}")
    assert response.status_code == 200
    assert KINDS[code].advice in response.text


def test_problems_are_never_cached(api: Api) -> None:
    response = api.client.get("/nope")
    assert (response.headers["cache-control"], response.headers["content-type"]) == ("no-store", PROBLEM)
