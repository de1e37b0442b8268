"""What happens around every request, those included that no route matches: metrics, and headers that harden browsers.

Litestar's own middleware runs for matched routes only; these wrap the whole application.
"""

import time
from collections.abc import Sequence

from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPReceiveMessage, Message, Receive, Scope, Send, WebSocketReceiveMessage

from reelworks.runtime.metrics import Metrics
from upload_api.errors import ClientGone

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER_METHOD = "other"
UNMATCHED = "unmatched"
"""Both bound the labels: whatever strangers send, no new series comes of it."""


def observed(app: ASGIApp, metrics: Metrics) -> ASGIApp:
    """Times each answer under its route template. A client that leaves while it sends is ClientGone, inside."""

    async def handle(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await app(scope, receive, send)
            return
        begun, statuses = time.perf_counter(), ["500"]

        async def attend() -> HTTPReceiveMessage | WebSocketReceiveMessage:
            message = await receive()
            # Litestar would make an error of its own (500) of it.
            if message["type"] == "http.disconnect" and len(statuses) == 1:
                raise ClientGone
            return message

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(str(message["status"]))
            await send(message)

        try:
            await app(scope, attend, note)
        finally:
            method = scope["method"] if scope["method"] in METHODS else OTHER_METHOD
            # The router writes the template into the scope once a handler is found.
            route = scope.get("path_template") or UNMATCHED
            labels = metrics.http_requests.labels(method, route, statuses[-1])
            labels.observe(time.perf_counter() - begun)

    return handle


def hardened(app: ASGIApp, storage_origins: Sequence[str]) -> ASGIApp:
    """Adds the security headers to each answer."""
    fixed = [
        (name.lower().encode(), value.encode()) for name, value in security_headers(storage_origins).items()
    ]

    async def handle(scope: Scope, receive: Receive, send: Send) -> None:
        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *fixed]
            await send(message)

        await app(scope, receive, add)

    return handle


def security_headers(storage_origins: Sequence[str]) -> dict[str, str]:
    """The page loads nothing from elsewhere, and talks to this API and the buckets only."""
    storage = "".join(f" {origin}" for origin in storage_origins)
    policy = (
        "default-src 'self'",
        f"connect-src 'self'{storage}",
        f"img-src 'self'{storage}",
        # Blobs are the player's own copy of the file that was chosen, its captions, and what hls.js feeds it, whose
        # empty caption tracks are data URIs; browsers with HLS of their own fetch the segments themselves.
        f"media-src 'self' blob: data:{storage}",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
    return {
        "Content-Security-Policy": "; ".join(policy),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    }
