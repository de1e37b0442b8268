"""Segments on their way to the media bucket: with the right type, cached for ever: no key is written twice."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from reelworks.streaming.manifest import Rendition
from worker.media.encode.segmenting import INIT_NAME
from worker.media.hls import measure
from worker.tasks.source import Buckets
from worker.work import Work

FOREVER = "public, max-age=31536000, immutable"
BRIEFLY = "public, max-age=60"
"""Playlists and manifests: a new one may come from a reprocess."""
CONNECTIONS = 4
"""One connection to S3 does about 50 MB/s, and small segments wait for the round trip."""


def rendition(work: Work, buckets: Buckets, directory: Path) -> Rendition | None:
    """Measure and upload what ffmpeg left in a directory. None if that is nothing."""
    prefix = f"{work.prefix}{directory.name}/"
    measured = measure.rendition(directory, prefix)
    if measured is None:
        return None
    names = [INIT_NAME, *(segment.key.removeprefix(prefix) for segment in measured.segments)]
    segment_type = "video/iso.segment" if measured.init.width else "audio/mp4"
    init_type = "video/mp4" if measured.init.width else "audio/mp4"

    def send(name: str) -> None:
        work.cancellation.check()
        kind = init_type if name == INIT_NAME else segment_type
        buckets.media.upload(directory / name, prefix + name, kind, FOREVER)

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(send, names))
    return measured
