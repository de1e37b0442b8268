"""All ports in memory, connected as the real ones are: an object below `uploads/` is announced on the events lane."""

import json
from typing import Self
from urllib.parse import quote_plus

from msgspec import Struct

from reelworks.ports import Clock
from reelworks.testing.blobs import InMemoryBlobStore
from reelworks.testing.clock import FakeClock
from reelworks.testing.events import InMemoryEventSink
from reelworks.testing.queue import InMemoryTaskQueue
from reelworks.testing.store import InMemoryUploadStore


class InMemory(Struct, frozen=True, kw_only=True):
    """The counterpart of `adapters.wiring.Adapters`, with the same names."""

    store: InMemoryUploadStore
    queue: InMemoryTaskQueue
    raw: InMemoryBlobStore
    media: InMemoryBlobStore
    events: InMemoryEventSink
    clock: Clock

    @classmethod
    def make(cls, clock: Clock | None = None) -> Self:
        """Empty; on a FakeClock if none is given."""
        clock = clock or FakeClock()
        queue = InMemoryTaskQueue(clock)

        def announce(key: str, size: int) -> None:
            if key.startswith("uploads/"):
                queue.send("events", s3_event(key, size))

        return cls(
            store=InMemoryUploadStore(clock),
            queue=queue,
            raw=InMemoryBlobStore(clock, "raw", announce),
            media=InMemoryBlobStore(clock, "media"),
            events=InMemoryEventSink(),
            clock=clock,
        )


def s3_event(key: str, size: int = 1) -> str:
    """What S3 sends when an object was created, its key encoded as AWS does."""
    found = {"key": quote_plus(key, safe="/"), "size": size}
    record = {
        "eventVersion": "2.1",
        "eventSource": "aws:s3",
        "eventName": "ObjectCreated:Put",
        "s3": {"bucket": {"name": "raw"}, "object": found},
    }
    return json.dumps({"Records": [record]})
