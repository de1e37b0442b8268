"""TaskQueue in memory: visibility timeouts, receive counts and a redrive policy, driven by the clock."""

import itertools
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reelworks.domain.instants import Millis
from reelworks.ports import Clock, Depth, Received
from reelworks.testing.clock import FakeClock

DLQ = "dlq"
LANES = ("events", "fast", "encode", "speech")
MAX_VISIBILITY_S = 43_200


@dataclass
class Message:
    """`hidden_until`, `received_at`: monotonic seconds. `receipt`: of the newest receive, None before the first."""

    message_id: str
    body: str
    attributes: dict[str, str]
    group: str | None
    sent_at: Millis
    hidden_until: float
    received_at: float = 0.0
    receives: int = 0
    receipt: str | None = None


class InMemoryTaskQueue:
    """Implements ports.TaskQueue. `lanes` are the messages, for tests to look at.

    On a FakeClock `receive` never waits: nothing would move the clock meanwhile.
    """

    def __init__(self, clock: Clock, lanes: Iterable[str] = LANES, max_receives: int = 5) -> None:
        self.lanes: dict[str, list[Message]] = {lane: [] for lane in (*lanes, DLQ)}
        self._clock = clock
        self._max_receives = max_receives
        self._ids = itertools.count(1)
        self._changed = threading.Condition()

    def receive(self, lane: str, limit: int, wait_seconds: int, visibility_seconds: int) -> list[Received]:
        """Up to `limit` messages, waiting for the first."""
        deadline = self._clock.monotonic() + wait_seconds
        with self._changed:
            while True:
                taken = self._take(lane, min(limit, 10), visibility_seconds)
                left = deadline - self._clock.monotonic()
                if taken or left <= 0 or isinstance(self._clock, FakeClock):
                    return taken
                self._changed.wait(min(left, self._next_visible_s(lane)))

    def _take(self, lane: str, limit: int, visibility_seconds: int) -> list[Received]:
        now = self._clock.monotonic()
        taken: list[Received] = []
        for message in [m for m in self.lanes[lane] if m.hidden_until <= now]:
            if lane != DLQ and message.receives >= self._max_receives:
                self.lanes[lane].remove(message)
                message.receives, message.receipt = 0, None
                self.lanes[DLQ].append(message)
            elif len(taken) < limit:
                taken.append(self._give_out(lane, message, now, visibility_seconds))
        return taken

    def _give_out(self, lane: str, message: Message, now: float, visibility_seconds: int) -> Received:
        message.receives += 1
        message.receipt = f"{message.message_id}.{message.receives}"
        message.received_at = now
        message.hidden_until = now + visibility_seconds
        return Received(
            lane=lane,
            message_id=message.message_id,
            receipt=message.receipt,
            body=message.body,
            receives=message.receives,
            sent_at=message.sent_at,
            attributes=dict(message.attributes),
        )

    def _next_visible_s(self, lane: str) -> float:
        now = self._clock.monotonic()
        return max(min((m.hidden_until - now for m in self.lanes[lane]), default=60.0), 0.001)

    def send(
        self,
        lane: str,
        body: str,
        *,
        group: str | None = None,
        delay_seconds: int = 0,
        attributes: Mapping[str, str] | None = None,
    ) -> None:
        """Put a message into a lane."""
        kept = {name: value for name, value in (attributes or {}).items() if value}
        with self._changed:
            message = Message(
                message_id=f"m{next(self._ids)}",
                body=body,
                attributes=kept,
                group=group,
                sent_at=self._clock.now(),
                hidden_until=self._clock.monotonic() + delay_seconds,
            )
            self.lanes[lane].append(message)
            self._changed.notify_all()

    def dead_letter(self, body: str, attributes: Mapping[str, str]) -> None:
        """Put a body into the dead-letter queue."""
        self.send(DLQ, body, attributes=attributes)

    def delete(self, message: Received) -> None:
        """Forget a message, if the receipt is its newest."""
        with self._changed:
            lane = self.lanes[message.lane]
            lane[:] = [m for m in lane if m.receipt != message.receipt]

    def hide(self, message: Received, seconds: int) -> None:
        """Give a message out again in `seconds`, if it is in flight under this receipt."""
        now = self._clock.monotonic()
        until = now + max(0, min(seconds, MAX_VISIBILITY_S))
        with self._changed:
            for found in self.lanes[message.lane]:
                in_flight = found.receipt == message.receipt and found.hidden_until > now
                if in_flight and until <= found.received_at + MAX_VISIBILITY_S:
                    found.hidden_until = until
            self._changed.notify_all()

    def depths(self) -> Mapping[str, Depth]:
        """By lane, and the dead-letter queue."""
        with self._changed:
            return {lane: self._depth(messages) for lane, messages in self.lanes.items()}

    def _depth(self, messages: list[Message]) -> Depth:
        hidden = [m for m in messages if m.hidden_until > self._clock.monotonic()]
        in_flight = sum(m.receipt is not None for m in hidden)
        return Depth(
            visible=len(messages) - len(hidden), in_flight=in_flight, delayed=len(hidden) - in_flight
        )

    def ping(self) -> None:
        """Always there."""
