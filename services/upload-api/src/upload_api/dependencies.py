"""What the use cases and routes are given: the ports, the limits, and where randomness comes from."""

import secrets
from collections.abc import Callable

from msgspec import Struct, field

from reelworks.domain.instants import SECOND_MS
from reelworks.domain.upload import WatchRules
from reelworks.ports import BlobStore, Clock, TaskQueue, UploadStore
from reelworks.runtime.metrics import Metrics
from reelworks.runtime.settings import Settings
from upload_api.growing import Manifests
from upload_api.readiness import Readiness


class Policy(Struct, frozen=True, kw_only=True):
    """The settings that decide about requests. `storage_origins`: where the page may send and fetch files."""

    max_put_bytes: int = 100_000_000
    default_user_id: str = "anonymous"
    url_expires_s: int = 3_600
    idempotency_ttl_ms: int = 86_400 * SECOND_MS
    watch: WatchRules = WatchRules()
    cors_origins: tuple[str, ...] = ()
    storage_origins: tuple[str, ...] = ()

    @classmethod
    def from_settings(cls, settings: Settings, storage_origins: tuple[str, ...]) -> "Policy":
        """The same in the terms of this service."""
        return cls(
            max_put_bytes=settings.api.max_put_bytes,
            default_user_id=settings.api.default_user_id,
            url_expires_s=settings.s3.url_expires_s,
            idempotency_ttl_ms=settings.api.idempotency_ttl_s * SECOND_MS,
            cors_origins=settings.api.cors_origins,
            watch=settings.sweep.rules(),
            storage_origins=storage_origins,
        )


class Dependencies(Struct, frozen=True, kw_only=True):
    """`raw`: where uploads go. `media`: where results are. `token_hex`: of so many random bytes.

    `manifests`: a cache.
    """

    store: UploadStore
    queue: TaskQueue
    raw: BlobStore
    media: BlobStore
    clock: Clock
    metrics: Metrics
    readiness: Readiness
    policy: Policy = Policy()
    token_hex: Callable[[int], str] = secrets.token_hex
    manifests: Manifests = field(default_factory=Manifests)
