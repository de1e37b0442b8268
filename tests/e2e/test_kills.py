"""A worker is killed in the middle of whatever it does, again and again: no finished rendition is encoded twice."""

import json
import shlex
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import Struct

from reelworks.domain.keys import task_prefix
from reelworks.domain.plan import TaskKind
from reelworks.domain.task import TaskStatus
from reelworks.domain.upload import Upload, UploadStatus
from tests.media.fixtures import samples, tools
from tests.media.samples import Samples
from tests.processes import Service, eventually, pending, running
from tests.world import World
from worker.media.tools import find_tools
from worker.tasks import reuse

__all__ = ["samples", "tools"]

KILLS = "kills"
LEASE = {"lease_heartbeat_s": 0.5, "lease_length_s": 3, "lease_skew_s": 0.5}
ENCODERS = (TaskKind.VIDEO, TaskKind.AUDIO)


class Encode(Struct, frozen=True):
    """One ffmpeg: which renditions it was told to make, in epoch seconds; without an end if it was killed."""

    names: frozenset[str]
    begin: float
    end: float | None


class Kitchen:
    """An ffmpeg that writes down when it begins and ends. `kills`: when workers died."""

    def __init__(self, folder: Path) -> None:
        self.kills: list[float] = []
        self._log = folder / "encodes.log"
        self._log.touch()
        self.ffmpeg = folder / "logged-ffmpeg"
        # The inner ffmpeg dies with the shell, as the shell dies with the worker.
        self.ffmpeg.write_text(
            f"""#!/bin/sh
echo "begin $$ $(date +%s.%N) $*" >> {shlex.quote(str(self._log))}
setpriv --pdeathsig KILL {shlex.quote(find_tools().ffmpeg)} "$@"
code=$?
echo "end $$ $(date +%s.%N)" >> {shlex.quote(str(self._log))}
exit $code
"""
        )
        self.ffmpeg.chmod(0o755)

    def encodes(self) -> list[Encode]:
        begun, ended = {}, {}
        for line in self._log.read_text().splitlines():
            what, pid, at, *words = line.split()
            if what == "end":
                ended[pid] = float(at)
            elif names := frozenset(Path(word).parent.name for word in words if word.endswith(".m3u8")):
                begun[pid] = (names, float(at))
        return [Encode(names, at, ended.get(pid)) for pid, (names, at) in begun.items()]

    def seconds(self, encode: Encode) -> float:
        """Up to its end, or the kill that ended it."""
        killed = (at for at in self.kills if at > encode.begin)
        return (encode.end or min(killed)) - encode.begin


@pytest.fixture
def kitchen(tmp_path: Path) -> Kitchen:
    return Kitchen(tmp_path)


def finished_at(world: World, upload: Upload, task: str) -> dict[str, list[float]]:
    """Of each rendition of a task, when an attempt had finished it, in epoch seconds."""
    root = task_prefix(upload.user_id, upload.upload_id, task)
    found: dict[str, list[float]] = {}
    for listed in world.adapters.media.list(root):
        *_, name, last = listed.key.split("/")
        if last == reuse.NAME:
            found.setdefault(name, []).append(listed.modified_at / 1_000)
    return found


def unharmed(world: World, upload: Upload, harmed: set[TaskKind]) -> TaskKind | None:
    """A kind that runs and was not killed yet. Or the end: then there is nothing left to kill."""
    snapshot = world.snapshot(upload)
    if snapshot.upload.status in (UploadStatus.COMPLETED, UploadStatus.FAILED):
        raise StopIteration
    kinds = (task.kind for task in snapshot.tasks.values() if task.status is TaskStatus.RUNNING)
    return next((kind for kind in kinds if kind not in harmed), None)


def killed(kitchen: Kitchen, worker: Service) -> None:
    worker.send(signal.SIGKILL)
    worker.exit_code(5)
    kitchen.kills.append(time.time())


def kept_one(worker: Service) -> bool:
    return "rendition.encoded" in worker.log.read_text(errors="replace")


@pytest.mark.parametrize("after_rendition", [False, True], ids=["while it runs", "after a rendition"])
def test_kills_cost_no_finished_rendition(
    world: World,
    samples: Samples,
    kitchen: Kitchen,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
    *,
    after_rendition: bool,
) -> None:
    picture = ("-f", "lavfi", "-i", "testsrc=s=1280x720:r=25:d=6", "-f", "lavfi", "-i", "sine=d=6")
    codecs = ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac")
    upload = pending(world, samples.encoded("kills.mp4", *picture, *codecs), "video/mp4", "default")
    harmed: set[TaskKind] = set()
    settings = {"media_ffmpeg": kitchen.ffmpeg, "worker_scratch_dir": tmp_path / "scratch", **LEASE}
    for life in range(12):
        with running(world, "worker", tmp_path / str(life), **settings) as worker:
            if after_rendition and life < 2:
                eventually(lambda w=worker: kept_one(w), "a rendition is finished")  # type: ignore[misc]
                killed(kitchen, worker)
                continue
            try:
                kind = eventually(lambda: unharmed(world, upload, harmed), "something runs, or all is done")
            except StopIteration:
                break
            harmed.add(kind)
            killed(kitchen, worker)
    snapshot = world.snapshot(upload)
    assert snapshot.upload.status is UploadStatus.COMPLETED, snapshot

    encodes = kitchen.encodes()
    done: Counter[str] = Counter()
    for task in snapshot.tasks.values():
        if task.kind not in ENCODERS:
            continue
        for name, times in finished_at(world, upload, task.name).items():
            done[name] += 1
            assert len(times) == 1, f"{name} of {task.name} was finished {len(times)} times"
            # S3 tells whole seconds; the next attempt begins after a lease, which is longer.
            again = [e for e in encodes if name in e.names and e.begin > times[0] + 1]
            assert not again, f"{name} of {task.name} was begun again after it had been finished"
    needed = sum(kitchen.seconds(e) for e in encodes if e.end is not None)
    spent = sum(kitchen.seconds(e) for e in encodes)
    assert set(done) >= {"audio", "360", "720"}
    if not after_rendition:
        assert harmed >= {TaskKind.VIDEO, TaskKind.AUDIO}
    said = {
        "kills": len(kitchen.kills),
        "kinds": sorted(harmed),
        "encode_seconds_spent": round(spent, 2),
        "encode_seconds_needed": round(needed, 2),
        "spent_over_needed": round(spent / needed, 2),
    }
    record_property(KILLS, json.dumps(said))
