import threading

import pytest

from reelworks.embedded.errors import OutOfTime
from reelworks.embedded.patience import LONGEST_PAUSE_S, REQUEST_S, Backoff, Patience
from reelworks.errors import Interrupted


class Watch:
    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def test_waiting_ends_with_the_deadline() -> None:
    watch = Watch()
    patience = Patience(threading.Event(), 5.0, watch)
    patience.check()
    watch.time += 5
    with pytest.raises(OutOfTime, match="5 seconds"):
        patience.pause(60)


def test_waiting_ends_with_a_signal() -> None:
    stopping = threading.Event()
    stopping.set()
    with pytest.raises(Interrupted):
        Patience(stopping).pause(60)


def test_a_request_gets_what_is_left() -> None:
    watch = Watch()
    patience = Patience(threading.Event(), 20.0, watch)
    assert patience.request_s() == REQUEST_S
    watch.time += 17
    assert patience.request_s() == 3


def test_pauses_grow_to_a_second() -> None:
    backoff = Backoff()
    pauses = [backoff.next_s() for _ in range(20)]
    assert pauses == sorted(pauses)
    assert pauses[0] < 0.1
    assert pauses[-1] == LONGEST_PAUSE_S
