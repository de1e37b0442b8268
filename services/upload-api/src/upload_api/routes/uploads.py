"""`/api/uploads`: create one, ask for one."""

from http import HTTPStatus
from typing import Annotated

from litestar import Response, get, post
from litestar.params import FromPath, HeaderParameter, RawBody

from upload_api import openapi, service
from upload_api.errors import UnsupportedMediaType
from upload_api.posters import choose_poster
from upload_api.problems import HttpRequest
from upload_api.reprocess import reprocess
from upload_api.requests import ChoosePoster, CreateUpload, Reprocess, decode
from upload_api.responses import UploadTicket, UploadView
from upload_api.routes.dependency import Deps
from upload_api.service import Caller
from upload_api.validation import idempotency_key, validated

NO_STORE = {"Cache-Control": "no-store"}
REPLAYED = {"Idempotent-Replayed": "true"}

KeyHeader = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        description="1 to 255 printable ASCII characters, new for each upload. Sent again with the same body, it gives "
        "the same upload with a fresh URL and the header Idempotent-Replayed: true.",
    ),
]
TraceHeader = Annotated[
    str | None,
    HeaderParameter(
        name="traceparent", description="W3C Trace Context: everything done to the upload joins this trace."
    ),
]


@post(
    "/api/uploads",
    summary="Announce an upload",
    operation_class=openapi.CreateUploadOperation,
    response_description="The upload is known; the file can be sent.",
    responses=openapi.refusals(
        "invalid_request",
        "conflict",
        "body_too_large",
        "unsupported_media_type",
        "idempotency_key_reused",
        "internal",
        "unavailable",
    ),
    sync_to_thread=True,
)
def create_upload(
    request: HttpRequest, body: RawBody, deps: Deps, key: KeyHeader = None, trace: TraceHeader = None
) -> Response[UploadTicket]:
    """Answers with a presigned request: send the file with this method, to this URL, with exactly these headers.

    The first attempt and every replay answer alike. A replay after the file has arrived grants no more time than the
    first answer did.
    """
    _insist_on_json(request.headers.get("content-type", ""))
    caller = Caller(idempotency_key=None if key is None else idempotency_key(key), traceparent=trace)
    receipt = service.create_upload(validated(decode(body, CreateUpload), deps.policy), caller, deps)
    where = {"Location": f"/api/uploads/{receipt.upload.upload_id}"}
    return Response(
        UploadTicket.of(receipt), headers={**NO_STORE, **where, **(REPLAYED if receipt.replayed else {})}
    )


@get(
    "/api/uploads/{upload_id:str}",
    summary="Ask for an upload",
    operation_class=openapi.GetUploadOperation,
    response_description="The upload as it stands.",
    responses=openapi.refusals("unknown_upload", "internal", "unavailable"),
    sync_to_thread=True,
)
def get_upload(upload_id: FromPath[str], deps: Deps) -> Response[UploadView]:
    """The upload as it stands: its status, its tasks, and its transcript once there is one."""
    return Response(UploadView.of(service.read_upload(upload_id, deps)), headers=NO_STORE)


@post(
    "/api/uploads/{upload_id:str}/poster",
    summary="Choose the poster",
    operation_class=openapi.ChoosePosterOperation,
    response_description="The upload as it stands, with that poster.",
    responses=openapi.refusals(
        "invalid_request",
        "unknown_upload",
        "not_ready",
        "conflict",
        "body_too_large",
        "unsupported_media_type",
        "internal",
        "unavailable",
    ),
    status_code=HTTPStatus.OK,
    sync_to_thread=True,
)
def post_poster(
    request: HttpRequest, upload_id: FromPath[str], body: RawBody, deps: Deps
) -> Response[UploadView]:
    """Takes the index of one of `poster.candidates`. The first choice for an upload also teaches the ranking that
    orders the candidates of later uploads.
    """
    _insist_on_json(request.headers.get("content-type", ""))
    report = choose_poster(upload_id, decode(body, ChoosePoster).candidate, deps)
    return Response(UploadView.of(report), headers=NO_STORE)


@post(
    "/api/uploads/{upload_id:str}/reprocess",
    summary="Process an upload again",
    operation_class=openapi.ReprocessOperation,
    response_description="The upload is being processed again.",
    responses=openapi.refusals(
        "invalid_request",
        "unknown_upload",
        "not_ready",
        "conflict",
        "source_gone",
        "body_too_large",
        "unsupported_media_type",
        "internal",
        "unavailable",
    ),
    status_code=HTTPStatus.ACCEPTED,
    sync_to_thread=True,
)
def post_reprocess(
    request: HttpRequest, upload_id: FromPath[str], body: RawBody, deps: Deps
) -> Response[UploadView]:
    """Starts over with the file that was uploaded, with this profile and these options, or as the last time without
    either. Renditions that would come out the same are not encoded again. What the last COMPLETED processing made is
    shown until there is a successor, and stays if this one fails.
    """
    _insist_on_json(request.headers.get("content-type", ""))
    report = reprocess(upload_id, decode(body, Reprocess), deps)
    return Response(UploadView.of(report), headers=NO_STORE)


def _insist_on_json(content_type: str) -> None:
    """A browser cannot send this type across origins without asking first, which a form could."""
    media_type, _, parameters = content_type.partition(";")
    charset = parameters.strip().lower().partition("charset=")[2].strip('"')
    if media_type.strip().lower() != "application/json" or charset not in ("", "utf-8", "utf8"):
        raise UnsupportedMediaType("Send JSON in UTF-8 with the header Content-Type: application/json.")
