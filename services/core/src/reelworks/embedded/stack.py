"""The supervisor: starts the processes stage by stage, notices what dies, stops everything in order."""

import time
from pathlib import Path
from types import TracebackType
from typing import Self

from reelworks.embedded.child import Child, Program
from reelworks.embedded.errors import OutOfTime
from reelworks.embedded.exchange import answers
from reelworks.embedded.patience import Backoff, Patience
from reelworks.embedded.programs import Stages
from reelworks.runtime import logging

READY_S = 60.0
"""For one process to become ready; with a cold disk cache some take ten seconds."""
PROBE_S = 5.0
LONGEST_PAUSE_S = 0.2
"""Between two probes; the whole start takes some three seconds."""

log = logging.get(__name__)


class Stack:
    """`with Stack(…) as stack:` everything runs and is ready; after it nothing runs.

    `logs`: an existing folder, which gets one file for each process.
    """

    def __init__(self, stages: Stages, logs: Path, patience: Patience) -> None:
        self._stages = stages
        self._logs = logs
        self._patience = patience
        self._running: list[list[Child]] = []

    def __enter__(self) -> Self:
        begun = time.monotonic()
        try:
            for stage in self._stages:
                self._start(stage)
        except BaseException:
            self.stop()
            raise
        log.info("stack.ready", seconds=round(time.monotonic() - begun, 2))
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.stop()

    def _start(self, stage: tuple[Program, ...]) -> None:
        children: list[Child] = []
        self._running.append(children)
        children.extend(Child(program, self._logs) for program in stage)
        for child in children:
            self._await(child)

    def _await(self, child: Child) -> None:
        """Until it answers, or, if it is a step and no server, until it has ended well."""
        backoff, deadline = Backoff(LONGEST_PAUSE_S), time.monotonic() + READY_S
        while not self._ready(child):
            if time.monotonic() > deadline:
                raise OutOfTime(
                    f"The process {child.program.name} was not ready within {READY_S:.0f} seconds."
                )
            self.pause(backoff.next_s())

    def _ready(self, child: Child) -> bool:
        health = child.program.health
        if health is None:
            return child.exit_code == 0
        return answers(health, timeout_s=min(PROBE_S, self._patience.request_s()))

    def pause(self, seconds: float) -> None:
        """Wait while everything runs. Raises ChildDied, Interrupted or OutOfTime if that changes."""
        self._patience.pause(seconds)
        for child in self._children():
            child.check()

    def stop(self) -> None:
        """The last stage first, one process after the other. Bounded, and never raises for a process."""
        for child in self._children():
            child.stop()
        self._running.clear()

    def _children(self) -> list[Child]:
        return [child for stage in reversed(self._running) for child in stage]
