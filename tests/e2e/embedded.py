"""The embedded mode as a person starts it: a process with arguments, an environment and two streams."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DEADLINE_S = 150.0
GONE_S = 30.0
READY = "Stop it with Ctrl-C."


def environment(folder: Path, changes: Mapping[str, str]) -> dict[str, str]:
    """The test's own, with all temporary files in `folder`."""
    return {**os.environ, "TMPDIR": str(folder), **changes}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "reelworks.embedded", *arguments]


def smoke(
    folder: Path, *arguments: str, **changes: str
) -> tuple[dict[str, Any], "subprocess.CompletedProcess[str]"]:
    """Run it to its end. What it printed must be one JSON object on one line."""
    ended = subprocess.run(
        command("smoke", *arguments),
        env=environment(folder, changes),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    (line,) = ended.stdout.splitlines()
    return json.loads(line), ended


@contextmanager
def demo(folder: Path, *arguments: str, **changes: str) -> Iterator["Demo"]:
    """Start it, wait until it says that it is ready, and kill it at the end if it still runs."""
    errors = folder / "demo.stderr"
    with errors.open("wb") as stderr:
        process = subprocess.Popen(
            command("demo", *arguments),
            env=environment(folder, changes),
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
    try:
        yield Demo(process, errors)
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


class Demo:
    """A demo that is ready. `printed`: what it said up to then."""

    def __init__(self, process: "subprocess.Popen[str]", errors: Path) -> None:
        self.process = process
        self._errors = errors
        self.printed = self._read_until_ready()

    def _read_until_ready(self) -> str:
        lines: list[str] = []
        for line in self.process.stdout or ():
            lines.append(line)
            if line.startswith(READY):
                return "".join(lines)
        raise AssertionError(f"the demo ended before it was ready:\n{self.stderr}")

    @property
    def stderr(self) -> str:
        return self._errors.read_text(errors="replace")

    @property
    def pids(self) -> dict[str, int]:
        return started(self.stderr)


def started(stderr: str) -> dict[str, int]:
    """The processes that it says it has started: name → process id."""
    events = [json.loads(line) for line in stderr.splitlines() if line.startswith("{")]
    return {event["name"]: event["pid"] for event in events if event["event"] == "child.started"}


def alive(pid: int) -> bool:
    """A zombie is not: it only waits for somebody to ask for its exit code."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return not Path("/proc/self").exists()


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether it becomes true in time; nobody tells when, so it is asked for."""
    deadline = time.monotonic() + GONE_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def left_behind(pids: Mapping[str, int]) -> list[str]:
    """The names of those that still run."""
    return [name for name, pid in pids.items() if alive(pid)]
