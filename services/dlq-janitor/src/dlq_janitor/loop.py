"""The janitor's loop: a pass, the gauges, a jittered pause."""

import random
import threading
from collections.abc import Callable

from dlq_janitor.gauges import observe_depths
from dlq_janitor.sweep import Sweep
from reelworks.errors import ReelworksError
from reelworks.ports import Clock, TaskQueue
from reelworks.runtime import logging
from reelworks.runtime.metrics import Metrics

STALE_PASSES = 10
"""So many intervals without a finished pass, and the process does not count as live."""

log = logging.get(__name__)


class Loop:
    """Runs in the calling thread until `stopping` is set."""

    def __init__(  # noqa: PLR0913
        self,
        sweep: Sweep,
        queue: TaskQueue,
        metrics: Metrics,
        clock: Clock,
        *,
        interval_s: float,
        stopping: threading.Event,
        uniform: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._sweep = sweep
        self._queue = queue
        self._metrics = metrics
        self._clock = clock
        self._interval_s = interval_s
        self._stopping = stopping
        self._uniform = uniform
        self.last_pass = clock.monotonic()

    def run(self) -> None:
        """Pass after pass; an outage is logged and waited out."""
        while not self._stopping.is_set():
            self.once()
            self._stopping.wait(self._interval_s * self._uniform(0.8, 1.2))
        log.info("janitor.stopped")

    def once(self) -> None:
        """One pass and the gauges."""
        try:
            observe_depths(self._queue, self._metrics)
            done = self._sweep.run()
        except ReelworksError as error:
            log.warning("sweep.out_of_reach", error=error.message)
        except Exception:  # the border of the loop: the next pass may go better
            log.exception("sweep.crashed")
        else:
            self.last_pass = self._clock.monotonic()
            if done:
                log.info("sweep.finished", **{str(kind): count for kind, count in done.items()})

    def trouble(self) -> str | None:
        """For the liveness probe."""
        silence = self._clock.monotonic() - self.last_pass
        limit = STALE_PASSES * self._interval_s
        return None if silence <= limit else f"no finished sweep for {silence:.0f} s (limit {limit:.0f} s)"
