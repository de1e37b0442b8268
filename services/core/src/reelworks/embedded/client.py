"""What any client of Reelworks does: ask for a place, send the bytes there, ask until it is finished."""

import http.client
import mimetypes
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from reelworks.domain.upload import UploadStatus
from reelworks.embedded.errors import Refused
from reelworks.embedded.exchange import Answer, Body, request
from reelworks.embedded.patience import Backoff, Patience

T = TypeVar("T")

CHUNK_BYTES = 1 << 16
UNDER_WAY = frozenset({UploadStatus.PENDING_UPLOAD, UploadStatus.PROCESSING})


class Ticket(Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer to POST /api/uploads: send the bytes to `upload_url`, with exactly these `headers`."""

    upload_id: str
    upload_url: str
    method: str
    headers: dict[str, str]


class TaskView(Struct, frozen=True, kw_only=True, rename="camel"):
    """One task of an upload. `started_at`: of its newest attempt."""

    started_at: datetime | None


class ErrorView(Struct, frozen=True, kw_only=True):
    """Why an upload failed, for people."""

    message: str


class View(Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer to GET /api/uploads/{id}, as far as it matters here."""

    status: UploadStatus
    attempts: int
    transcript: str | None
    error: ErrorView | None
    updated_at: datetime
    tasks: tuple[TaskView, ...]

    @property
    def finished(self) -> bool:
        """Nothing more will happen."""
        return self.status not in UNDER_WAY


class Client:
    """`pause`: waits so long while waiting makes sense, else raises."""

    def __init__(self, base_url: str, patience: Patience, pause: Callable[[float], None]) -> None:
        self._base_url = base_url
        self._patience = patience
        self._pause = pause

    def create(self, clip: Path) -> Ticket:
        """Announce the clip. Raises Refused with the API's own sentence."""
        wanted = {
            "fileName": clip.name,
            "contentType": content_type(clip),
            "sizeBytes": clip.stat().st_size,
        }
        answer = self._call(
            "POST",
            f"{self._base_url}/api/uploads",
            msgspec.json.encode(wanted),
            {"Content-Type": "application/json"},
        )
        return _decoded(answer, Ticket)

    def send(self, ticket: Ticket, clip: Path) -> None:
        """The bytes, to where the ticket says."""
        headers = {**ticket.headers, "Content-Length": str(clip.stat().st_size)}
        self._call(ticket.method, ticket.upload_url, self._chunks(clip), headers)

    def view(self, upload_id: str) -> View:
        """How it stands now."""
        answer = self._call("GET", f"{self._base_url}/api/uploads/{upload_id}")
        return _decoded(answer, View)

    def views(self, upload_id: str) -> Iterator[View]:
        """How it stands, again and again; the last one is finished."""
        backoff = Backoff()
        while not (view := self.view(upload_id)).finished:
            yield view
            self._pause(backoff.next_s())
        yield view

    def _chunks(self, clip: Path) -> Iterator[bytes]:
        """A slow receiver must not stretch the deadline: it is looked at before each chunk."""
        with clip.open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                self._patience.check()
                yield chunk

    def _call(
        self, method: str, url: str, body: Body = None, headers: dict[str, str] | None = None
    ) -> Answer:
        place = url.partition("?")[0]  # the rest is a signature
        try:
            answer = request(method, url, timeout_s=self._patience.request_s(), body=body, headers=headers)
        except (OSError, http.client.HTTPException) as error:
            raise Refused(f"{method} {place} got no answer: {error}.") from error
        if not answer.ok:
            raise Refused(f"{method} {place} was refused ({answer.status}): {_sentence(answer.body)}")
        return answer


def content_type(clip: Path) -> str:
    """By its name, as browsers do."""
    return mimetypes.guess_type(clip.name)[0] or "application/octet-stream"


def _decoded(answer: Answer, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(answer.body, type=kind)
    except msgspec.DecodeError as error:
        raise Refused(f"The API answered something else than was asked for: {error}.") from error


def _sentence(body: bytes) -> str:
    """The detail of a problem+json; of anything else its beginning."""
    try:
        problem = msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.DecodeError:
        return body[:300].decode(errors="replace")
    return str(problem.get("detail") or problem.get("title") or problem)
