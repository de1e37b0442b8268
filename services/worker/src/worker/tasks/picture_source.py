"""The upload of a task on the local disk, ready to be decoded."""

import msgspec

from reelworks.errors import Permanent, Temporary
from reelworks.ports import BlobStore
from worker.media.audio import MediaFile
from worker.media.engine import MediaEngine
from worker.media.pictures.sampling import Source
from worker.media.report import MediaReport
from worker.tasks.ingest import SOURCE_NAME
from worker.work import Work

MAX_REPORT_BYTES = 4_000_000


def fetch(work: Work, *, raw: BlobStore, media: BlobStore, engine: MediaEngine) -> Source:
    """Download exactly what the ingest saw, with what it found out.

    Raises `Temporary` (`report_missing`), `Permanent` (`no_picture`) for a file without a moving picture.
    """
    upload = work.upload
    key = upload.media.report_key if upload.media else None
    stored = media.get(key, MAX_REPORT_BYTES) if key else None
    if stored is None or upload.object is None:
        raise Temporary("The probe report of this upload is not in the media bucket.", code="report_missing")
    report = msgspec.json.decode(stored, type=MediaReport)
    stream = report.picture
    if stream is None:
        raise Permanent("The file has no moving picture.", code="no_picture")
    path = work.scratch / SOURCE_NAME
    raw.download(upload.object_key, upload.object, path, work.cancellation)
    return Source(
        file=MediaFile(path=path, report=report),
        stream=stream,
        engine=engine,
        cancellation=work.cancellation,
        scratch=work.scratch,
    )
