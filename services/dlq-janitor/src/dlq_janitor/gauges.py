"""Queue depths as gauges. Out of reach, they keep their last value: a gap would look like an empty queue."""

from reelworks.errors import ReelworksError
from reelworks.ports import TaskQueue
from reelworks.runtime import logging
from reelworks.runtime.metrics import Metrics

log = logging.get(__name__)


def observe_depths(queue: TaskQueue, metrics: Metrics) -> bool:
    """Set the gauges of all queues; False if SQS did not answer."""
    try:
        depths = queue.depths()
    except ReelworksError as error:
        log.warning("gauges.kept", error=error.message)
        return False
    for name, depth in depths.items():
        metrics.queue_messages.labels(name, "visible").set(depth.visible)
        metrics.queue_messages.labels(name, "in_flight").set(depth.in_flight)
        metrics.queue_messages.labels(name, "delayed").set(depth.delayed)
    return True
