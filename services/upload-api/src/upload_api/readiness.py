"""Whether this process can do its work: asks what it depends on, at most every few seconds, one thread at a time."""

import threading
from collections.abc import Callable, Mapping

from reelworks.errors import ReelworksError
from reelworks.ports import Clock
from reelworks.runtime import logging

CACHE_S = 3.0
"""Many probes (kubelet, load balancer, monitoring) must not become many calls to AWS."""

log = logging.get(__name__)


class Readiness:
    """`checks`: what for people → a call that raises if it cannot be used."""

    def __init__(
        self, checks: Mapping[str, Callable[[], None]], clock: Clock, cache_s: float = CACHE_S
    ) -> None:
        self._checks = checks
        self._clock = clock
        self._cache_s = cache_s
        self._lock = threading.Lock()
        self._asked_at: float | None = None
        self._trouble: str | None = None

    def trouble(self) -> str | None:
        """None while all is well, else a sentence about what is not, without addresses or names."""
        # While one thread waits for a store that hangs, the others go by the last answer instead of queueing up.
        if not self._lock.acquire(blocking=self._asked_at is None):
            return self._trouble
        try:
            if self._asked_at is None or self._clock.monotonic() - self._asked_at >= self._cache_s:
                self._trouble = self._ask()
                self._asked_at = self._clock.monotonic()
            return self._trouble
        finally:
            self._lock.release()

    def _ask(self) -> str | None:
        for name, check in self._checks.items():
            try:
                check()
            except ReelworksError as error:
                log.warning("readiness.failed", what=name, error=error.message)
                return f"The {name} cannot be used at the moment."
        return None
