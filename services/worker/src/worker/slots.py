"""A count of free places that can be waited on, for the consumer's one polling thread and its working threads."""

import threading


class Slots:
    """`total` places. Only the poller takes, workers give back."""

    def __init__(self, total: int) -> None:
        self.total = total
        self._taken = 0
        self._changed = threading.Condition()

    @property
    def taken(self) -> int:
        """How many are at work."""
        return self._taken

    @property
    def free(self) -> int:
        """How many messages may be received."""
        return self.total - self._taken

    def take(self) -> None:
        """One place is at work."""
        with self._changed:
            self._taken += 1

    def give_back(self) -> None:
        """One place is free again."""
        with self._changed:
            self._taken -= 1
            self._changed.notify_all()

    def wait_for_free(self, seconds: float) -> bool:
        """Wait up to `seconds` until a place is free."""
        with self._changed:
            return self._changed.wait_for(lambda: self.free > 0, seconds)

    def wait_for_all(self, seconds: float) -> bool:
        """Wait up to `seconds` until nothing is at work."""
        with self._changed:
            return self._changed.wait_for(lambda: self._taken == 0, seconds)
