"""The runner, against real processes that misbehave."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import structlog

from reelworks.errors import Interrupted, InvalidSettings, LeaseLost, Permanent, Temporary
from reelworks.runtime.cancellation import Cancellation
from worker.media.command import Command
from worker.media.progress import Progress
from worker.media.runner import STDERR_TAIL_BYTES, Runner

Script = Callable[..., Command]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """A shell script as a command: a stand-in for an ffmpeg that misbehaves."""

    def make(
        body: str, *, timeout_s: float = 20, stall_s: float | None = None, stdout: int = 1 << 20
    ) -> Command:
        file = tmp_path / "tool"
        file.write_text(f"#!/bin/sh\n{body}\n")
        file.chmod(0o755)
        return Command(argv=(str(file),), timeout_s=timeout_s, stall_s=stall_s, max_stdout_bytes=stdout)

    return make


@pytest.fixture
def runner() -> Runner:
    return Runner(grace_s=0.3)


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def wait_until(condition: Callable[[], bool], seconds: float = 5) -> bool:
    """For what the kernel does in its own time."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def test_output_exit_code_and_duration_come_back(
    runner: Runner, script: Script, cancellation: Cancellation
) -> None:
    finished = runner.run(script("echo out; echo err >&2; exit 3"), cancellation=cancellation)

    assert (finished.exit_code, finished.stdout, finished.stderr_tail) == (3, b"out\n", "err\n")
    assert 0 < finished.seconds < 5
    assert not finished.crashed


def test_a_short_command_does_not_wait_for_a_tick(
    runner: Runner, script: Script, cancellation: Cancellation
) -> None:
    best = min(runner.run(script("exit 0"), cancellation=cancellation).seconds for _ in range(5))

    assert best < 0.08


def test_death_by_a_signal_is_a_crash(runner: Runner, script: Script, cancellation: Cancellation) -> None:
    finished = runner.run(script("kill -SEGV $$"), cancellation=cancellation)

    assert finished.crashed
    assert finished.exit_code == -signal.SIGSEGV


def test_a_program_that_reads_stdin_gets_none(
    runner: Runner, script: Script, cancellation: Cancellation
) -> None:
    assert runner.run(script("cat; echo end"), cancellation=cancellation).stdout == b"end\n"


def test_arguments_reach_the_program_as_they_are(runner: Runner, cancellation: Cancellation) -> None:
    hostile = "$(touch x); `id` 'a' \"b\" *"

    finished = runner.run(Command(argv=("printf", "%s", hostile), timeout_s=5), cancellation=cancellation)

    assert finished.stdout.decode() == hostile


def test_a_child_sees_no_secrets(
    runner: Runner, script: Script, cancellation: Cancellation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")

    assert b"hunter2" not in runner.run(script("env"), cancellation=cancellation).stdout


def test_of_a_flood_on_stderr_the_end_is_kept(
    runner: Runner, script: Script, cancellation: Cancellation
) -> None:
    flood = script("head -c 5000000 /dev/zero | tr '\\0' x >&2; echo the reason >&2")

    tail = runner.run(flood, cancellation=cancellation).stderr_tail

    assert tail.endswith("the reason\n")
    assert len(tail) == STDERR_TAIL_BYTES


def test_too_much_output_stops_the_program(
    runner: Runner, script: Script, cancellation: Cancellation
) -> None:
    with pytest.raises(Permanent) as refused:
        runner.run(script("yes", stdout=10_000), cancellation=cancellation)

    assert refused.value.code == "report_too_large"


def test_a_hang_is_ended_by_the_timeout(runner: Runner, script: Script, cancellation: Cancellation) -> None:
    with pytest.raises(Temporary) as ended:
        runner.run(script("sleep 300", timeout_s=0.2), cancellation=cancellation)

    assert ended.value.code == "media_timeout"


def test_reports_without_progress_are_a_stall(
    runner: Runner, script: Script, cancellation: Cancellation
) -> None:
    stuck = "while :; do echo out_time_us=5; echo progress=continue; sleep 0.05; done"

    with pytest.raises(Temporary) as ended:
        runner.run(script(stuck, stall_s=0.4), cancellation=cancellation, on_progress=lambda _: None)

    assert ended.value.code == "media_stalled"


def test_slow_progress_is_no_stall(runner: Runner, script: Script, cancellation: Cancellation) -> None:
    slow = "for i in 1 2 3 4 5 6; do echo out_time_us=$i; echo progress=continue; sleep 0.2; done"
    events: list[Progress] = []

    runner.run(script(slow, stall_s=0.8), cancellation=cancellation, on_progress=events.append)

    assert [event.out_time_us for event in events] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("reason", [LeaseLost("taken"), Interrupted("stopping")])
def test_cancelling_stops_the_program_within_a_fifth_of_a_second(
    runner: Runner, script: Script, cancellation: Cancellation, reason: LeaseLost | Interrupted
) -> None:
    asked = 0.0

    def cancel() -> None:
        nonlocal asked
        asked = time.monotonic()
        cancellation.cancel(reason)

    timer = threading.Timer(0.25, cancel)
    timer.start()
    with pytest.raises(type(reason)):
        runner.run(script("exec sleep 300"), cancellation=cancellation)

    assert time.monotonic() - asked < 0.2
    timer.join()


def test_cancelled_work_is_not_even_started(
    runner: Runner, script: Script, cancellation: Cancellation, tmp_path: Path
) -> None:
    cancellation.cancel(Interrupted("stopping"))

    with pytest.raises(Interrupted):
        runner.run(script(f"touch {tmp_path}/started"), cancellation=cancellation)

    assert not (tmp_path / "started").exists()


def test_a_program_that_ignores_sigterm_and_floods_is_killed(
    runner: Runner, script: Script, cancellation: Cancellation
) -> None:
    stubborn = script(
        "trap '' TERM; echo out_time_us=$$; echo progress=continue; while :; do echo still here >&2; done"
    )
    pids: list[int] = []

    def cancel(event: Progress) -> None:
        pids.append(event.out_time_us)
        cancellation.cancel(LeaseLost("taken"))

    begun = time.monotonic()
    with pytest.raises(LeaseLost):
        runner.run(stubborn, cancellation=cancellation, on_progress=cancel)

    assert time.monotonic() - begun < 2
    assert not Path(f"/proc/{pids[0]}").exists(), "reaped, not a zombie"


def test_a_program_gets_time_to_end_by_itself(
    script: Script, cancellation: Cancellation, tmp_path: Path
) -> None:
    polite = script(
        f"trap 'touch {tmp_path}/ended; exit 0' TERM; echo progress=continue; while :; do sleep 0.02; done"
    )

    with pytest.raises(LeaseLost):
        Runner(grace_s=5).run(
            polite, cancellation=cancellation, on_progress=lambda _: cancellation.cancel(LeaseLost("taken"))
        )

    assert (tmp_path / "ended").exists()


def test_children_of_a_finished_program_are_killed_with_its_pipes_open(
    runner: Runner, script: Script, cancellation: Cancellation
) -> None:
    finished = runner.run(script("sleep 300 & echo $!"), cancellation=cancellation)

    assert finished.seconds < 2
    assert wait_until(lambda: not is_alive(int(finished.stdout)))


def test_a_descendant_that_left_the_group_cannot_hold_the_runner(
    runner: Runner, script: Script, cancellation: Cancellation
) -> None:
    finished = runner.run(script("setsid sleep 300 & echo $!; sleep 0.2"), cancellation=cancellation)
    escaped = int(finished.stdout)
    try:
        assert finished.seconds < 2
    finally:
        os.kill(escaped, signal.SIGKILL)


def test_an_error_in_the_listener_ends_the_program(
    runner: Runner, script: Script, cancellation: Cancellation
) -> None:
    pids: list[int] = []

    def fail(event: Progress) -> None:
        pids.append(event.out_time_us)
        raise ZeroDivisionError

    endless = script("echo out_time_us=$$; echo progress=continue; exec sleep 300")
    with pytest.raises(ZeroDivisionError):
        runner.run(endless, cancellation=cancellation, on_progress=fail)

    assert not Path(f"/proc/{pids[0]}").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="prlimit is Linux's")
def test_a_file_beyond_the_scratch_limit_is_refused(
    runner: Runner, cancellation: Cancellation, tmp_path: Path
) -> None:
    target = tmp_path / "big"
    write = Command(
        argv=("dd", "if=/dev/zero", f"of={target}", "bs=1k", "count=1000"),
        timeout_s=10,
        max_file_bytes=100_000,
    )

    with pytest.raises(Permanent) as refused:
        runner.run(write, cancellation=cancellation)

    assert refused.value.code == "scratch_limit"
    assert target.stat().st_size == 100_000


@pytest.mark.skipif(sys.platform != "linux", reason="PR_SET_PDEATHSIG is Linux's")
def test_a_killed_worker_leaves_no_program_behind(tmp_path: Path) -> None:
    program = (
        "from worker.media.runner import Runner\n"
        "from worker.media.command import Command\n"
        "from reelworks.runtime.cancellation import Cancellation\n"
        "report = lambda event: print(event.out_time_us, flush=True)\n"
        "script = 'echo out_time_us=$$; echo progress=continue; exec sleep 300'\n"
        "command = Command(argv=('sh', '-c', script), timeout_s=60)\n"
        "Runner().run(command, cancellation=Cancellation(), on_progress=report)\n"
    )
    # Its debug log goes to stdout as well, so the pid is the first line that is a number.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=environment
    ) as worker:
        assert worker.stdout
        pid = next(int(line) for line in worker.stdout if line.strip().isdigit())
        assert is_alive(pid)

        worker.kill()

    assert wait_until(lambda: not is_alive(pid))


def test_a_missing_program_is_named(runner: Runner, cancellation: Cancellation) -> None:
    with pytest.raises(InvalidSettings, match="no-such-ffmpeg"):
        runner.run(Command(argv=("no-such-ffmpeg",), timeout_s=1), cancellation=cancellation)


def test_a_program_for_another_machine_is_named(
    runner: Runner, cancellation: Cancellation, tmp_path: Path
) -> None:
    foreign = tmp_path / "foreign-ffmpeg"
    foreign.write_bytes(b"\x7fELF garbage")
    foreign.chmod(0o755)

    with pytest.raises(InvalidSettings, match="foreign-ffmpeg"):
        runner.run(Command(argv=(str(foreign),), timeout_s=1), cancellation=cancellation)


def test_the_log_has_a_line_to_paste(runner: Runner, cancellation: Cancellation) -> None:
    with structlog.testing.capture_logs() as logs:
        runner.run(Command(argv=("printf", "a b"), timeout_s=5), cancellation=cancellation)

    start, end = logs
    assert start == {"event": "process.start", "command": "printf 'a b'", "log_level": "debug"}
    assert (end["event"], end["exit"]) == ("process.exit", 0)


def test_runs_side_by_side_do_not_mix(runner: Runner) -> None:
    def run(number: int) -> bytes:
        command = Command(argv=("sh", "-c", f"sleep 0.1; echo {number}"), timeout_s=20)
        return runner.run(command, cancellation=Cancellation()).stdout

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(run, range(32))) == [b"%d\n" % n for n in range(32)]


def test_no_descriptor_is_left_open(runner: Runner, script: Script, cancellation: Cancellation) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))

    for _ in range(5):
        runner.run(script("exit 0"), cancellation=cancellation)

    assert len(list(Path("/proc/self/fd").iterdir())) == before
