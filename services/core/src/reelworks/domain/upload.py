"""An upload, its public status, and every way it may change.

Each transition takes a row and gives the next one, or raises IllegalTransition. Nothing here writes: the store puts
the new row in place of the old one if the old one is still there.
"""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, structs

from reelworks.domain.failure import Failure
from reelworks.domain.instants import HOUR_MS, MINUTE_MS, SECOND_MS, Millis
from reelworks.domain.options import Options
from reelworks.domain.outcome import Accepted
from reelworks.domain.plan import INGEST, MediaSummary, ObjectFacts, Plan
from reelworks.errors import Conflict


class UploadStatus(StrEnum):
    """Each member says what it means and who makes the next move."""

    PENDING_UPLOAD = "PENDING_UPLOAD"
    """The row is there, the bytes are not known to be. Next: the client sends them, S3's event starts the ingest."""
    PROCESSING = "PROCESSING"
    """The bytes are there. Next: workers, until no task is open; the first of them makes the plan."""
    COMPLETED = "COMPLETED"
    """Every task is DONE. Terminal, unless its owner has it processed again."""
    FAILED = "FAILED"
    """The file was refused or a task failed for good; `failure` says why. Terminal, as COMPLETED is."""
    EXPIRED = "EXPIRED"
    """No object came in time. A new URL for it (a replayed request) or an object that comes after all revives it."""
    CANCELLED = "CANCELLED"
    """Its owner does not want it any more. Terminal."""


TRANSITIONS: Mapping[UploadStatus, frozenset[UploadStatus]] = {
    UploadStatus.PENDING_UPLOAD: frozenset(
        {UploadStatus.PROCESSING, UploadStatus.FAILED, UploadStatus.EXPIRED, UploadStatus.CANCELLED}
    ),
    UploadStatus.EXPIRED: frozenset(
        {UploadStatus.PENDING_UPLOAD, UploadStatus.PROCESSING, UploadStatus.FAILED}
    ),
    UploadStatus.PROCESSING: frozenset({UploadStatus.COMPLETED, UploadStatus.FAILED, UploadStatus.CANCELLED}),
    UploadStatus.COMPLETED: frozenset({UploadStatus.PROCESSING}),
    UploadStatus.FAILED: frozenset({UploadStatus.PROCESSING}),
    UploadStatus.CANCELLED: frozenset(),
}

AWAITING_OBJECT = frozenset({UploadStatus.PENDING_UPLOAD, UploadStatus.EXPIRED})
"""In these an arriving object is news."""

ENDED = frozenset({UploadStatus.COMPLETED, UploadStatus.FAILED})
"""From these an upload may be processed again."""


class WatchRules(Struct, frozen=True, kw_only=True):
    """When a sweep looks at an upload that seems to rest.

    `first_check_ms`: S3 announces an object within seconds, so two minutes without news is worth a HeadObject; then
    the interval doubles, up to `longest_check_ms`. `expiry_grace_ms`: an upload that began just before its URL ran
    out may still be under way. `processing_check_ms`: tasks have their own due times; this one only covers a lost
    last step. `notify_retry_ms`: how soon an event that could not be sent is tried again. `sweep_after_ms`: how long
    after its end an upload's left-over objects are deleted, so that players which opened an earlier stream can finish
    it and a worker that was given up long ago has noticed; 0 keeps them.
    """

    first_check_ms: int = 2 * MINUTE_MS
    expiry_grace_ms: int = 15 * MINUTE_MS
    longest_check_ms: int = 6 * HOUR_MS
    processing_check_ms: int = 10 * MINUTE_MS
    notify_retry_ms: int = 30 * SECOND_MS
    sweep_after_ms: int = 24 * HOUR_MS


class Earlier(Struct, frozen=True, kw_only=True):
    """The last generation that was COMPLETED, and its plan: what is shown until the present one has its own."""

    generation: int
    plan: Plan


class Upload(Struct, frozen=True, kw_only=True):
    """The row `UPLOAD#{upload_id}` / `META`.

    `options`: changes of the profile, as given.
    `file_name`: as the client gave it, for showing. `object_key`: made safe. `size_bytes`: as declared.
    `expires_at`: when the presigned request ends. `due_at`: when a sweep looks, None when nobody needs to.
    `notify_due`: an event about the terminal status is still to be sent (the outbox). `open_tasks`: tasks that are
    neither DONE nor FAILED nor SKIPPED; only ever taken from, one name at a time. `poster_choice`: the candidate that
    its owner chose among those at the prefix `poster_of`; None with a prefix is a choice that was taken back.
    `generation`: how often it was processed again; every task row belongs to one. `swept_at`: objects that were there
    then and that no row refers to are deleted, or about to be.
    """

    upload_id: str
    user_id: str
    project_id: str | None = None
    file_name: str
    object_key: str
    content_type: str
    size_bytes: int
    checksum_sha256: str | None = None
    profile: str = "default"
    options: Options | None = None
    callback_url: str | None = None
    priority: str | None = None
    status: UploadStatus = UploadStatus.PENDING_UPLOAD
    traceparent: str | None = None
    created_at: Millis
    updated_at: Millis
    expires_at: Millis
    due_at: Millis | None = None
    notify_due: Millis | None = None
    finished_at: Millis | None = None
    checks: int = 0
    object: ObjectFacts | None = None
    media: MediaSummary | None = None
    plan: Plan | None = None
    open_tasks: frozenset[str] = frozenset()
    failure: Failure | None = None
    poster_of: str | None = None
    poster_choice: int | None = None
    generation: int = 0
    earlier: Earlier | None = None
    swept_at: Millis | None = None


class IllegalTransition(Conflict):
    """The table has no such step: somebody else already took another one."""

    default_code = "illegal_transition"


def _moved(upload: Upload, status: UploadStatus, now: Millis) -> Upload:
    if status not in TRANSITIONS[upload.status]:
        raise IllegalTransition(f"Upload {upload.upload_id} is {upload.status}, it cannot become {status}.")
    return structs.replace(upload, status=status, updated_at=max(now, upload.updated_at))


def _terminal(
    upload: Upload, status: UploadStatus, now: Millis, rules: WatchRules, failure: Failure | None = None
) -> Upload:
    """Whoever writes this sends the event next; a sweep only looks if that did not happen in time."""
    moved = _moved(upload, status, now)
    due = now + rules.notify_retry_ms
    return structs.replace(moved, failure=failure, finished_at=now, notify_due=now, due_at=due, checks=0)


def accepted(upload: Upload, news: Accepted, now: Millis, rules: WatchRules) -> Upload:
    """The object is good: PROCESSING, every planned task open, and about these very bytes from here on."""
    if not unplanned(upload):
        raise IllegalTransition(f"Upload {upload.upload_id} is {upload.status} and has a plan already.")
    return structs.replace(
        upload,
        status=UploadStatus.PROCESSING,
        updated_at=max(now, upload.updated_at),
        object=news.object,
        plan=news.plan,
        media=news.media,
        open_tasks=frozenset(task.name for task in news.plan.tasks),
        due_at=now + rules.processing_check_ms,
        notify_due=None,
        finished_at=None,
        checks=0,
    )


def unplanned(upload: Upload) -> bool:
    """Whether its ingest is still to come, or under way."""
    return upload.status in AWAITING_OBJECT or (
        upload.status is UploadStatus.PROCESSING and upload.plan is None
    )


def reprocessed(
    upload: Upload, profile: str, options: Options | None, now: Millis, rules: WatchRules
) -> Upload:
    """The same bytes once more, from the ingest on. What the last COMPLETED generation made is shown meanwhile."""
    if upload.status not in ENDED:
        raise IllegalTransition(
            f"Upload {upload.upload_id} is {upload.status}, it cannot be processed again."
        )
    earlier = upload.earlier
    if upload.status is UploadStatus.COMPLETED and upload.plan is not None:
        earlier = Earlier(generation=upload.generation, plan=upload.plan)
    return structs.replace(
        _moved(upload, UploadStatus.PROCESSING, now),
        generation=upload.generation + 1,
        earlier=earlier,
        profile=profile,
        options=options,
        plan=None,
        open_tasks=frozenset({INGEST}),
        failure=None,
        finished_at=None,
        notify_due=None,
        due_at=now + rules.first_check_ms,
        checks=0,
    )


def renewed(upload: Upload, expires_at: Millis, now: Millis, rules: WatchRules) -> Upload:
    """Its client asked for another URL: awaited (again) until that one ends, and looked at as if it were new."""
    if upload.status is not UploadStatus.PENDING_UPLOAD:
        upload = _moved(upload, UploadStatus.PENDING_UPLOAD, now)
    return structs.replace(
        upload,
        expires_at=max(expires_at, upload.expires_at),
        due_at=max(now + rules.first_check_ms, (upload.due_at or 0) + 1),
        notify_due=None,
        finished_at=None,
        checks=0,
        updated_at=now,
    )


def completed(upload: Upload, now: Millis, rules: WatchRules) -> Upload:
    """Nothing is open and nothing failed. Nothing earlier needs to be shown any more."""
    return structs.replace(_terminal(upload, UploadStatus.COMPLETED, now, rules), earlier=None)


def failed(upload: Upload, failure: Failure, now: Millis, rules: WatchRules) -> Upload:
    """Refused at ingest, or a task failed for good."""
    return _terminal(upload, UploadStatus.FAILED, now, rules, failure)


def expired(upload: Upload, now: Millis, rules: WatchRules) -> Upload:
    """The presigned request ended long enough ago and there is no object."""
    return _terminal(upload, UploadStatus.EXPIRED, now, rules)


def cancelled(upload: Upload, now: Millis, rules: WatchRules) -> Upload:
    """By its owner."""
    return _terminal(upload, UploadStatus.CANCELLED, now, rules)


def notified(upload: Upload, now: Millis, rules: WatchRules) -> Upload:
    """The event about the terminal status is out: the last one to look sweeps up what nothing refers to."""
    litters = upload.status is not UploadStatus.EXPIRED and rules.sweep_after_ms > 0
    due = (upload.finished_at or now) + rules.sweep_after_ms
    return structs.replace(upload, notify_due=None, due_at=due if litters else None, checks=0)


def sweeping(upload: Upload, now: Millis, rules: WatchRules) -> Upload:
    """About to delete what no row refers to now. From here on no attempt may refer to anything of it either."""
    due = max(now + rules.processing_check_ms, (upload.due_at or 0) + 1)
    return structs.replace(upload, swept_at=now, due_at=due)


def swept(upload: Upload) -> Upload:
    """Nothing is left over: nobody needs to look any more."""
    return structs.replace(upload, due_at=None)


def watched_again(upload: Upload, now: Millis, rules: WatchRules) -> Upload:
    """Looked at, nothing final found: the next look, later each time while the object is awaited."""
    if upload.notify_due is not None:
        due = now + rules.notify_retry_ms * 2 ** min(upload.checks, 6)
    elif upload.status in AWAITING_OBJECT:
        pause = rules.first_check_ms * 2 ** min(upload.checks + 1, 10)
        end = upload.expires_at + rules.expiry_grace_ms
        due = min(now + pause, end) if now < end else now + min(pause, rules.longest_check_ms)
    else:
        due = now + rules.processing_check_ms
    return structs.replace(upload, due_at=max(due, (upload.due_at or 0) + 1), checks=upload.checks + 1)


def overdue(upload: Upload, now: Millis, rules: WatchRules) -> bool:
    """Whether an upload without an object has waited long enough to expire."""
    return upload.status is UploadStatus.PENDING_UPLOAD and now >= upload.expires_at + rules.expiry_grace_ms
