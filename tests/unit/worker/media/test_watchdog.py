import pytest

from reelworks.errors import Temporary
from worker.media.watchdog import Watchdog


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_progress_puts_the_stall_off_but_not_the_timeout() -> None:
    clock = Clock()
    watchdog = Watchdog(timeout_s=100, stall_s=10, clock=clock)
    for step in range(10):
        clock.now += 9
        watchdog.check(step)

    clock.now += 9.5
    watchdog.check(9)
    clock.now += 1
    with pytest.raises(Temporary) as ended:
        watchdog.check(10)
    assert ended.value.code == "media_timeout"


def test_the_same_position_for_too_long_is_a_stall() -> None:
    clock = Clock()
    watchdog = Watchdog(timeout_s=100, stall_s=10, clock=clock)
    watchdog.check(1)
    clock.now += 10
    watchdog.check(1)
    clock.now += 0.1

    with pytest.raises(Temporary) as ended:
        watchdog.check(1)
    assert ended.value.code == "media_stalled"


def test_without_a_stall_limit_only_the_timeout_counts() -> None:
    clock = Clock()
    watchdog = Watchdog(timeout_s=100, stall_s=None, clock=clock)
    clock.now += 99

    watchdog.check(None)
