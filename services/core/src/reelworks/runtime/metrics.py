"""The Prometheus metrics of all services, each registered once per process on an injected registry.

Labels are bounded: lanes, task kinds, statuses, route templates; never an id or a path.
"""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

BUCKETS = (0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600)
"""Seconds, from a table call to six hours of encoding; the library's defaults end at ten seconds."""


class Metrics:
    """Names are fixed in the documentation; dashboards and alerts depend on them."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        r = self.registry
        self.messages = Counter(
            "reelworks_messages",
            "Messages acknowledged, by what became of them",
            ("lane", "outcome"),
            registry=r,
        )
        self.message_lag = Histogram(
            "reelworks_message_lag_seconds",
            "From sending to receiving",
            ("lane",),
            buckets=BUCKETS,
            registry=r,
        )
        self.task_duration = Histogram(
            "reelworks_task_duration_seconds", "One attempt", ("kind", "outcome"), buckets=BUCKETS, registry=r
        )
        self.uploads = Counter("reelworks_uploads", "Uploads that reached a status", ("status",), registry=r)
        self.upload_ready = Histogram(
            "reelworks_upload_ready_seconds", "From creation to COMPLETED", buckets=BUCKETS, registry=r
        )
        self.renditions = Counter(
            "reelworks_renditions",
            "Renditions of one task, encoded or taken over from an earlier attempt",
            ("kind", "result"),
            registry=r,
        )
        self.lease_lost = Counter(
            "reelworks_lease_lost", "Attempts that stopped because they lost their lease", registry=r
        )
        self.queue_messages = Gauge(
            "reelworks_queue_messages",
            "Approximate messages; the last known value",
            ("queue", "state"),
            registry=r,
        )
        self.sweep_actions = Counter(
            "reelworks_sweep_actions", "Rows a sweep had to do something about", ("kind",), registry=r
        )
        self.dead_letters = Counter(
            "reelworks_dead_letters",
            "Messages moved to the dead-letter queue",
            ("reason", "action"),
            registry=r,
        )
        self.http_requests = Histogram(
            "reelworks_http_request_seconds",
            "HTTP requests by route template",
            ("method", "route", "status"),
            buckets=BUCKETS,
            registry=r,
        )

    def exposition(self) -> tuple[bytes, str]:
        """Body and Content-Type of a scrape."""
        return generate_latest(self.registry), CONTENT_TYPE_LATEST
