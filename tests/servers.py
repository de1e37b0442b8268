"""Emulators of AWS as child processes on free loopback ports, as fixtures for the whole session.

`from tests.servers import ministack, moto` in a conftest.py makes them usable there. Each takes a second to start,
keeps nothing on disk, and is stopped by its process id.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from reelworks.runtime.settings import S3, Aws, Settings

HOST = "127.0.0.1"
KEYS = ("test", "test")
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 10.0
MINISTACK_SERVICES = "s3,sqs,dynamodb,events,sts"


@pytest.fixture(scope="session")
def ministack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The endpoint of a MiniStack."""
    with running_ministack(tmp_path_factory.mktemp("ministack")) as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def moto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The endpoint of a moto_server."""
    with running_moto(tmp_path_factory.mktemp("moto")) as endpoint:
        yield endpoint


def settings_for(endpoint: str) -> Settings:
    """The defaults on an emulator: path-style addressing, impatient timeouts."""
    aws = Aws(endpoint_url=endpoint, connect_timeout_s=2.0, read_timeout_s=20.0)
    return Settings(aws=aws, s3=S3(addressing="path"))


@contextmanager
def running_ministack(folder: Path) -> Iterator[str]:
    """A MiniStack with the services that Reelworks uses and no listeners but its HTTP port."""
    port = free_port()
    environment = {
        "BIND_HOST": HOST,
        "GATEWAY_PORT": str(port),
        # Queue URLs and S3 virtual hosts are made of this name.
        "MINISTACK_HOST": HOST,
        "SERVICES": MINISTACK_SERVICES,
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        "PERSIST_STATE": "0",
        "S3_PERSIST": "0",
        "S3_DATA_DIR": str(folder / "s3"),
        "TMPDIR": str(folder),
        "LOG_LEVEL": "WARNING",
    }
    command = [sys.executable, "-m", "ministack"]
    endpoint = f"http://{HOST}:{port}"
    with _running(command, environment, folder / "ministack.log", f"{endpoint}/_ministack/health"):
        yield endpoint


@contextmanager
def running_moto(folder: Path) -> Iterator[str]:
    """A moto_server."""
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", HOST, "-p", str(port)]
    endpoint = f"http://{HOST}:{port}"
    with _running(command, {}, folder / "moto.log", f"{endpoint}/moto-api/"):
        yield endpoint


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def _running(command: list[str], environment: Mapping[str, str], log: Path, health: str) -> Iterator[None]:
    # Its own process group, so that a Ctrl-C in the terminal lets the tests stop it in their own order.
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_until_healthy(process, health, log)
        yield
    finally:
        _stop(process)


def _wait_until_healthy(process: "subprocess.Popen[bytes]", health: str, log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            if httpx.get(health, timeout=2.0, trust_env=False).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.05)  # polling is all there is: it announces nothing
    tail = log.read_text(errors="replace")[-2_000:]
    raise RuntimeError(f"{process.args!r} did not become healthy (exit {process.poll()}):\n{tail}")


def _stop(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(STOP_TIMEOUT_S)
