"""The use cases, as functions of a request and its dependencies. Nothing here knows HTTP."""

import hashlib
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from reelworks.domain import progress
from reelworks.domain import snapshot as snapshots
from reelworks.domain import upload as uploads
from reelworks.domain.instants import SECOND_MS, Millis
from reelworks.domain.keys import RawKey, safe_name, valid_upload_id
from reelworks.domain.outcome import Outputs
from reelworks.domain.plan import TaskKind
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.upload import AWAITING_OBJECT, Upload, UploadStatus
from reelworks.errors import Conflict
from reelworks.ports import Created, IdempotencyKey, SignedRequest
from reelworks.runtime import logging
from upload_api.dependencies import Dependencies
from upload_api.errors import KeyReused, KeySpent, UnknownUpload
from upload_api.results import Results, results
from upload_api.tracing import traceparent
from upload_api.validation import Wanted

CAPTION_FORMATS = ("json", "txt", "srt", "vtt")

log = logging.get(__name__)


class Caller(Struct, frozen=True, kw_only=True):
    """What a request says besides its body. `traceparent`: as sent, not checked yet."""

    idempotency_key: str | None = None
    traceparent: str | None = None


class Receipt(Struct, frozen=True, kw_only=True):
    """The stored upload and what its client must send. `replayed`: an earlier request made it."""

    upload: Upload
    signed: SignedRequest
    replayed: bool


class Report(Struct, frozen=True, kw_only=True):
    """An upload as it stands. `captions`: format → URL, None before there are any. `seconds_left`: an estimate."""

    snapshot: Snapshot
    results: Results
    transcript: str | None
    captions: Mapping[str, str] | None
    seconds_left: int | None


def create_upload(wanted: Wanted, caller: Caller, deps: Dependencies) -> Receipt:
    """Store the row, then sign: a URL without a row would take bytes that nobody knows.

    The same Idempotency-Key gives the same upload for as long as the key is remembered, signed anew (see `_sign`).
    KeyReused if the key was used for another request, KeySpent if its upload is gone.
    """
    fresh = _fresh(wanted, caller, deps)
    promise = _promise(wanted, caller, deps) if caller.idempotency_key is not None else None
    created = _stored(fresh, promise, deps)
    if not created.replayed:
        deps.metrics.uploads.labels(UploadStatus.PENDING_UPLOAD).inc()
        log.info(
            "upload.created", upload_id=fresh.upload_id, size_bytes=fresh.size_bytes, user_id=fresh.user_id
        )
        return Receipt(upload=fresh, signed=_sign(fresh, deps), replayed=False)
    if promise is None or created.fingerprint != promise.fingerprint:
        raise KeyReused("This Idempotency-Key was used for another request. Use a new key for a new upload.")
    log.info("upload.replayed", upload_id=created.upload.upload_id, status=created.upload.status)
    upload = _prolonged(created.upload, deps)
    return Receipt(upload=upload, signed=_sign(upload, deps), replayed=True)


def _stored(fresh: Upload, promise: IdempotencyKey | None, deps: Dependencies) -> Created:
    try:
        return deps.store.create(fresh, promise)
    except Conflict as error:
        if promise is None:
            raise
        # Ids are random, so it is the key that cannot be served.
        raise KeySpent(
            "The upload that this Idempotency-Key stood for is gone. Send the request with a new key."
        ) from error


def _fresh(wanted: Wanted, caller: Caller, deps: Dependencies) -> Upload:
    now, upload_id = deps.clock.now(), deps.token_hex(16)
    key = RawKey(user_id=wanted.user_id, upload_id=upload_id, name=safe_name(wanted.file_name))
    return Upload(
        upload_id=upload_id,
        user_id=wanted.user_id,
        project_id=wanted.project_id,
        file_name=wanted.file_name,
        object_key=str(key),
        content_type=wanted.content_type,
        size_bytes=wanted.size_bytes,
        checksum_sha256=wanted.checksum_sha256,
        profile=wanted.profile,
        options=wanted.options,
        callback_url=wanted.callback_url,
        priority=wanted.priority,
        traceparent=traceparent(caller.traceparent, deps.token_hex),
        created_at=now,
        updated_at=now,
        expires_at=now + deps.policy.url_expires_s * SECOND_MS,
        due_at=now + deps.policy.watch.first_check_ms,
    )


def _promise(wanted: Wanted, caller: Caller, deps: Dependencies) -> IdempotencyKey:
    canonical = msgspec.json.encode(wanted, order="deterministic")
    return IdempotencyKey(
        user_id=wanted.user_id,
        key=caller.idempotency_key or "",
        fingerprint=hashlib.sha256(canonical).hexdigest(),
        expires_at=deps.clock.now() + deps.policy.idempotency_ttl_ms,
    )


def _prolonged(upload: Upload, deps: Dependencies) -> Upload:
    """A URL signed anew lives longer than the row says; the sweep must not call the upload expired before."""
    now = deps.clock.now()
    if upload.status not in AWAITING_OBJECT:
        return upload
    later = uploads.renewed(upload, now + deps.policy.url_expires_s * SECOND_MS, now, deps.policy.watch)
    try:
        deps.store.write_upload(upload, later)
    except Conflict:
        # A sweep or the ingest moved the row meanwhile. An object that comes late is still taken, so nothing is lost.
        log.debug("upload.moved_elsewhere", upload_id=upload.upload_id)
    return later


def _sign(upload: Upload, deps: Dependencies) -> SignedRequest:
    return deps.raw.sign_put(
        upload.object_key,
        upload.content_type,
        upload.checksum_sha256,
        _lifetime_s(upload, deps.clock.now(), deps.policy.url_expires_s),
    )


def _lifetime_s(upload: Upload, now: Millis, full_s: int) -> int:
    """The full time while the object is awaited.

    Once it has arrived, a replay grants no more than the first answer did: the rest of its time, at least the one
    second that can be signed. Another body under the same key would only spoil what is being processed.
    """
    if upload.status in AWAITING_OBJECT:
        return full_s
    return min(max((upload.expires_at - now) // SECOND_MS, 1), full_s)


def read_upload(upload_id: str, deps: Dependencies) -> Report:
    """UnknownUpload for an id that is ill-formed or was never made."""
    return report_of(loaded(upload_id, deps), deps)


def loaded(upload_id: str, deps: Dependencies) -> Snapshot:
    """UnknownUpload for an id that is ill-formed or was never made."""
    snapshot = deps.store.load(upload_id) if valid_upload_id(upload_id) else None
    if snapshot is None:
        raise UnknownUpload("There is no upload with this id.")
    return snapshot


def report_of(snapshot: Snapshot, deps: Dependencies) -> Report:
    """What there is to tell of it."""
    outputs = next(
        (task.outputs for task in snapshots.results(snapshot).values() if task.kind is TaskKind.TRANSCRIBE),
        None,
    )
    return Report(
        snapshot=snapshot,
        results=results(snapshot, deps),
        transcript=(outputs.excerpt or "") if outputs else None,
        captions=_captions(outputs, deps) if outputs else None,
        seconds_left=progress.seconds_left(snapshot, deps.clock.now()),
    )


def _captions(outputs: Outputs, deps: Dependencies) -> dict[str, str]:
    return {
        name: deps.media.sign_get(outputs.files[name], deps.policy.url_expires_s)
        for name in CAPTION_FORMATS
        if name in outputs.files
    }
