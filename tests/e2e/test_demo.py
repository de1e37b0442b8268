"""`make demo` as a person sees it: a page, a summary, and however it ends, nothing left."""

import os
import signal
import socket
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.e2e.embedded import command, demo, environment, eventually, left_behind
from tests.servers import HOST, free_port

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

QUICK = {"REELWORKS_SPEECH_PROVIDER": "fake", "REELWORKS_SPEECH_FAKE_TEXT": "hello from the demo"}


def test_the_page_is_up_and_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    port = free_port()
    with demo(tmp_path, "--port", str(port), **QUICK) as running:
        page = httpx.get(f"http://{HOST}:{port}/", trust_env=False)
        assert page.status_code == 200
        assert "text/html" in page.headers["Content-Type"]
        assert "hello from the demo" in running.printed
        assert f"http://localhost:{port}" in running.printed
        assert set(left_behind(running.pids)) == {"ministack", "upload-api", "worker", "dlq-janitor"}

        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(60) == 0
        assert left_behind(running.pids) == []
    assert list(tmp_path.glob("reelworks-*")) == []


def test_what_the_services_log_carries_their_names(tmp_path: Path) -> None:
    with demo(tmp_path, "--port", str(free_port()), **QUICK) as running:
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(60) == 0
    lines = [line for line in running.stderr.splitlines() if '"task.claimed"' in line]
    assert lines
    assert all(line.startswith("worker ") for line in lines)


def test_no_child_outlives_a_parent_that_was_killed(tmp_path: Path) -> None:
    with demo(tmp_path, "--port", str(free_port()), **QUICK) as running:
        running.process.kill()
        running.process.wait()
        assert eventually(lambda: left_behind(running.pids) == [])


def test_a_service_that_dies_ends_the_demo_and_its_log_is_shown(tmp_path: Path) -> None:
    with demo(tmp_path, "--port", str(free_port()), **QUICK) as running:
        os.kill(running.pids["worker"], signal.SIGKILL)
        assert running.process.wait(60) == 1
        assert left_behind(running.pids) == []
    assert "The process worker ended unexpectedly (signal 9)." in running.stderr


def test_a_taken_port_gets_a_sentence_that_says_what_to_do(tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as other:
        port = other.getsockname()[1]
        ended = subprocess.run(
            command("demo", "--port", str(port)),
            env=environment(tmp_path, {}),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert ended.returncode == 1
    assert f"Port {port} is taken by another program." in ended.stderr
    assert "make demo PORT=" in ended.stderr
    assert "Traceback" not in ended.stderr
