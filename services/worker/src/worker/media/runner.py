"""The one place that starts processes: ffmpeg, ffprobe and whatever else handles media.

Every run is bounded in time, output and disk, stops within 0.2 s when cancelled, and leaves no process behind.
"""

import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from typing import IO, cast

import structlog

from reelworks.errors import InvalidSettings, Permanent
from reelworks.runtime.cancellation import Cancellation
from worker.media.child import Child
from worker.media.command import Command, Finished
from worker.media.confine import death_guard, limit_resources
from worker.media.progress import Progress, ProgressLines
from worker.media.sinks import Capture, Sink, Tail
from worker.media.watchdog import Watchdog

STDERR_TAIL_BYTES = 64 * 1024
TICK_S = 0.1
"""How long the runner sleeps at most before it looks at the cancellation and the clock again."""
GRACE_S = 2.0
"""From SIGTERM to SIGKILL. ffmpeg was seen to ignore SIGTERM for ten minutes."""
ENVIRONMENT: Mapping[str, str] = {"PATH": os.defpath, "LC_ALL": "C"}
"""All that a child sees: a decoder that is taken over by a hostile file finds no credentials."""

log = structlog.stdlib.get_logger(__name__)


class Runner:
    """Runs commands. Thread-safe: it holds no state of a run."""

    def __init__(
        self,
        *,
        grace_s: float = GRACE_S,
        environment: Mapping[str, str] = ENVIRONMENT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._grace_s = grace_s
        self._environment = dict(environment)
        self._clock = clock
        self._guard = death_guard()

    def run(
        self,
        command: Command,
        *,
        cancellation: Cancellation,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Finished:
        """Run to the end, whatever the exit code. With `on_progress`, stdout is read as `-progress pipe:1`.

        Raises `LeaseLost` or `Interrupted` when cancelled, `Temporary` (`media_stalled`, `media_timeout`),
        `Permanent` (`report_too_large`, `scratch_limit`), `InvalidSettings` when the program cannot be started.
        """
        cancellation.check()
        begun = self._clock()
        capture, stderr = Capture(command.max_stdout_bytes), Tail(STDERR_TAIL_BYTES)
        stdout: Sink = ProgressLines(on_progress) if on_progress else capture
        exit_code = self._supervise(command, stdout, stderr, cancellation)
        seconds = self._clock() - begun
        log.debug("process.exit", program=command.argv[0], exit=exit_code, seconds=round(seconds, 3))
        finished = Finished(
            exit_code=exit_code, stdout=capture.content(), stderr_tail=stderr.text(), seconds=seconds
        )
        _refuse_unusable(command, finished)
        return finished

    def _supervise(self, command: Command, stdout: Sink, stderr: Sink, cancellation: Cancellation) -> int:
        watchdog = Watchdog(timeout_s=command.timeout_s, stall_s=command.stall_s, clock=self._clock)
        child = self._spawn(command, stdout, stderr)
        try:
            while not child.exited:
                child.pump(TICK_S)
                cancellation.check()
                watchdog.check(stdout.position)
            child.drain()
        except BaseException:
            self._stop(child)
            raise
        finally:
            exit_code = child.reap()
            child.close()
        return exit_code

    def _stop(self, child: Child) -> None:
        """Ask to end and wait for the grace period; `reap` does the rest."""
        child.signal_group(signal.SIGTERM)
        deadline = time.monotonic() + self._grace_s
        while not child.exited and time.monotonic() < deadline:
            child.discard(min(TICK_S, self._grace_s))

    def _spawn(self, command: Command, stdout: Sink, stderr: Sink) -> Child:
        program = shutil.which(command.argv[0])
        if program is None:
            raise _not_startable(command.argv[0])
        log.debug("process.start", command=shlex.join(command.argv))
        try:
            process = subprocess.Popen(
                [*self._guard, program, *command.argv[1:]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=command.cwd,
                env=self._environment,
                start_new_session=True,
            )
        except OSError as error:
            raise _not_startable(command.argv[0]) from error
        limit_resources(process.pid, command.max_file_bytes)
        # Never None: both were asked for as pipes.
        return Child(
            process, {cast("IO[bytes]", process.stdout): stdout, cast("IO[bytes]", process.stderr): stderr}
        )


def _refuse_unusable(command: Command, finished: Finished) -> None:
    """Exit codes that are about us and not about the file."""
    # Of setpriv, and of the shell that execvp falls back to for a program of another architecture. ffmpeg has neither.
    if finished.exit_code in (126, 127):
        raise _not_startable(command.argv[0])
    if finished.exit_code == -signal.SIGXFSZ:
        raise Permanent(
            "Processing this file needs more disk space than is allowed. Upload a shorter recording.",
            code="scratch_limit",
        )


def _not_startable(program: str) -> InvalidSettings:
    return InvalidSettings(
        f"The program {program!r} cannot be run. Install it, or correct its path in the settings."
    )
