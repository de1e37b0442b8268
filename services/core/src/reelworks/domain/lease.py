"""How long a worker may believe that a task is its own, and how retries are spaced.

The argument. The owner writes `lease_until = its clock + lease_ms` and stops believing in its lease once its own
clock has passed `lease_until`. Another worker takes over only once *its* clock has passed `lease_until + skew_ms`.
While two clocks differ by no more than `skew_ms`, the owner has stopped before anyone else starts. Should clocks
differ by more, two may work at once, but only one can write: each write is conditional on the token of the row.

`lease_ms` is at least six heartbeats, so that five in a row may fail before a healthy worker loses its task.
"""

from collections.abc import Callable

from msgspec import Struct

from reelworks.domain.instants import HOUR_MS, MINUTE_MS, SECOND_MS, Millis

HEARTBEATS_PER_LEASE = 6
MAX_VISIBILITY_MS = 12 * HOUR_MS - 5 * MINUTE_MS
"""SQS counts at most 12 h of visibility from the receive; past that every extension is refused."""


class LeaseRules(Struct, frozen=True, kw_only=True):
    """Defaults: NTP keeps nodes within some 10 ms; 5 s of skew forgives a bad one."""

    heartbeat_ms: int = 10 * SECOND_MS
    lease_ms: int = 60 * SECOND_MS
    skew_ms: int = 5 * SECOND_MS
    max_attempts: int = 3

    def __post_init__(self) -> None:
        if self.lease_ms < HEARTBEATS_PER_LEASE * self.heartbeat_ms:
            raise ValueError("a lease must last at least six heartbeats")
        if self.heartbeat_ms <= 0 or self.skew_ms < 0 or self.max_attempts < 1:
            raise ValueError("heartbeat and attempts must be positive, the skew not negative")

    def lease_until(self, now: Millis) -> Millis:
        """The end of a lease that is taken or renewed now."""
        return now + self.lease_ms

    def expired(self, lease_until: Millis, now: Millis) -> bool:
        """Whether somebody else may take the task over."""
        return now > lease_until + self.skew_ms

    def visibility_ms(self) -> int:
        """How long a received message stays hidden: until the lease could be taken over."""
        return self.lease_ms + self.skew_ms


class RetryPolicy(Struct, frozen=True, kw_only=True):
    """Exponential backoff with jitter: attempt n waits between half and all of `base * 2^(n-1)`, capped."""

    base_ms: int = 5 * SECOND_MS
    cap_ms: int = 15 * MINUTE_MS

    def delay_ms(self, attempts: int, random: Callable[[], float], *, at_least_ms: int | None = None) -> int:
        """The wait after the given number of attempts; `random` yields [0, 1). A server's own wish is a floor."""
        full = min(self.cap_ms, self.base_ms * 2 ** min(max(attempts - 1, 0), 20))
        jittered = int(full * (0.5 + 0.5 * random()))
        return max(jittered, min(at_least_ms or 0, self.cap_ms))
