"""Segments are sent while later ones are still being written; at the end all of them are there."""

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from reelworks.errors import LeaseLost, Unreachable
from reelworks.runtime.cancellation import Cancellation
from reelworks.testing import FakeClock, InMemoryBlobStore
from tests.media.samples import Samples
from tests.media.studio import ROOT, Studio
from tests.unit.core.domain.builders import make_task, make_upload
from worker.media.engine import MediaEngine
from worker.tasks.publish import FOREVER, Sender
from worker.work import Work

PREFIX = "processed/ada/x/tasks/video-000/t1/"


class Bucket(InMemoryBlobStore):
    """Counts, and fails as often as it is told to."""

    def __init__(self) -> None:
        super().__init__(FakeClock())
        self.failures = 0
        self.sent: list[str] = []
        self.arrived = threading.Condition()

    def upload(self, path: Path, key: str, content_type: str, cache_control: str | None = None) -> None:
        with self.arrived:
            self.sent.append(key)
            failing = self.failures > 0
            self.failures -= failing
            if not failing:
                super().upload(path, key, content_type, cache_control)
            self.arrived.notify_all()
        if failing:
            raise Unreachable("no bucket")

    def wait_for(self, count: int) -> None:
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.sent) >= count, timeout=30)


class Buckets:
    def __init__(self) -> None:
        self.media = Bucket()
        self.raw = self.media


@pytest.fixture
def buckets() -> Buckets:
    return Buckets()


@pytest.fixture
def cancellation() -> Cancellation:
    return Cancellation()


@pytest.fixture
def sender(buckets: Buckets, cancellation: Cancellation, tmp_path: Path) -> Iterator[Sender]:
    work = Work(
        upload=make_upload(),
        task=make_task(),
        inputs={},
        scratch=tmp_path,
        prefix=PREFIX,
        cancellation=cancellation,
        report=lambda _: None,
    )
    with Sender(work, buckets, pictures=True) as opened:
        yield opened


@pytest.fixture
def made(samples: Samples, engine: MediaEngine, tmp_path: Path) -> Path:
    """A rendition as ffmpeg leaves it: an init segment and some others."""
    folder = tmp_path / "made"
    folder.mkdir()
    studio = Studio(samples.video(), folder, engine)
    studio.use(studio.plan(heights=(90,), gop=24, segment=24))
    studio.run("video-000")
    rung = tmp_path / "90"
    rung.mkdir()
    for key, found in studio.media.objects.items():
        if key.startswith(ROOT) and "/90/" in key and key.endswith((".mp4", ".m4s")):
            (rung / key.rpartition("/")[2]).write_bytes(found.body)
    return rung


def names(bucket: InMemoryBlobStore) -> set[str]:
    return {key.removeprefix(f"{PREFIX}90/") for key in bucket.objects}


def test_the_newest_segment_waits_for_its_end(sender: Sender, buckets: Buckets, made: Path) -> None:
    growing = made.parent / "growing" / "90"
    growing.mkdir(parents=True)
    for number in range(3):
        shutil.copy(made / f"0000{number}.m4s", growing)
        sender.look([growing])
    buckets.media.wait_for(2)
    assert names(buckets.media) == {"00000.m4s", "00001.m4s"}
    shutil.copytree(made, growing, dirs_exist_ok=True)
    rendition = sender.rendition(growing)
    assert rendition
    assert names(buckets.media) == {path.name for path in made.iterdir()}
    assert sorted(buckets.media.sent) == sorted(set(buckets.media.sent))
    sizes = {rendition.init.key: rendition.init.bytes} | {s.key: s.bytes for s in rendition.segments}
    for key, size in sizes.items():
        stored = buckets.media.objects[key]
        assert (len(stored.body), stored.cache_control) == (size, FOREVER)
    assert buckets.media.objects[rendition.init.key].content_type == "video/mp4"
    assert buckets.media.objects[rendition.segments[0].key].content_type == "video/iso.segment"


def test_what_failed_on_the_way_is_sent_again_at_the_end(
    sender: Sender, buckets: Buckets, made: Path
) -> None:
    buckets.media.failures = 3
    sender.look([made])
    buckets.media.wait_for(3)
    assert names(buckets.media) == set()
    assert sender.rendition(made)
    assert names(buckets.media) == {path.name for path in made.iterdir()}


def test_what_fails_at_the_end_fails(sender: Sender, buckets: Buckets, made: Path) -> None:
    buckets.media.failures = 1
    with pytest.raises(Unreachable):
        sender.rendition(made)


def test_a_lost_lease_sends_nothing_more(
    sender: Sender, buckets: Buckets, cancellation: Cancellation, made: Path
) -> None:
    cancellation.cancel(LeaseLost("gone"))
    sender.look([made])
    with pytest.raises(LeaseLost):
        sender.rendition(made)
    assert not buckets.media.objects


def test_nothing_is_nothing(sender: Sender, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    sender.look([empty, tmp_path / "never"])
    assert sender.rendition(empty) is None
