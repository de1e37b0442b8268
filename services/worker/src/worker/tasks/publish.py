"""Segments on their way to the media bucket: with the right type, cached for ever: no key is written twice.

A segment is sent as soon as ffmpeg has begun the next one: when the last is written, most are there.
"""

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from reelworks.streaming.manifest import Rendition
from worker.media.encode.segmenting import INIT_NAME, SEGMENT_SUFFIX
from worker.media.hls import measure
from worker.tasks.source import Buckets
from worker.work import Work

FOREVER = "public, max-age=31536000, immutable"
BRIEFLY = "public, max-age=60"
"""Playlists and manifests: a new one may come from a reprocess."""
CONNECTIONS = 4
"""One connection to S3 does about 50 MB/s, and small segments wait for the round trip."""
VIDEO, AUDIO = "video/iso.segment", "audio/mp4"
VIDEO_INIT, AUDIO_INIT = "video/mp4", "audio/mp4"


class Sender:
    """Sends what ffmpeg writes into directories, each a rendition of the same `kind`: with pictures or without.

    Leaving it waits for nothing: what was not asked for with `rendition` is left to be swept.
    """

    def __init__(self, work: Work, buckets: Buckets, *, pictures: bool) -> None:
        self._work = work
        self._media = buckets.media
        self._segment_type = VIDEO if pictures else AUDIO
        self._init_type = VIDEO_INIT if pictures else AUDIO_INIT
        self._pool = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="send")
        self._sent: dict[Path, Future[None]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)

    def look(self, directories: Iterable[Path]) -> None:
        """Begin to send what is finished by now: every segment but the newest of each directory. Cheap, never waits."""
        for directory in directories:
            for path in sorted(directory.glob(f"*{SEGMENT_SUFFIX}"))[:-1]:
                if path not in self._sent:
                    self._sent[path] = self._pool.submit(self._send, path)

    def rendition(self, directory: Path) -> Rendition | None:
        """Measure what ffmpeg has left there, and see that all of it is in the bucket. None if it is nothing.

        What could not be sent while ffmpeg was at work is sent again: by now there is an encode to lose.
        """
        measured = measure.rendition(directory, self._prefix(directory))
        if measured is None:
            return None
        keys = (measured.init.key, *(segment.key for segment in measured.segments))
        paths = [directory / key.rpartition("/")[2] for key in keys]
        for path in paths:
            early = self._sent.get(path)
            if early is None or early.exception() is not None:
                self._sent[path] = self._pool.submit(self._send, path)
        for path in paths:
            self._sent[path].result()
        return measured

    def _prefix(self, directory: Path) -> str:
        return f"{self._work.prefix}{directory.name}/"

    def _send(self, path: Path) -> None:
        self._work.cancellation.check()
        kind = self._init_type if path.name == INIT_NAME else self._segment_type
        self._media.upload(path, self._prefix(path.parent) + path.name, kind, FOREVER)
