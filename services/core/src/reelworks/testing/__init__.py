"""For tests: the ports in memory with the semantics of the adapters, a clock that is set by hand, injected faults.

The contract tests run on these and on the adapters alike, so a test that passes here means something.
"""

from reelworks.testing.blobs import InMemoryBlobStore
from reelworks.testing.clock import FakeClock
from reelworks.testing.events import InMemoryEventSink
from reelworks.testing.faults import Call, Fault, FaultInjector, Killed
from reelworks.testing.memory import InMemory
from reelworks.testing.queue import InMemoryTaskQueue
from reelworks.testing.store import InMemoryUploadStore

__all__ = [
    "Call",
    "FakeClock",
    "Fault",
    "FaultInjector",
    "InMemory",
    "InMemoryBlobStore",
    "InMemoryEventSink",
    "InMemoryTaskQueue",
    "InMemoryUploadStore",
    "Killed",
]
