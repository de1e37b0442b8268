"""The janitor's loop and its gauges through outages."""

import threading
from collections.abc import Mapping

from dlq_janitor.gauges import observe_depths
from dlq_janitor.loop import STALE_PASSES, Loop
from reelworks.errors import Unreachable
from reelworks.ports import Depth
from reelworks.runtime.metrics import Metrics
from reelworks.testing import FakeClock
from tests.world import World


class Depths:
    """A queue of which only the depths are asked."""

    def __init__(self) -> None:
        self.reachable = True

    def depths(self) -> Mapping[str, Depth]:
        if not self.reachable:
            raise Unreachable("no SQS")
        return {"speech": Depth(visible=3, in_flight=2, delayed=1)}


def gauge(metrics: Metrics, state: str) -> float | None:
    return metrics.registry.get_sample_value("reelworks_queue_messages", {"queue": "speech", "state": state})


def test_gauges_keep_their_last_value_while_sqs_is_out_of_reach() -> None:
    metrics, queue = Metrics(), Depths()
    assert observe_depths(queue, metrics)  # type: ignore[arg-type]
    queue.reachable = False
    assert not observe_depths(queue, metrics)  # type: ignore[arg-type]
    assert [gauge(metrics, state) for state in ("visible", "in_flight", "delayed")] == [3, 2, 1]


class FailingSweep:
    def __init__(self) -> None:
        self.broken = False

    def run(self) -> Mapping[str, int]:
        if self.broken:
            raise Unreachable("no table")
        return {}


def make_loop(world: World, clock: FakeClock, sweep: FailingSweep, stopping: threading.Event) -> Loop:
    return Loop(
        sweep,  # type: ignore[arg-type]
        world.queue,
        world.metrics,
        clock,
        interval_s=10,
        stopping=stopping,
        uniform=min,
    )


def test_janitor_without_a_finished_pass_stops_being_live_and_comes_back(
    world: World, clock: FakeClock
) -> None:
    sweep = FailingSweep()
    loop = make_loop(world, clock, sweep, threading.Event())
    sweep.broken = True
    clock.advance(10 * STALE_PASSES + 1)
    loop.once()
    assert "no finished sweep" in (loop.trouble() or "")
    sweep.broken = False
    loop.once()
    assert loop.trouble() is None


def test_stopping_janitor_ends_its_loop(world: World, clock: FakeClock) -> None:
    stopping = threading.Event()
    loop = make_loop(world, clock, FailingSweep(), stopping)
    thread = threading.Thread(target=loop.run)
    thread.start()
    stopping.set()
    thread.join(5)
    assert not thread.is_alive()
