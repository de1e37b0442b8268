"""The page at `/`, its files, and the explanations that problem types lead to."""

from litestar import Response, get, route
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from upload_api.assets import PAGE, Asset, Assets
from upload_api.problems import KINDS, HttpRequest
from upload_api.routes.ops import PLAIN, READ


def page_routes(assets: Assets) -> list[HTTPRouteHandler]:
    """Routes over files that were read once; no path of a request ever reaches the file system."""

    @route("/", http_method=READ, include_in_schema=False)
    async def page(request: HttpRequest) -> Response[bytes]:
        """The page."""
        return _served(request, assets[PAGE])

    @route("/assets/{name:str}", http_method=READ, include_in_schema=False)
    async def asset(request: HttpRequest, name: FromPath[str]) -> Response[bytes]:
        """A file of the page."""
        found = assets.get(name)
        if found is None:
            raise NotFoundException
        return _served(request, found)

    return [page, asset, problem]


@get("/problems/{name:str}", include_in_schema=False)
async def problem(name: FromPath[str]) -> Response[str]:
    """What a problem's `type` means."""
    kind = KINDS.get(name.replace("-", "_"))
    if kind is None:
        raise NotFoundException
    return Response(f"{kind.title} ({kind.status})\n\n{kind.advice}\n", media_type=PLAIN)


def _served(request: HttpRequest, asset: Asset) -> Response[bytes]:
    headers = {"ETag": asset.etag, "Cache-Control": "no-cache"}
    if asset.etag in request.headers.get("if-none-match", ""):
        return Response(b"", status_code=304, media_type=asset.content_type, headers=headers)
    return Response(asset.body, media_type=asset.content_type, headers=headers)
