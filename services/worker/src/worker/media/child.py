"""A running child process: its pipes, its exit, its end. Only the runner makes one."""

import os
import selectors
import signal
from collections.abc import Mapping
from typing import IO, Protocol

from worker.media.sinks import Sink

READ_BYTES = 64 * 1024
"""The capacity of a Linux pipe (pipe(7)): one read empties it."""


class Handle(Protocol):
    """The part of `subprocess.Popen` that is used here."""

    pid: int

    def poll(self) -> int | None: ...

    def wait(self) -> int: ...


class Child:
    """One selector watches both pipes and the exit, so no thread can be left hanging on a pipe.

    Exit is seen through a pidfd, which does not reap: until `reap` the zombie pins its process-group id,
    so a group kill can never hit a stranger that was given the same number.
    """

    def __init__(self, handle: Handle, pipes: Mapping[IO[bytes], Sink]) -> None:
        self._handle = handle
        self._pipes = pipes
        self._exited = False
        self._selector = selectors.DefaultSelector()
        for pipe, sink in pipes.items():
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_READ, sink)
        self._pidfd = _open_pidfd(handle.pid)
        if self._pidfd is not None:
            self._selector.register(self._pidfd, selectors.EVENT_READ, None)

    @property
    def exited(self) -> bool:
        """Whether the process itself is gone; its own children may live on until `reap`."""
        if self._pidfd is None and not self._exited:
            self._exited = self._handle.poll() is not None
        return self._exited

    def pump(self, seconds: float) -> None:
        """Move what the pipes hold into their sinks; return after `seconds`, or as soon as something happened."""
        self._move(seconds, keep=True)

    def discard(self, seconds: float) -> None:
        """As `pump`, but drops the output: a child that was told to end must not block on a full pipe."""
        self._move(seconds, keep=False)

    def _move(self, seconds: float, *, keep: bool) -> None:
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                self._exited = True
            elif not self._read(key.fd, key.data if keep else None):
                self._selector.unregister(key.fileobj)

    def _read(self, fd: int, sink: Sink | None) -> bool:
        """False at the end of the pipe."""
        try:
            data = os.read(fd, READ_BYTES)
        except BlockingIOError:
            return True
        if data and sink is not None:
            sink.feed(data)
        return bool(data)

    def signal_group(self, number: signal.Signals) -> None:
        """Signal the process and all its descendants that did not leave the group."""
        try:
            os.killpg(self._handle.pid, number)
        except (ProcessLookupError, PermissionError):
            # Gone already; macOS answers EPERM for a group of zombies.
            return

    def drain(self) -> None:
        """Take what is left in the pipes after the exit. Bounded: an escaped descendant may still be writing."""
        for pipe, sink in self._pipes.items():
            for _ in range(4):
                if not self._read(pipe.fileno(), sink):
                    break

    def reap(self) -> int:
        """Kill what is left of the group and collect the exit code. Returns at once after an exit."""
        self.signal_group(signal.SIGKILL)
        return self._handle.wait()

    def close(self) -> None:
        self._selector.close()
        for pipe in self._pipes:
            pipe.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None


def _open_pidfd(pid: int) -> int | None:
    """A descriptor that becomes readable at exit; None where there is none (macOS, gVisor): then exits are polled."""
    opener = getattr(os, "pidfd_open", None)
    try:
        return None if opener is None else int(opener(pid))
    except OSError:
        return None
