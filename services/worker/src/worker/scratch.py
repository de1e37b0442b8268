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

from reelworks.errors import InvalidSettings
from reelworks.runtime import logging

PREFIX = "reelworks-worker-"
GATE = f".{PREFIX}gate"
"""Held while a directory is made or removed: between making one and locking it, it looks abandoned."""
_LOCK = "lock"

log = logging.get(__name__)


class Scratch:
    """The process's own directory under `root` (the system's temporary directory if None).

    Raises InvalidSettings when nothing can be written there.
    """

    def __init__(self, root: str | None = None) -> None:
        base = Path(root or tempfile.gettempdir())
        try:
            base.mkdir(parents=True, exist_ok=True)
            with _gate(base):
                _remove_abandoned(base)
                self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
                self._lock = (self.path / _LOCK).open("w")
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise InvalidSettings(
                f"REELWORKS_WORKER_SCRATCH_DIR: nothing can be written to {str(base)!r} ({error.strerror})."
            ) from error

    @contextmanager
    def attempt(self) -> Iterator[Path]:
        """An empty directory for one attempt."""
        # Somebody who tidies up temporary files may have taken ours; a worker must not stay useless for that.
        self.path.mkdir(exist_ok=True)
        path = Path(tempfile.mkdtemp(prefix="attempt-", dir=self.path))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def close(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


@contextmanager
def _gate(base: Path) -> Iterator[None]:
    with (base / GATE).open("w") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        yield


def _remove_abandoned(base: Path) -> None:
    """Remove directories of processes that are gone."""
    for path in base.glob(f"{PREFIX}*"):
        if path.is_dir() and _abandoned(path):
            shutil.rmtree(path, ignore_errors=True)
            log.info("scratch.abandoned_removed", path=str(path))


def _abandoned(path: Path) -> bool:
    try:
        with (path / _LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False  # held by a living process
    return True
