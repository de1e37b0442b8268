"""The uploaded file and what the ingest found out about it, for every task that decodes it."""

from typing import Protocol

import msgspec

from reelworks.domain.upload import Upload
from reelworks.errors import Temporary
from reelworks.ports import BlobStore
from worker.media.audio import MediaFile
from worker.media.report import MediaReport
from worker.tasks.ingest import SOURCE_NAME
from worker.work import Work

MAX_REPORT_BYTES = 4_000_000


class Buckets(Protocol):
    """The part of a task's dependencies that is used here."""

    @property
    def raw(self) -> BlobStore: ...

    @property
    def media(self) -> BlobStore: ...


def report(upload: Upload, media: BlobStore) -> MediaReport:
    """Raises Temporary (`report_missing`)."""
    key = upload.media.report_key if upload.media else None
    stored = media.get(key, MAX_REPORT_BYTES) if key else None
    if stored is None:
        raise Temporary("The probe report of this upload is not in the media bucket.", code="report_missing")
    return msgspec.json.decode(stored, type=MediaReport)


def fetch(work: Work, buckets: Buckets, found: MediaReport | None = None) -> MediaFile:
    """The object that was probed, in the scratch directory, under a name that is ours. `found`: its report, if known.

    Raises Temporary (`report_missing`, `object_missing`).
    """
    facts = work.upload.object
    if facts is None:
        raise Temporary("The upload has not been ingested.", code="object_missing")
    path = work.scratch / SOURCE_NAME
    found = found or report(work.upload, buckets.media)
    buckets.raw.download(work.upload.object_key, facts, path, work.cancellation)
    return MediaFile(path=path, report=found)
