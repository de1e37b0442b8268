"""Damaged files through everything: each ends, with what could be made of it or a reason; nothing stays behind.

The ports are in memory, the handlers and ffmpeg are real. `make fuzz SEED=7 N=500 ONLY=17-mp4-hole` is the same file
again; pytest's temporary directory has it.
"""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from reelworks.adapters.wiring import Adapters
from reelworks.domain.options import Options
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.task import TaskStatus
from reelworks.domain.upload import Upload, UploadStatus
from reelworks.ports import SignedRequest
from reelworks.runtime.settings import Media, Settings
from reelworks.streaming import manifest
from reelworks.testing import FakeClock, InMemory
from tests.fuzz.conftest import FUZZ
from tests.fuzz.variants import VARIANTS, Variant
from tests.integration.pipeline import Pipeline
from tests.media.samples import Samples
from tests.media.viewer import Viewer
from tests.world import World
from worker.media.tools import Tools
from worker.scratch import Scratch

QUICK = Options(preset="ultrafast", per_title=False)
STEP_S = 120.0
STEPS = 40
"""Until retries with their delays are over; what is not then, hangs."""
SLOW = 20.0
"""Seconds without progress after which ffmpeg is given up."""
OUR_FAULT = {"unexpected", "worker_unfit", "scratch_unusable", "media_stalled", "media_timeout"}
"""Codes that blame the worker. A file must not be able to bring one about."""


class Trial(Pipeline):
    """One installation in memory for one file."""

    def __init__(self, folder: Path) -> None:
        self.memory, self.clock = InMemory.make(clock := FakeClock()), clock
        media = Media(stall_s=SLOW, chunk_above_s=2, chunk_s=2)
        self.folder = folder / "scratch"
        adapters = cast("Adapters", self.memory)  # the same names
        super().__init__(World(adapters, Settings(media=media), Scratch(str(self.folder))))

    def send(self, signed: SignedRequest, body: bytes) -> None:
        assert self.memory.raw.client_put(signed.url, signed.headers, body) == 200

    def run(self, file: Path, **kwargs: Any) -> Snapshot:
        upload = self.announce(file, **kwargs)
        for _ in range(STEPS):
            self.work()
            snapshot = self.world.snapshot(upload)
            if snapshot.upload.status in (UploadStatus.COMPLETED, UploadStatus.FAILED):
                return snapshot
            self.clock.advance(STEP_S)
            self.world.sweep().run()
        raise AssertionError(f"it never ends: {snapshot}")

    def published(self, snapshot: Snapshot, folder: Path) -> Iterator[Path]:
        """Whatever can be watched or heard: pictures, films, and the parts of tracks put together."""
        media, tracks = self.memory.media, dict[str, list[str]]()
        for name, task in sorted(snapshot.tasks.items()):
            if task.outputs is None:
                continue
            if manifest.LOGICAL_NAME in task.outputs.files:
                for found in manifest.read(task.outputs, media).renditions:
                    keys = tracks.setdefault(found.name, [found.init.key])
                    keys += (segment.key for segment in found.segments)
            single = (key for key in task.outputs.files.values() if key.endswith((".jpg", ".mp4")))
            yield from (self._saved(folder / f"{name}-{Path(key).name}", [key]) for key in single)
        yield from (self._saved(folder / f"track-{name}.mp4", keys) for name, keys in tracks.items())

    def _saved(self, path: Path, keys: list[str]) -> Path:
        path.write_bytes(b"".join(self.memory.media.objects[key].body for key in keys))
        return path


def children() -> set[str]:
    """Processes below this one."""
    listed = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "comm="], capture_output=True, text=True, check=False
    )
    return {name.strip() for name in listed.stdout.splitlines()} - {"ps"}


def belongs(key: str, upload: Upload) -> bool:
    return key.startswith(f"processed/{upload.user_id}/{upload.upload_id}/")


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_ends(
    variant: Variant,
    samples: Samples,
    tools: Tools,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    file = tmp_path / f"{variant}.{variant.format}"
    file.write_bytes(variant.bytes(samples))
    trial = Trial(tmp_path)
    before = children()
    options = QUICK if variant.content_type.startswith("video/") else None
    profile = "audio" if variant.content_type.startswith("audio/") else "default"
    snapshot = trial.run(file, content_type=variant.content_type, profile=profile, options=options)
    upload = snapshot.upload
    ending = upload.failure.code if upload.failure else str(upload.status.value)
    record_property(FUZZ, (variant.format, ending))

    assert children() == before
    assert not list(trial.folder.glob("*/attempt-*"))
    assert all(belongs(key, upload) for key in trial.memory.media.objects)
    assert list(trial.memory.raw.objects) == [upload.object_key]
    assert trial.memory.raw.objects[upload.object_key].body == file.read_bytes()
    assert not any(lanes for lane, lanes in trial.memory.queue.lanes.items() if lane != "dlq")
    if upload.status is UploadStatus.FAILED:
        assert upload.failure
        assert upload.failure.code not in OUR_FAULT, upload.failure
        assert upload.failure.message.endswith(".")
        return
    assert all(task.status is TaskStatus.DONE for task in snapshot.tasks.values())
    viewer, published = Viewer(tools), list(trial.published(snapshot, tmp_path))
    assert published
    for path in published:
        assert viewer.decodes_cleanly(path), path.name
