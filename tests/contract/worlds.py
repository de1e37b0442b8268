"""In memory, or on an emulator: the same ports, and the differences as flags with a name."""

import itertools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, Self

import httpx
from msgspec import structs

from reelworks.adapters.clients import Clients
from reelworks.adapters.wiring import Adapters
from reelworks.embedded.bootstrap import create_resources
from reelworks.ports import (
    BlobStore,
    Clock,
    EventSink,
    Received,
    SignedRequest,
    TaskQueue,
    UploadStore,
)
from reelworks.runtime.settings import S3, Dynamodb, Eventbridge, Settings, Sqs
from reelworks.testing import FakeClock, InMemory
from tests.servers import settings_for

LONG_POLL_S = 10
_numbers = itertools.count(1)


class AnyPorts(Protocol):
    """What `Adapters` and `InMemory` have in common."""

    @property
    def store(self) -> UploadStore: ...
    @property
    def queue(self) -> TaskQueue: ...
    @property
    def raw(self) -> BlobStore: ...
    @property
    def media(self) -> BlobStore: ...
    @property
    def events(self) -> EventSink: ...
    @property
    def clock(self) -> Clock: ...


@dataclass(frozen=True, kw_only=True)
class Emulation:
    """Where an implementation is not as AWS is. The defaults are AWS.

    `checks_signed_headers`: a PUT whose headers are not as signed is refused. `checks_checksums`: so is another body.
    `writers`: how many may write at once. moto tests a condition and writes in two steps without a lock, so two of its
    request threads can both find it true; there, what DynamoDB promises is only asked for one after the other.
    """

    checks_signed_headers: bool = True
    checks_checksums: bool = True
    writers: int = 8


FAITHFUL = MINISTACK = Emulation()
MOTO = Emulation(checks_signed_headers=False, checks_checksums=False, writers=1)


class World(Protocol):
    """What the tests use."""

    emulation: Emulation

    @property
    def ports(self) -> AnyPorts: ...

    def pass_time(self, seconds: float) -> None:
        """Let time pass, where it is ours; elsewhere the long poll that follows waits for it."""
        ...

    def client_put(self, request: SignedRequest, headers: Mapping[str, str], body: bytes) -> int:
        """The HTTP status a client gets for its PUT."""
        ...

    def receive(self, lane: str, visibility_s: int = 30) -> list[Received]:
        """The next messages of a lane, waiting for the first."""
        ...

    def receive_nothing(self, lane: str) -> bool:
        """Whether the lane has nothing to give out now."""
        ...


class _Receiving:
    ports: AnyPorts

    def receive(self, lane: str, visibility_s: int = 30) -> list[Received]:
        return self.ports.queue.receive(lane, 10, LONG_POLL_S, visibility_s)

    def receive_nothing(self, lane: str) -> bool:
        return not self.ports.queue.receive(lane, 10, 0, 30)


class Remembered(_Receiving):
    """The ports in memory, on a fake clock."""

    emulation = FAITHFUL

    def __init__(self, ports: InMemory, clock: FakeClock) -> None:
        self.ports: AnyPorts = ports
        self._raw = ports.raw
        self._clock = clock

    def pass_time(self, seconds: float) -> None:
        self._clock.advance(seconds)

    def client_put(self, request: SignedRequest, headers: Mapping[str, str], body: bytes) -> int:
        return self._raw.client_put(request.url, headers, body)


class Emulated(_Receiving):
    """The adapters on an emulator."""

    def __init__(self, clients: Clients, settings: Settings, emulation: Emulation) -> None:
        self.clients = clients
        self.settings = settings
        self.emulation = emulation
        self.ports: AnyPorts = Adapters.from_clients(clients, settings)

    @classmethod
    def made(cls, endpoint: str, clients: Clients, emulation: Emulation) -> Self:
        """With resources of its own names."""
        settings = named(settings_for(endpoint), f"t{os.getpid()}x{next(_numbers)}")
        create_resources(clients, settings)
        return cls(clients, settings, emulation)

    def pass_time(self, seconds: float) -> None:
        pass

    def client_put(self, request: SignedRequest, headers: Mapping[str, str], body: bytes) -> int:
        answer = httpx.request(
            request.method, request.url, headers=dict(headers), content=body, trust_env=False
        )
        return answer.status_code


def named(settings: Settings, name: str) -> Settings:
    """The same settings for other buckets, queues and another table."""
    return structs.replace(
        settings,
        s3=S3(raw_bucket=f"{name}-raw", media_bucket=f"{name}-media", addressing=settings.s3.addressing),
        sqs=Sqs(prefix=f"{name}-", lanes=("events", "fast")),
        dynamodb=Dynamodb(table=name, shards=settings.dynamodb.shards),
        eventbridge=Eventbridge(source=name),
    )
