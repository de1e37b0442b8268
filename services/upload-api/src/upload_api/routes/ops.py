"""For machines that watch this one: `/healthz`, `/readyz`, `/metrics`."""

from litestar import HttpMethod, Response, get, route
from litestar.enums import MediaType

from upload_api import problems
from upload_api.routes.dependency import Deps

READ = [HttpMethod.GET, HttpMethod.HEAD]
PLAIN = "text/plain"
"""Litestar adds the charset to every text type."""
NO_STORE = {"Cache-Control": "no-store"}


@route("/healthz", http_method=READ, media_type=MediaType.TEXT, include_in_schema=False)
async def healthz() -> Response[str]:
    """The process answers. Nothing else is asked: restarting it would not repair a store."""
    return Response("ok\n", media_type=PLAIN, headers=NO_STORE)


@route("/readyz", http_method=READ, include_in_schema=False, sync_to_thread=True)
def readyz(deps: Deps) -> Response[str] | Response[bytes]:
    """The table and the bucket can be used."""
    if trouble := deps.readiness.trouble():
        return problems.response(problems.make("unavailable", trouble), problems.RETRY)
    return Response("ok\n", media_type=PLAIN, headers=NO_STORE)


@get("/metrics", include_in_schema=False, sync_to_thread=True)
def metrics(deps: Deps) -> Response[bytes]:
    """What Prometheus scrapes."""
    body, content_type = deps.metrics.exposition()
    media_type = content_type.removesuffix("; charset=utf-8")  # added again by Litestar
    return Response(body, media_type=media_type, headers=NO_STORE)
