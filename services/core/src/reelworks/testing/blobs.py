"""BlobStore in memory. Its presigned URLs lead nowhere; `client_put` is the client that uses one."""

import base64
import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, unquote

from msgspec import Struct

from reelworks.domain.instants import SECOND_MS, Millis
from reelworks.domain.plan import ObjectFacts
from reelworks.errors import Permanent
from reelworks.ports import Clock, Listed, SignedRequest, StopSignal

PIECE_BYTES = 1024 * 1024


class Object(Struct, frozen=True, kw_only=True):
    """A stored object."""

    body: bytes
    content_type: str
    cache_control: str | None = None
    modified_at: Millis = 0

    @property
    def facts(self) -> ObjectFacts:
        """As a HEAD tells them; the ETag is in quotes."""
        digest = hashlib.md5(self.body, usedforsecurity=False).hexdigest()
        return ObjectFacts(size_bytes=len(self.body), etag=f'"{digest}"')


class InMemoryBlobStore:
    """Implements ports.BlobStore. `objects` is the bucket, for tests to look at.

    `announce`: called with the key and size of each object that comes by `client_put` or `put`.
    """

    def __init__(
        self, clock: Clock, bucket: str = "bucket", announce: Callable[[str, int], None] | None = None
    ) -> None:
        self.objects: dict[str, Object] = {}
        self._clock = clock
        self._bucket = bucket
        self._announce = announce
        self._signed: dict[str, SignedRequest] = {}
        self._lock = threading.Lock()

    def sign_put(
        self, key: str, content_type: str, checksum_sha256: str | None, expires_in_s: int
    ) -> SignedRequest:
        """A request for `client_put`."""
        headers = {"Content-Type": content_type}
        if checksum_sha256 is not None:
            headers["x-amz-checksum-sha256"] = checksum_sha256
        expires_at = self._clock.now() + expires_in_s * SECOND_MS
        with self._lock:
            url = f"{self._url(key)}?signature={len(self._signed) + 1}"
            signed = SignedRequest(url=url, method="PUT", headers=headers, expires_at=expires_at)
            self._signed[url] = signed
        return signed

    def client_put(self, url: str, headers: Mapping[str, str], body: bytes) -> int:
        """What S3 answers to a PUT: 403 if it is not as signed or too late, 400 for another body, else 200."""
        signed = self._signed.get(url)
        if signed is None or self._clock.now() > signed.expires_at or dict(headers) != dict(signed.headers):
            return 403
        checksum = headers.get("x-amz-checksum-sha256")
        if checksum and base64.b64encode(hashlib.sha256(body).digest()).decode() != checksum:
            return 400
        key = unquote(url.removeprefix(self._url("")).partition("?")[0])
        self.put(key, body, headers["Content-Type"])
        return 200

    def sign_get(self, key: str, expires_in_s: int) -> str:
        """A URL with its end."""
        return f"{self._url(key)}?expires={self._clock.now() + expires_in_s * SECOND_MS}"

    def _url(self, key: str) -> str:
        return f"memory://{self._bucket}/{quote(key)}"

    def head(self, key: str) -> ObjectFacts | None:
        """Size and ETag."""
        found = self.objects.get(key)
        return found.facts if found else None

    def download(self, key: str, facts: ObjectFacts, path: Path, stop: StopSignal) -> None:
        """Copy exactly that object to a file."""
        stop.check()
        found = self.objects.get(key)
        if found is None:
            raise Permanent("The file was deleted before it was processed.", code="object_gone")
        if found.facts.etag != facts.etag:
            raise Permanent("The file was replaced while it was being processed.", code="object_changed")
        with path.open("wb") as file:
            for start in range(0, len(found.body), PIECE_BYTES):
                stop.check()
                file.write(found.body[start : start + PIECE_BYTES])

    def upload(self, path: Path, key: str, content_type: str, cache_control: str | None = None) -> None:
        """Keep a file's bytes."""
        self.put(key, path.read_bytes(), content_type, cache_control)

    def put(self, key: str, body: bytes, content_type: str, cache_control: str | None = None) -> None:
        """Keep the bytes."""
        now = self._clock.now()
        self.objects[key] = Object(
            body=body, content_type=content_type, cache_control=cache_control, modified_at=now
        )
        if self._announce:
            self._announce(key, len(body))

    def get(self, key: str, max_bytes: int) -> bytes | None:
        """The bytes."""
        found = self.objects.get(key)
        if found is None:
            return None
        if len(found.body) > max_bytes:
            raise Permanent(f"The object {key} has more than {max_bytes} bytes.", code="object_too_large")
        return found.body

    def list(self, prefix: str) -> Iterator[Listed]:
        """What is there at the time of the call."""
        for key in sorted(self.objects.copy(), key=str.encode):
            found = self.objects.get(key)
            if found is not None and key.startswith(prefix):
                yield Listed(key=key, size_bytes=len(found.body), modified_at=found.modified_at)

    def delete(self, keys: Iterable[str]) -> None:
        """Forget them."""
        for key in keys:
            self.objects.pop(key, None)

    def ping(self) -> None:
        """Always there."""
