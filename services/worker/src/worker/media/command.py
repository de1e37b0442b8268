"""What the runner is asked to run, and what it hands back."""

from pathlib import Path

from msgspec import Struct


class Command(Struct, frozen=True, kw_only=True):
    """One program run, with every bound it has to stay inside.

    `timeout_s`: wall clock, from start to exit. `stall_s`: longest time without progress (a progress report
    that moved on, or output bytes), None where the program is silent by nature. `max_stdout_bytes`: what is
    captured at most. `max_file_bytes`: the largest single file it may write (Linux only, None: no limit).
    """

    argv: tuple[str, ...]
    timeout_s: float
    stall_s: float | None = None
    max_stdout_bytes: int = 4 * 1024 * 1024
    max_file_bytes: int | None = None
    cwd: Path | None = None


class Finished(Struct, frozen=True, kw_only=True):
    """How it ended. `exit_code` is negative for a signal (-11: SIGSEGV); `stderr_tail` is its last 64 KiB."""

    exit_code: int
    stdout: bytes
    stderr_tail: str
    seconds: float

    @property
    def crashed(self) -> bool:
        """Whether a signal ended it rather than its own decision."""
        return self.exit_code < 0
