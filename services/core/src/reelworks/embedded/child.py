"""One process of the stack: started, watched, stopped."""

import contextlib
import subprocess
import sys
from pathlib import Path

from msgspec import Struct

from reelworks.embedded.environment import Environment
from reelworks.embedded.errors import ChildDied
from reelworks.runtime import logging

TETHER = "reelworks.embedded.tether"
STOP_S = 20.0
"""More than any of them takes when all is well: a worker has its grace period and ten seconds to hand on."""
KILL_S = 5.0
TAIL_LINES = 30

log = logging.get(__name__)


class Program(Struct, frozen=True, kw_only=True):
    """What to start. `health`: the URL that answers 2xx when it is ready; None if it is a step that ends by itself."""

    name: str
    module: str
    environment: Environment
    health: str | None = None


class Child:
    """A running program. Its output goes to a file, so that it never waits for a reader."""

    def __init__(self, program: Program, logs: Path) -> None:
        self.program = program
        self.log = logs / f"{program.name}.log"
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", TETHER, program.module],
                env=program.environment,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                # Its own process group: Ctrl-C in the terminal reaches the stack only, which stops all in order.
                start_new_session=True,
            )
        log.info("child.started", name=program.name, pid=self._process.pid)

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    def check(self) -> None:
        """Raises ChildDied if it ended although it should run, or ended badly."""
        code = self.exit_code
        if code is None or (code == 0 and self.program.health is None):
            return
        raise ChildDied(
            f"The process {self.program.name} ended unexpectedly ({_described(code)}).", self.tail()
        )

    def tail(self) -> str:
        """The end of what it wrote."""
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join(lines[-TAIL_LINES:])

    def stop(self) -> None:
        """SIGTERM, a bounded wait, SIGKILL. Returns when it is gone."""
        if self.exit_code is None:
            self._terminate()
            log.info("child.stopped", name=self.program.name, exit_code=self.exit_code)
        if self._process.stdin:
            self._process.stdin.close()

    def _terminate(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            log.warning("child.killed", name=self.program.name, pid=self._process.pid, waited_s=STOP_S)
            self._process.kill()
            with contextlib.suppress(
                subprocess.TimeoutExpired
            ):  # stuck in the kernel: nothing more can be done
                self._process.wait(KILL_S)


def _described(exit_code: int) -> str:
    return f"exit code {exit_code}" if exit_code >= 0 else f"signal {-exit_code}"
