"""Every error as problem+json (RFC 9457), the framework's own included. The only place that maps errors to HTTP.

`type` is relative to this API and leads to a page that explains the problem; what is not ours is `about:blank`.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from litestar import Request, Response
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from msgspec import Struct

from reelworks.errors import Conflict, Temporary, Unreachable
from reelworks.runtime import logging
from upload_api.errors import ClientGone, FieldError, Refused

MEDIA_TYPE = "application/problem+json"
RETRY = {"Retry-After": "5"}
"""Seconds: longer than most throttling and failovers of a single partition take."""
BLANK = "about:blank"
CLIENT_CLOSED_REQUEST = 499
"""nginx's number for a client that did not wait: never sent anywhere, but seen in the metrics."""

HttpRequest = Request[Any, Any, State]
"""Nobody logs in yet, so there is no type of user or token."""

log = logging.get(__name__)


class Problem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`type`: of the problem, a URI. `detail`: of this occurrence. `code`: the type as a word.

    `errors`: which fields are wrong and what is allowed there.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str | None = None
    errors: tuple[FieldError, ...] = ()


class Kind(Struct, frozen=True, kw_only=True):
    """What all occurrences have in common. `advice`: for the person who looks the type up."""

    status: int
    title: str
    advice: str


KINDS: Mapping[str, Kind] = {
    "invalid_request": Kind(
        status=400,
        title="The request is not valid",
        advice="`errors` names each field that is wrong and says what is allowed there.",
    ),
    "unknown_upload": Kind(
        status=404,
        title="No such upload",
        advice="The id was never given out, or the upload was deleted.",
    ),
    "not_found": Kind(status=404, title="Nothing is here", advice="The routes are listed at /schema."),
    "method_not_allowed": Kind(
        status=405,
        title="This method is not allowed here",
        advice="The Allow header lists those that are.",
    ),
    "conflict": Kind(
        status=409,
        title="The request does not fit what is stored",
        advice="Something has changed meanwhile. `detail` says whether to send the request again or to use a new "
        "Idempotency-Key.",
    ),
    "not_ready": Kind(
        status=409,
        title="What this is about is not there",
        advice="`detail` says what is missing, and whether it may still come.",
    ),
    "source_gone": Kind(
        status=410,
        title="The uploaded file is gone",
        advice="Uploaded files are kept for as long as the operator chooses; what was made of them stays. Upload this "
        "one again.",
    ),
    "body_too_large": Kind(
        status=413,
        title="The body is too large",
        advice="A request takes 64 KiB of JSON. The file itself goes to the uploadUrl, never through the API.",
    ),
    "unsupported_media_type": Kind(
        status=415,
        title="The body is not JSON",
        advice="Send JSON in UTF-8 with the header Content-Type: application/json.",
    ),
    "idempotency_key_reused": Kind(
        status=422,
        title="The Idempotency-Key belongs to another request",
        advice="A key stands for one request. Use a new one, for example a random UUID, for each new upload.",
    ),
    "internal": Kind(
        status=500,
        title="Something went wrong on our side",
        advice="It was logged. If it happens again, tell the operator when.",
    ),
    "unavailable": Kind(
        status=503,
        title="Temporarily unavailable",
        advice="Send the same request again after the time in Retry-After, best with an Idempotency-Key.",
    ),
}

_OF_STATUS = {404: "not_found", 405: "method_not_allowed", 413: "body_too_large"}


def respond(_request: HttpRequest, error: Exception) -> Response[bytes]:
    """Litestar's handler for every exception that leaves a route, a middleware or the router."""
    problem = problem_of(error)
    if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        _log(error, problem)
    return response(problem, _headers(error, problem))


def response(problem: Problem, headers: Mapping[str, str] | None = None) -> Response[bytes]:
    """Never cached: the next answer may be another one."""
    return Response(
        msgspec.json.encode(problem),
        status_code=problem.status,
        media_type=MEDIA_TYPE,
        headers={"Cache-Control": "no-store", **(headers or {})},
    )


def problem_of(error: Exception) -> Problem:
    """What a client is told. Of errors that are not about its request, nothing of the cause."""
    match error:
        case Refused():
            return make(error.code, error.message, error.errors)
        case Conflict():
            return make("conflict", "The upload has changed while this request was handled. Try again.")
        case Unreachable() | Temporary():
            sentence = (
                "A service behind this API did not answer. Nothing is lost by sending the request again."
            )
            return make("unavailable", sentence)
        case ClientGone():
            return Problem(
                type=BLANK,
                title="Client closed request",
                status=CLIENT_CLOSED_REQUEST,
                detail="The connection was closed before the request was complete.",
            )
        case HTTPException() if error.status_code < HTTPStatus.INTERNAL_SERVER_ERROR:
            return _of_framework(error)
        case _:
            return make("internal", "The request could not be handled because of an error on our side.")


def make(code: str, detail: str, errors: tuple[FieldError, ...] = ()) -> Problem:
    """An occurrence of one of our own kinds."""
    kind = KINDS[code]
    uri = f"/problems/{code.replace('_', '-')}"
    return Problem(type=uri, title=kind.title, status=kind.status, detail=detail, code=code, errors=errors)


def _of_framework(error: HTTPException) -> Problem:
    code = _OF_STATUS.get(error.status_code)
    if code is not None:
        return make(code, KINDS[code].advice)
    phrase = HTTPStatus(error.status_code).phrase
    return Problem(type=BLANK, title=phrase, status=error.status_code, detail=error.detail)


def _headers(error: Exception, problem: Problem) -> dict[str, str]:
    if problem.status == HTTPStatus.SERVICE_UNAVAILABLE:
        return RETRY
    return dict(error.headers or {}) if isinstance(error, HTTPException) else {}


def _log(error: Exception, problem: Problem) -> None:
    if isinstance(error, Unreachable | Temporary):
        log.warning("http.unavailable", code=error.code, error=error.message)
    else:
        log.error("http.failed", code=problem.code, exc_info=error)
