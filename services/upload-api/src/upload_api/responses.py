"""The bodies of answers: camelCase, instants in RFC 3339, nothing of the rows that is not meant for clients."""

from collections.abc import Mapping
from typing import Self

from msgspec import Struct

from reelworks.domain import progress
from reelworks.domain import snapshot as snapshots
from reelworks.domain.failure import Failure
from reelworks.domain.instants import Millis, iso8601
from reelworks.domain.options import Options
from reelworks.domain.plan import INGEST
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.task import Task
from upload_api.results import PlaybackView, PosterView, RenditionView
from upload_api.service import Receipt, Report


class UploadTicket(Struct, frozen=True, kw_only=True, rename="camel"):
    """Send the file to `uploadUrl` with `method` and exactly these `headers`, before `expiresAt`."""

    upload_id: str
    object_key: str
    upload_url: str
    method: str
    headers: Mapping[str, str]
    expires_at: str

    @classmethod
    def of(cls, receipt: Receipt) -> Self:
        """For the client that asked."""
        return cls(
            upload_id=receipt.upload.upload_id,
            object_key=receipt.upload.object_key,
            upload_url=receipt.signed.url,
            method=receipt.signed.method,
            headers=receipt.signed.headers,
            expires_at=iso8601(receipt.signed.expires_at),
        )


class ErrorView(Struct, frozen=True, kw_only=True):
    """`code`: a stable word for machines. `message`: a sentence for people."""

    code: str
    message: str

    @classmethod
    def of(cls, failure: Failure | None) -> Self | None:
        """Without what only operators need."""
        return cls(code=failure.code, message=failure.message) if failure else None


class TaskView(Struct, frozen=True, kw_only=True, rename="camel"):
    """One step. `progress`: 0 to 1. `error`: of the last attempt that failed, also while another one is to come."""

    name: str
    kind: str
    status: str
    attempts: int
    progress: float
    error: ErrorView | None
    started_at: str | None
    finished_at: str | None

    @classmethod
    def of(cls, task: Task) -> Self:
        """A task for its owner."""
        return cls(
            name=task.name,
            kind=task.kind,
            status=task.status,
            attempts=task.attempts,
            progress=round(task.progress, 3),
            error=ErrorView.of(task.failure or task.last_error),
            started_at=_instant(task.started_at),
            finished_at=_instant(task.finished_at),
        )


class Captions(Struct, frozen=True, kw_only=True):
    """URLs of the whole transcript, good for about an hour; ask again for fresh ones."""

    json: str | None = None
    txt: str | None = None
    srt: str | None = None
    vtt: str | None = None


class UploadView(Struct, frozen=True, kw_only=True, rename="camel"):
    """`attempts`: of the task that needed most. `transcript`: its beginning, null before it is there, "" if nobody
    speaks. `progress`: of the whole, 0 to 1. `seconds_left`: an estimate, null before there is one. The rest is there
    as soon as its task is done, see `results`. `generation`: how often it was processed again; while it is, what was
    there before stays until its successor is done.
    """

    upload_id: str
    status: str
    generation: int
    attempts: int
    transcript: str | None
    error: ErrorView | None
    updated_at: str
    file_name: str
    content_type: str
    size_bytes: int
    profile: str
    options: Options | None
    created_at: str
    expires_at: str
    progress: float
    seconds_left: int | None
    tasks: tuple[TaskView, ...]
    captions: Captions | None
    renditions: tuple[RenditionView, ...]
    poster: PosterView | None
    playback: PlaybackView | None
    preview: str | None
    downloads: Mapping[str, str]
    thumbnails: Mapping[str, str]

    @classmethod
    def of(cls, report: Report) -> Self:
        """An upload for its owner."""
        upload, made = report.snapshot.upload, report.results
        return cls(
            upload_id=upload.upload_id,
            status=upload.status,
            generation=upload.generation,
            attempts=snapshots.attempts(report.snapshot),
            transcript=report.transcript,
            error=ErrorView.of(upload.failure),
            updated_at=iso8601(_last_change(report.snapshot)),
            file_name=upload.file_name,
            content_type=upload.content_type,
            size_bytes=upload.size_bytes,
            profile=upload.profile,
            options=upload.options,
            created_at=iso8601(upload.created_at),
            expires_at=iso8601(upload.expires_at),
            progress=progress.total(report.snapshot),
            seconds_left=report.seconds_left,
            tasks=tuple(TaskView.of(task) for task in _in_order(report.snapshot)),
            captions=Captions(**report.captions) if report.captions is not None else None,
            renditions=made.renditions,
            poster=made.poster,
            playback=made.playback,
            preview=made.preview,
            downloads=made.downloads,
            thumbnails=made.thumbnails,
        )


def _in_order(snapshot: Snapshot) -> list[Task]:
    plan = snapshot.upload.plan
    names = [INGEST, *(task.name for task in plan.tasks)] if plan else [INGEST]
    return sorted(snapshot.tasks.values(), key=lambda task: (_place(task.name, names), task.name))


def _place(name: str, names: list[str]) -> int:
    return names.index(name) if name in names else len(names)


def _last_change(snapshot: Snapshot) -> Millis:
    return max([snapshot.upload.updated_at, *(task.updated_at for task in snapshot.tasks.values())])


def _instant(instant: Millis | None) -> str | None:
    return iso8601(instant) if instant is not None else None
