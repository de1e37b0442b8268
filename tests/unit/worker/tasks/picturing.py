"""Work on a file that lies in a bucket in memory, as the ingest left it."""

from pathlib import Path

import msgspec

from reelworks.domain.outcome import Done, Outcome, Outputs
from reelworks.domain.plan import MediaSummary, TaskKind
from reelworks.runtime.cancellation import Cancellation
from reelworks.testing.blobs import InMemoryBlobStore
from reelworks.testing.clock import FakeClock
from tests.unit.core.domain.builders import make_task, make_upload
from worker.media.engine import MediaEngine
from worker.media.report import MediaReport
from worker.work import Work

PREFIX = "processed/ada/0123/tasks/pictures/token/"
REPORT_KEY = "processed/ada/0123/tasks/ingest/token/probe.json"


class Studio:
    """`raw` and `media` are the buckets, `told` what was reported."""

    def __init__(self, scratch: Path, engine: MediaEngine) -> None:
        self.raw, self.media = (InMemoryBlobStore(FakeClock(), name) for name in ("raw", "media"))
        self.scratch = scratch
        self.engine = engine
        self.cancellation = Cancellation()
        self.told: list[float] = []

    def work(self, source: Path, report: MediaReport | None, kind: TaskKind) -> Work:
        """A task on that file; without a report there is none in the bucket."""
        media = MediaSummary(format="mov", has_audio=False, has_video=True, report_key=REPORT_KEY)
        upload = make_upload(media=media)
        self.raw.put(upload.object_key, source.read_bytes(), "video/mp4")
        if report is not None:
            self.media.put(REPORT_KEY, msgspec.json.encode(report), "application/json")
        facts = self.raw.head(upload.object_key)
        return Work(
            upload=msgspec.structs.replace(upload, object=facts),
            task=make_task(name=kind.value, kind=kind),
            inputs={},
            scratch=self.scratch,
            prefix=PREFIX,
            cancellation=self.cancellation,
            report=self.told.append,
        )

    def saved(self, key: str, directory: Path) -> Path:
        """An object as a file."""
        path = directory / key.rpartition("/")[2]
        path.write_bytes(self.media.objects[key].body)
        return path


def outputs(outcome: Outcome) -> Outputs:
    assert isinstance(outcome, Done)
    return outcome.outputs
