"""Thumbnails: an uploaded image in sizes for the web."""

from msgspec import Struct

from reelworks.domain.outcome import Done, Outcome, Outputs
from reelworks.errors import Temporary
from reelworks.ports import BlobStore
from worker.media.engine import MediaEngine
from worker.media.pictures import images, jpeg
from worker.tasks.ingest import SOURCE_NAME
from worker.work import Work

SIZES = {"preview": 1600, "thumb-640": 640, "thumb-320": 320, "thumb-160": 160}
"""Longer sides, the largest first. A smaller image keeps its own size under every name."""
FETCHED, RESIZED = 0.3, 0.8
"""Fractions of the whole, by and large."""


class ThumbnailsDependencies(Struct, frozen=True, kw_only=True):
    """The buckets and ffmpeg."""

    raw: BlobStore
    media: BlobStore
    engine: MediaEngine


def thumbnails(work: Work, needs: ThumbnailsDependencies) -> Outcome:
    """Done with the names of SIZES. Permanent for what is no picture, too large or damaged."""
    facts = work.upload.object
    if facts is None:
        raise Temporary("The upload has no object yet.", code="object_missing")
    source = work.scratch / SOURCE_NAME
    needs.raw.download(work.upload.object_key, facts, source, work.cancellation)
    work.report(FETCHED)
    paths = {name: work.scratch / f"{name}.jpg" for name in SIZES}
    wanted = {paths[name]: longest for name, longest in SIZES.items()}
    images.resize(source, wanted, engine=needs.engine, cancellation=work.cancellation)
    work.report(RESIZED)
    files = {name: work.prefix + path.name for name, path in paths.items()}
    for name, path in paths.items():
        needs.media.upload(path, files[name], jpeg.CONTENT_TYPE, jpeg.IMMUTABLE)
    work.report(1.0)
    return Done(outputs=Outputs(prefix=work.prefix, files=files))
