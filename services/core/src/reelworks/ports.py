"""What the services need of the outside world, as protocols. `adapters` implement them on AWS, `testing` in memory.

Every method may raise Unreachable: the other side did not answer, and the effect is unknown. The same contract tests
run against both implementations.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from reelworks.domain.event import UploadEvent
from reelworks.domain.instants import Millis
from reelworks.domain.plan import ObjectFacts
from reelworks.domain.ranking import Weights
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.task import Task
from reelworks.domain.upload import Upload


class Clock(Protocol):
    """Time. `now` may jump, `monotonic` may not; only differences of the latter mean anything."""

    def now(self) -> Millis: ...

    def monotonic(self) -> float:
        """Seconds."""
        ...

    def sleep(self, seconds: float) -> None: ...


class StopSignal(Protocol):
    """Tells long work to stop; `runtime.cancellation.Cancellation` is the one there is."""

    def check(self) -> None:
        """Raise LeaseLost or Interrupted if the work must stop."""
        ...


class Guard(Enum):
    """What must still be true of the stored row for a write to happen."""

    UNCHANGED = "unchanged"
    """Status, token and due time are as in `before` (no row at all, if `before` is None)."""
    OWNED = "owned"
    """The row is RUNNING with the token of `before`: the lease is still ours. A renewal never moves its end back."""


class IdempotencyKey(Struct, frozen=True, kw_only=True):
    """A client's promise that requests with this key are one. `fingerprint`: of the request's body."""

    user_id: str
    key: str
    fingerprint: str
    expires_at: Millis


class Created(Struct, frozen=True, kw_only=True):
    """`upload` as stored; `replayed`: it was there already, made by the same Idempotency-Key.

    `fingerprint`: of the request that made it.
    """

    upload: Upload
    replayed: bool
    fingerprint: str | None = None


class Due(Struct, frozen=True, kw_only=True):
    """A row of the watch index: `task` is None for the upload itself. `generation`: of the task."""

    upload_id: str
    task: str | None
    generation: int = 0
    due_at: Millis


class DuePage(Struct, frozen=True, kw_only=True):
    """One page of due rows, the oldest first; `cursor` asks for the next page, None at the end."""

    rows: tuple[Due, ...]
    cursor: Mapping[str, object] | None = None


class UploadStore(Protocol):
    """The table. A refused conditional write raises Conflict, unless what is stored is what was to be stored."""

    def create(self, upload: Upload, idempotency: IdempotencyKey | None = None) -> Created:
        """Put a new upload. Conflict if the id is taken."""
        ...

    def load(self, upload_id: str) -> Snapshot | None:
        """The upload and its tasks by one strongly consistent read."""
        ...

    def write_upload(self, before: Upload, after: Upload) -> None:
        """Store the difference, if status and due time are as in `before`. Never touches `open_tasks`."""
        ...

    def finish_upload(self, before: Upload, after: Upload) -> None:
        """`write_upload`, and only if no task is open."""
        ...

    def write_task(self, before: Task | None, after: Task, guard: Guard) -> None:
        """Store the difference under the guard."""
        ...

    def close_task(self, before: Task, after: Task, guard: Guard) -> None:
        """`write_task` for a task that ends, and take it out of the upload's open tasks: one transaction. Refused for
        a task of another generation than the upload's."""
        ...

    def accept_plan(
        self, before: Upload, after: Upload, ingest: tuple[Task, Task], planned: Sequence[Task]
    ) -> None:
        """One transaction: the upload with its plan, the ingest (before, after) under OWNED, every new task row."""
        ...

    def reopen_upload(self, before: Upload, after: Upload) -> None:
        """`write_upload`, `open_tasks` included: for an upload none of whose tasks runs."""
        ...

    def forget(self, tasks: Iterable[Task]) -> None:
        """Delete rows of tasks that nobody will look at again. One that is not there is no error."""
        ...

    def choose_poster(
        self, before: Upload, after: Upload, lesson: tuple[Weights | None, Weights] | None
    ) -> None:
        """One transaction: the choice, if the one of `before` still stands, and with a lesson the ranking (before,
        after), if nobody else taught it meanwhile.
        """
        ...

    def ranking(self) -> Weights | None:
        """What choices of posters have taught so far; None before the first."""
        ...

    def due(
        self, shard: int, before: Millis, limit: int, cursor: Mapping[str, object] | None = None
    ) -> DuePage:
        """Rows of one shard of the watch index that are due before the instant. Eventually consistent."""
        ...

    def unwatch(self, due: Due) -> None:
        """Take a row out of the watch index if it is still due at that instant: nothing can be done about it."""
        ...

    @property
    def shards(self) -> int:
        """How many shards the watch index has."""
        ...

    def ping(self) -> None:
        """Raise if the table cannot be used."""
        ...


class Received(Struct, frozen=True, kw_only=True):
    """A message in hand. `receipt` is good for this receive only. `receives`: how often SQS has given it out."""

    lane: str
    message_id: str
    receipt: str
    body: str
    receives: int
    sent_at: Millis
    attributes: Mapping[str, str] = {}


class Depth(Struct, frozen=True, kw_only=True):
    """Approximate numbers of messages: waiting, in flight, delayed."""

    visible: int
    in_flight: int
    delayed: int


class TaskQueue(Protocol):
    """The lanes and their dead-letter queue."""

    def receive(self, lane: str, limit: int, wait_seconds: int, visibility_seconds: int) -> list[Received]:
        """Up to `limit` (1 to 10) messages, waiting up to `wait_seconds` (0 to 20) for the first."""
        ...

    def send(
        self,
        lane: str,
        body: str,
        *,
        group: str | None = None,
        delay_seconds: int = 0,
        attributes: Mapping[str, str] | None = None,
    ) -> None:
        """`group`: the user, for SQS fair queues. `delay_seconds`: 0 to 900."""
        ...

    def delete(self, message: Received) -> None:
        """Forget the message. A stale receipt is no error: the row decides, never the acknowledgement."""
        ...

    def hide(self, message: Received, seconds: int) -> None:
        """Give the message out again in `seconds` (0 to 43,200). A stale receipt is no error."""
        ...

    def dead_letter(self, body: str, attributes: Mapping[str, str]) -> None:
        """Put a body into the dead-letter queue."""
        ...

    def depths(self) -> Mapping[str, Depth]:
        """By lane, the dead-letter queue under `dlq`."""
        ...

    def ping(self) -> None:
        """Raise if the queues cannot be used."""
        ...


class SignedRequest(Struct, frozen=True, kw_only=True):
    """What a client must send, every header and no other. `expires_at`: never later than the credentials live."""

    url: str
    method: str
    headers: Mapping[str, str]
    expires_at: Millis


class Listed(Struct, frozen=True, kw_only=True):
    """One object of a listing. `modified_at`: when it was written last, by the clock of the store."""

    key: str
    size_bytes: int
    modified_at: Millis


class BlobStore(Protocol):
    """One bucket."""

    def sign_put(
        self, key: str, content_type: str, checksum_sha256: str | None, expires_in_s: int
    ) -> SignedRequest:
        """Signed over key, Content-Type and the base64 SHA-256 if given, for the public endpoint."""
        ...

    def sign_get(self, key: str, expires_in_s: int) -> str:
        """A URL for the public endpoint."""
        ...

    def head(self, key: str) -> ObjectFacts | None:
        """Size and ETag, None if there is no object."""
        ...

    def download(self, key: str, facts: ObjectFacts, path: Path, stop: StopSignal) -> None:
        """Stream exactly that object to a file. Permanent `object_changed` if other bytes are there by now."""
        ...

    def upload(self, path: Path, key: str, content_type: str, cache_control: str | None = None) -> None:
        """Stream a file to an object."""
        ...

    def put(self, key: str, body: bytes, content_type: str, cache_control: str | None = None) -> None:
        """Write a small object."""
        ...

    def get(self, key: str, max_bytes: int) -> bytes | None:
        """Read a small object, None if there is none."""
        ...

    def list(self, prefix: str) -> Iterable[Listed]:
        """Every object whose key begins so, in the order of the keys' bytes; asked for page by page, as it is read."""
        ...

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects, many at a time. One that is not there is no error. When the store refuses some of
        them it says why; others are gone by then."""
        ...

    def ping(self) -> None:
        """Raise if the bucket cannot be used."""
        ...


class EventSink(Protocol):
    """Where terminal events go."""

    def emit(self, event: UploadEvent) -> None: ...
