"""One HTTP request, sent as given: `http.client` adds no Content-Type of its own, which a signature would not cover.

No proxies: everything that is asked here is on this machine or as near as an emulator.
"""

import http.client
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from msgspec import Struct

Body = bytes | Iterable[bytes] | None


class Answer(Struct, frozen=True, kw_only=True):
    """Whatever came back."""

    status: int
    body: bytes

    @property
    def ok(self) -> bool:
        """2xx."""
        return 200 <= self.status < 300


def request(
    method: str, url: str, *, timeout_s: float, body: Body = None, headers: Mapping[str, str] | None = None
) -> Answer:
    """Raises OSError or http.client.HTTPException if there is no answer. `timeout_s`: for each step."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=timeout_s)
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    try:
        connection.request(method, target, body=body, headers=dict(headers or {}))
        response = connection.getresponse()
        return Answer(status=response.status, body=response.read())
    finally:
        connection.close()


def answers(url: str, *, timeout_s: float, any_status: bool = False) -> bool:
    """Whether a GET succeeds; with `any_status`, whether anybody speaks HTTP there."""
    try:
        answer = request("GET", url, timeout_s=timeout_s)
    except (OSError, http.client.HTTPException):
        return False
    return any_status or answer.ok
