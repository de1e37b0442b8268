"""Shows on the terminal what the processes write into their log files, each line with the name of its process."""

import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

INTERVAL_S = 0.1
WIDTH = len("upload-api ")


class Follower:
    """`with Follower(logs):` a thread shows every line written inside, up to the last one."""

    def __init__(self, logs: Path, out: TextIO | None = None) -> None:
        self._logs = logs
        self._out = out or sys.stderr
        self._ended = threading.Event()
        self._read: dict[Path, int] = {}
        self._thread = threading.Thread(target=self._run, name="follower", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(INTERVAL_S):
            self.show_news()
        self.show_news()

    def show_news(self) -> None:
        """What was written since the last look."""
        for log in sorted(self._logs.glob("*.log")):
            for line in self._lines(log):
                self._out.write(f"{log.stem:<{WIDTH}} | {line}\n")
        self._out.flush()

    def _lines(self, log: Path) -> list[str]:
        """The whole lines since the last look; one that is still being written comes with the next."""
        with log.open("rb") as file:
            file.seek(self._read.get(log, 0))
            whole, newline, _rest = file.read().rpartition(b"\n")
        self._read[log] = self._read.get(log, 0) + len(whole) + len(newline)
        return whole.decode(errors="replace").splitlines() if newline else []
