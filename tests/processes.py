"""The services as processes on an emulator, as an operator has them: started, signalled, looked at through /metrics."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import httpx

from reelworks.domain.snapshot import Snapshot
from reelworks.domain.upload import Upload, UploadStatus
from reelworks.runtime.cancellation import Cancellation
from tests.servers import HOST, KEYS, free_port
from tests.world import World

T = TypeVar("T")
SERVICES = {"worker": "WORKER", "dlq_janitor": "JANITOR"}


def eventually(look: Callable[[], T | None], what: str, seconds: float = 60.0) -> T:
    """Look until there is something true; processes announce nothing, so this polls."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := look():
            return found
        Cancellation().wait(0.05)
    raise AssertionError(f"not within {seconds:.0f} s: {what}")


@dataclass
class Service:
    """One running service."""

    process: "subprocess.Popen[bytes]"
    port: int
    log: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def exit_code(self, seconds: float) -> int:
        return self.process.wait(seconds)

    def metric(self, name: str) -> float:
        """The sum over all labels; 0 while there is none."""
        body = httpx.get(f"http://{HOST}:{self.port}/metrics", timeout=5, trust_env=False).text
        return sum(float(v) for v in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", body, re.M))

    def status(self, path: str) -> int:
        return httpx.get(f"http://{HOST}:{self.port}{path}", timeout=5, trust_env=False).status_code

    def cpu_s(self) -> float:
        """Of the process, and of the children that it has waited for."""
        *_, utime, stime, cutime, cstime = Path(f"/proc/{self.pid}/stat").read_text().split()[:17]
        return sum(map(int, (utime, stime, cutime, cstime))) / os.sysconf("SC_CLK_TCK")

    def peak_memory_mb(self) -> float:
        """The most it ever had resident (VmHWM)."""
        text = Path(f"/proc/{self.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+) kB", text)
        assert found is not None
        return int(found[1]) / 1_024


@contextmanager
def running(world: World, module: str, folder: Path, **settings: object) -> Iterator[Service]:
    """`python -m module` on the world's resources, killed at the end if it still runs.

    `core`, which is no setting: the only one that it may use.
    """
    folder.mkdir(parents=True, exist_ok=True)
    port, log = free_port(), folder / f"{module}.log"
    core = settings.pop("core", None)
    pinned = () if core is None else ("taskset", "--cpu-list", str(core))
    environment = environment_of(world) | {
        f"REELWORKS_{SERVICES[module]}_PORT": str(port),
        **{f"REELWORKS_{name.upper()}": str(value) for name, value in settings.items()},
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*pinned, sys.executable, "-m", module],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    service = Service(process=process, port=port, log=log)
    try:
        eventually(lambda: _answers(service), f"{module} is up: {log.read_text()[-2000:]}")
        yield service
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.wait(10)


def _answers(service: Service) -> bool:
    assert service.process.poll() is None, service.log.read_text()[-2_000:]
    try:
        return service.status("/healthz") == 200
    except httpx.TransportError:
        return False


def environment_of(world: World) -> dict[str, str]:
    """This process's environment with the settings of the world, and its keys."""
    settings = world.settings
    kept = {name: value for name, value in os.environ.items() if not name.startswith("REELWORKS_")}
    return kept | {
        "AWS_ACCESS_KEY_ID": KEYS[0],
        "AWS_SECRET_ACCESS_KEY": KEYS[1],
        "REELWORKS_AWS_ENDPOINT_URL": settings.aws.endpoint_url or "",
        "REELWORKS_S3_ADDRESSING": "path",
        "REELWORKS_S3_RAW_BUCKET": settings.s3.raw_bucket,
        "REELWORKS_S3_MEDIA_BUCKET": settings.s3.media_bucket,
        "REELWORKS_SQS_PREFIX": settings.sqs.prefix,
        "REELWORKS_DYNAMODB_TABLE": settings.dynamodb.table,
        "REELWORKS_DYNAMODB_SHARDS": str(settings.dynamodb.shards),
        "REELWORKS_SPEECH_PROVIDER": "fake",
        "REELWORKS_WORKER_IDLE_WAIT_S": "1",
        "REELWORKS_JANITOR_INTERVAL_S": "0.5",
    }


def pending(world: World, file: Path, content_type: str = "audio/wav", profile: str = "transcript") -> Upload:
    """An upload whose object has just arrived; S3 announces it."""
    upload = world.upload(
        status=UploadStatus.PENDING_UPLOAD,
        plan=None,
        open_tasks=frozenset(),
        size_bytes=file.stat().st_size,
        content_type=content_type,
        profile=profile,
    )
    world.adapters.raw.upload(file, upload.object_key, content_type)
    return upload


def ended(world: World, upload: Upload, seconds: float = 60.0) -> Snapshot:
    """The snapshot once the upload is in a terminal status."""

    def look() -> Snapshot | None:
        snapshot = world.snapshot(upload)
        over = snapshot.upload.status in (UploadStatus.COMPLETED, UploadStatus.FAILED)
        return snapshot if over else None

    return eventually(look, f"upload ends: {world.snapshot(upload)}", seconds)


def alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
