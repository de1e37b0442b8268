"""`/api/uploads/{id}/playback/…`: playlists whose segments are presigned."""

from litestar import Response, get
from litestar.params import FromPath

from upload_api import openapi, playback
from upload_api.routes.dependency import Deps

BRIEFLY = {"Cache-Control": "private, max-age=10"}
"""Signatures in it live for about an hour."""
NEVER = {"Cache-Control": "no-store"}
"""For a playlist that grows: an old copy would hide what is new."""


@get(
    "/api/uploads/{upload_id:str}/playback/{name:path}",
    summary="Play a stream",
    response_description="A playlist, captions, or the storyboard.",
    responses=openapi.refusals("unknown_upload", "internal", "unavailable"),
    sync_to_thread=True,
)
def get_playback(upload_id: FromPath[str], name: FromPath[str], deps: Deps) -> Response[str]:
    """`master.m3u8` for an HLS player, `storyboard.vtt` for pictures while scrubbing; the rest is named by those."""
    found = playback.page(upload_id, name.lstrip("/"), deps)
    return Response(found.body, media_type=found.content_type, headers=NEVER if found.growing else BRIEFLY)
