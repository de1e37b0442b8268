"""Real worker processes under real signals: handed on, killed, paused; the upload ends right all the same."""

import signal
import subprocess
import time
import wave
from collections.abc import Callable
from pathlib import Path

import pytest

from reelworks.domain.task import TaskStatus
from reelworks.domain.upload import UploadStatus
from reelworks.embedded.workshop import CLIP
from tests.processes import alive, ended, eventually, pending, running
from tests.world import World
from worker.media.tools import find_tools
from worker.scratch import GATE

LEASE = {"lease_heartbeat_s": 0.5, "lease_length_s": 3, "lease_skew_s": 0.5}
GRACE_S = 1.0


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """A second of silence."""
    path = tmp_path / "sound.wav"
    with wave.open(str(path), "wb") as wav:
        wav.setparams((1, 2, 16_000, 0, "NONE", ""))
        wav.writeframes(bytes(32_000))
    return path


@pytest.fixture
def stubborn(tmp_path: Path) -> tuple[Path, Path]:
    """An ffmpeg that ignores SIGTERM and hangs until a file `open` is beside it, and where it writes its pid."""
    script, pid_file = tmp_path / "stubborn-ffmpeg", tmp_path / "pid"
    script.write_text(
        f"""#!/bin/sh
trap '' TERM
echo $$ > {pid_file}.part; mv {pid_file}.part {pid_file}
while [ ! -e {tmp_path}/open ]; do echo out_time_us=1; sleep 0.1; done
exec {find_tools().ffmpeg} "$@"
"""
    )
    script.chmod(0o755)
    return script, pid_file


def child(pid_file: Path) -> int:
    text = eventually(
        lambda: pid_file.read_text().strip() if pid_file.exists() else None, "ffmpeg has started"
    )
    return int(text)


def scratch_of(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.name not in ("lock", GATE)]


def test_stopping_worker_hands_its_task_on(
    world: World, sound: Path, stubborn: tuple[Path, Path], tmp_path: Path
) -> None:
    script, pid_file = stubborn
    scratch = tmp_path / "scratch"
    upload = pending(world, sound)
    with running(
        world,
        "worker",
        tmp_path / "a",
        media_ffmpeg=script,
        worker_grace_s=GRACE_S,
        worker_scratch_dir=scratch,
    ) as first:
        ffmpeg = child(pid_file)
        stopped_at = time.time() * 1_000
        first.send(signal.SIGTERM)
        assert first.exit_code(GRACE_S + 10) == 0
    assert not alive(ffmpeg)
    assert [path.name for path in scratch.iterdir()] == [GATE]
    handed_on = world.row(upload)
    assert (handed_on.status, handed_on.attempts, handed_on.leases) == (TaskStatus.READY, 0, 1)
    with running(world, "worker", tmp_path / "b"):
        snapshot = ended(world, upload)
    task = snapshot.tasks["transcribe"]
    assert (snapshot.upload.status, task.attempts, task.leases) == (UploadStatus.COMPLETED, 1, 2)
    # The lease and the visibility timeout are both over a minute long: nobody waited for them.
    assert (task.started_at or 0) - stopped_at < 30_000


def test_idle_worker_stops_at_once(world: World, tmp_path: Path) -> None:
    with running(world, "worker", tmp_path / "a") as worker:
        begun = time.monotonic()
        worker.send(signal.SIGTERM)
        assert worker.exit_code(10) == 0
        assert time.monotonic() - begun < 5


def test_killed_worker_takes_its_ffmpeg_along_and_another_goes_on(
    world: World, sound: Path, stubborn: tuple[Path, Path], tmp_path: Path
) -> None:
    script, pid_file = stubborn
    scratch = tmp_path / "scratch"
    upload = pending(world, sound)
    with running(
        world, "worker", tmp_path / "a", media_ffmpeg=script, worker_scratch_dir=scratch, **LEASE
    ) as first:
        ffmpeg = child(pid_file)
        first.send(signal.SIGKILL)
        first.exit_code(5)
    eventually(lambda: not alive(ffmpeg), "ffmpeg is gone")
    with running(world, "worker", tmp_path / "b", worker_scratch_dir=scratch, **LEASE):
        snapshot = ended(world, upload)
        assert scratch_of(scratch) == []
    task = snapshot.tasks["transcribe"]
    assert (snapshot.upload.status, task.attempts) == (UploadStatus.COMPLETED, 2)


def test_worker_that_was_paused_beyond_its_lease_changes_nothing(
    world: World, sound: Path, stubborn: tuple[Path, Path], tmp_path: Path
) -> None:
    script, pid_file = stubborn
    upload = pending(world, sound)
    with running(world, "worker", tmp_path / "a", media_ffmpeg=script, **LEASE) as paused:
        child(pid_file)
        paused.send(signal.SIGSTOP)
        with running(world, "worker", tmp_path / "b", **LEASE):
            before = ended(world, upload)
        (tmp_path / "open").touch()
        paused.send(signal.SIGCONT)
        eventually(lambda: paused.metric("reelworks_lease_lost_total") == 1, "the paused one notices")
        eventually(lambda: paused.status("/healthz") == 200, "it lives on")
        after = world.snapshot(upload)
    assert before.upload.status is UploadStatus.COMPLETED
    assert after.tasks == before.tasks
    assert after.upload.status is UploadStatus.COMPLETED
    outputs = after.tasks["transcribe"].outputs
    assert outputs is not None
    assert outputs.prefix.endswith(f"{after.tasks['transcribe'].token}/")
    assert all(world.adapters.media.head(key) for key in outputs.files.values())


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_worker_stays_small_on_a_large_file(
    world: World, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """500 MB of 8-channel, 192 kHz, 64-bit sound: five seconds of speech for the real engine, then silence."""
    large = tmp_path / "large.wav"
    frame, frames = 8 * 8, 500_000_000 // (8 * 8)
    header = wave_header(channels=8, rate=192_000, frame=frame, frames=frames)
    with large.open("wb") as file:
        file.write(header)
        file.flush()
        wide = ["-ac", "8", "-ar", "192000", "-f", "f64le", "pipe:1"]
        subprocess.run([find_tools().ffmpeg, "-v", "error", "-i", CLIP, *wide], stdout=file, check=True)
        file.truncate(len(header) + frames * frame)  # zeros: silence without writing it
    upload = pending(world, large)
    with running(world, "worker", tmp_path / "a", speech_provider="pocketsphinx") as worker:
        snapshot = ended(world, upload, seconds=240)
        peak = worker.peak_memory_mb()
    record_property("peak_memory_mb", round(peak))
    assert snapshot.upload.status is UploadStatus.COMPLETED, snapshot.upload.failure
    outputs = snapshot.tasks["transcribe"].outputs
    assert outputs is not None
    assert "london" in (outputs.excerpt or "")
    assert peak < 200


def wave_header(*, channels: int, rate: int, frame: int, frames: int) -> bytes:
    """RIFF header of 64-bit float PCM (format 3)."""
    size = frames * frame
    parts = [b"RIFF", (36 + size).to_bytes(4, "little"), b"WAVEfmt ", (16).to_bytes(4, "little")]
    parts += [(3).to_bytes(2, "little"), channels.to_bytes(2, "little"), rate.to_bytes(4, "little")]
    parts += [(rate * frame).to_bytes(4, "little"), frame.to_bytes(2, "little"), (64).to_bytes(2, "little")]
    return b"".join([*parts, b"data", size.to_bytes(4, "little")])
