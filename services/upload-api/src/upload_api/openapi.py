"""What the OpenAPI document says beyond what the routes' types say."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, cast

import msgspec
from litestar import Response, Router
from litestar.openapi import OpenAPIConfig, ResponseSpec
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Example, OpenAPIMediaType, OpenAPIResponse, Operation, RequestBody, Schema

from upload_api import problems
from upload_api.examples import CREATE_EXAMPLE, REPROCESS_EXAMPLE, TICKET_EXAMPLE, VIEW_EXAMPLE, WRONG_FIELDS
from upload_api.problems import KINDS, Problem
from upload_api.requests import ChoosePoster, CreateUpload, Reprocess

VERSION = "1"


def config() -> OpenAPIConfig:
    """The document itself, at /schema and /schema/openapi.json: no rendered page, since those come from a CDN."""
    return OpenAPIConfig(
        title="Reelworks",
        version=VERSION,
        description="Takes audio and video uploads and tells what became of them. Every error is a problem+json.",
        use_handler_docstrings=True,
        render_plugins=[JsonRenderPlugin(path=["/", "/openapi.json"])],
        openapi_router=Router(
            "/schema", route_handlers=[], include_in_schema=False, after_request=_not_found
        ),
    )


def _not_found(response: Response[Any]) -> Response[Any]:
    """Litestar answers other paths below /schema with a page of its own."""
    if response.status_code != HTTPStatus.NOT_FOUND:
        return response
    return problems.response(problems.make("not_found", KINDS["not_found"].advice))


def refusals(*codes: str) -> dict[int, ResponseSpec]:
    """The problems that a route answers with, by status, each with an example."""
    by_status: dict[int, list[str]] = {}
    for code in codes:
        by_status.setdefault(KINDS[code].status, []).append(code)
    return {status: _refusal(found) for status, found in by_status.items()}


def _refusal(codes: list[str]) -> ResponseSpec:
    return ResponseSpec(
        Problem,
        description=" ".join(f"{KINDS[code].title}." for code in codes),
        media_type=problems.MEDIA_TYPE,
        generate_examples=False,
        examples=[_example(code) for code in codes],
    )


def _example(code: str) -> Example:
    kind = KINDS[code]
    problem = problems.make(code, kind.advice, WRONG_FIELDS if code == "invalid_request" else ())
    return Example(id=code, summary=kind.title, value=msgspec.to_builtins(problem))


@dataclass
class CreateUploadOperation(Operation):
    """The route reads the raw body, so that it can name every wrong field; the document still tells its shape."""

    def __post_init__(self) -> None:
        """Called by Litestar when the document is made."""
        content = OpenAPIMediaType(schema=_schema_of(CreateUpload), example=CREATE_EXAMPLE)
        self.request_body = RequestBody(required=True, content={"application/json": content})
        _give_example(self, "201", TICKET_EXAMPLE)


@dataclass
class GetUploadOperation(Operation):
    """An id is any text here: one that is ill-formed is unknown, so the framework's own 400 never comes."""

    def __post_init__(self) -> None:
        """Called by Litestar when the document is made."""
        (self.responses or {}).pop("400", None)
        _give_example(self, "200", VIEW_EXAMPLE)


@dataclass
class ChoosePosterOperation(Operation):
    """As the two above: the body is raw, and the id is any text."""

    def __post_init__(self) -> None:
        """Called by Litestar when the document is made."""
        content = OpenAPIMediaType(schema=_schema_of(ChoosePoster), example={"candidate": 2})
        self.request_body = RequestBody(required=True, content={"application/json": content})
        _give_example(self, "200", VIEW_EXAMPLE)


@dataclass
class ReprocessOperation(Operation):
    """As the others: the body is raw, and the id is any text."""

    def __post_init__(self) -> None:
        """Called by Litestar when the document is made."""
        content = OpenAPIMediaType(schema=_schema_of(Reprocess), example=REPROCESS_EXAMPLE)
        self.request_body = RequestBody(required=True, content={"application/json": content})
        _give_example(self, "202", VIEW_EXAMPLE)


def _give_example(operation: Operation, status: str, example: object) -> None:
    response = (operation.responses or {}).get(status)
    if isinstance(response, OpenAPIResponse) and response.content:
        response.content["application/json"].example = example


def _schema_of(body: type) -> Schema:
    """As msgspec writes it. Litestar passes a plain dict through, though its types do not say so."""
    _, components = msgspec.json.schema_components([body], ref_template="#/components/schemas/{name}")
    return cast("Schema", components[body.__name__])
