"""Scratch directories: one per attempt, inside one per process, removed whatever happens.

A process that was killed leaves its directory behind (an emptyDir outlives a container's restart). The next process
removes every sibling whose lock nobody holds: locks die with their process, pids and timestamps would lie.
"""

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reelworks.runtime import logging

PREFIX = "reelworks-worker-"
_LOCK = "lock"

log = logging.get(__name__)


class Scratch:
    """The process's own directory under `root` (the system's temporary directory if None)."""

    def __init__(self, root: str | None = None) -> None:
        base = Path(root or tempfile.gettempdir())
        base.mkdir(parents=True, exist_ok=True)
        remove_abandoned(base)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
        self._lock = (self.path / _LOCK).open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    @contextmanager
    def attempt(self) -> Iterator[Path]:
        """An empty directory for one attempt."""
        path = Path(tempfile.mkdtemp(prefix="attempt-", dir=self.path))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def close(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def remove_abandoned(base: Path) -> int:
    """Remove directories of processes that are gone; how many there were."""
    abandoned = [path for path in base.glob(f"{PREFIX}*") if path.is_dir() and _abandoned(path)]
    for path in abandoned:
        shutil.rmtree(path, ignore_errors=True)
        log.info("scratch.abandoned_removed", path=str(path))
    return len(abandoned)


def _abandoned(path: Path) -> bool:
    try:
        with (path / _LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        # Held by a living process, or one that is just being made and has no lock file yet.
        return False
    return True
