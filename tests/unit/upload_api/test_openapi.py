"""The OpenAPI document says what the API does."""

from typing import Any

import pytest

from tests.unit.upload_api.api import PROBLEM, Api
from upload_api.examples import TICKET_EXAMPLE, VIEW_EXAMPLE
from upload_api.problems import KINDS

CREATE = ("/api/uploads", "post")
GET = ("/api/uploads/{upload_id}", "get")


@pytest.fixture
def document(api: Api) -> dict[str, Any]:
    found: dict[str, Any] = api.client.get("/schema").json()
    return found


def operation(document: dict[str, Any], where: tuple[str, str]) -> dict[str, Any]:
    path, method = where
    found: dict[str, Any] = document["paths"][path][method]
    return found


def test_it_is_openapi_3_1_under_both_addresses(api: Api, document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    assert api.client.get("/schema/openapi.json").json() == document


@pytest.mark.parametrize(
    ("where", "codes"),
    [
        (CREATE, {"201", "400", "409", "413", "415", "422", "500", "503"}),
        (GET, {"200", "404", "500", "503"}),
    ],
)
def test_each_answer_is_documented(document: dict[str, Any], where: tuple[str, str], codes: set[str]) -> None:
    responses = operation(document, where)["responses"]
    assert set(responses) == codes
    for status in codes - {"200", "201"}:
        content = responses[status]["content"][PROBLEM]
        assert content["schema"] == {"$ref": "#/components/schemas/Problem"}
        for code, example in content["examples"].items():
            assert example["value"]["status"] == KINDS[code].status == int(status)


def test_the_request_is_documented_field_by_field(document: dict[str, Any]) -> None:
    schema = operation(document, CREATE)["requestBody"]["content"]["application/json"]["schema"]
    assert schema["required"] == ["fileName", "contentType", "sizeBytes"]
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) > {"checksumSha256", "callbackUrl"}


def test_the_documented_request_works_and_the_answers_look_as_documented(
    api: Api, document: dict[str, Any]
) -> None:
    creating = operation(document, CREATE)
    example = creating["requestBody"]["content"]["application/json"]["example"]
    answer = api.client.post("/api/uploads", json=example)
    assert answer.status_code == 201
    assert list(answer.json()) == list(TICKET_EXAMPLE)
    assert list(api.client.get(answer.headers["location"]).json()) == list(VIEW_EXAMPLE)


def test_successful_answers_have_an_example(document: dict[str, Any]) -> None:
    for where, status in ((CREATE, "201"), (GET, "200")):
        content = operation(document, where)["responses"][status]["content"]["application/json"]
        assert content["example"]["uploadId"]


def test_headers_are_documented(document: dict[str, Any]) -> None:
    names = {parameter["name"] for parameter in operation(document, CREATE)["parameters"]}
    assert names == {"Idempotency-Key", "traceparent"}
