"""All ports from the settings, in one struct. Called once by each service's bootstrap."""

from typing import Self

from msgspec import Struct

from reelworks.adapters.clients import Clients
from reelworks.adapters.clock import SystemClock
from reelworks.adapters.dynamodb import DynamoUploadStore
from reelworks.adapters.eventbridge import EventBridgeSink
from reelworks.adapters.s3 import S3BlobStore
from reelworks.adapters.signing import Signer
from reelworks.adapters.sqs import SqsTaskQueue
from reelworks.adapters.table import Table
from reelworks.ports import BlobStore, Clock, EventSink, TaskQueue, UploadStore
from reelworks.runtime.settings import Settings


class Adapters(Struct, frozen=True, kw_only=True):
    """The outside world. `raw` and `media` are the two buckets."""

    store: UploadStore
    queue: TaskQueue
    raw: BlobStore
    media: BlobStore
    events: EventSink
    clock: Clock

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """On AWS or on whatever `settings.aws.endpoint_url` names. Connects to nothing yet."""
        return cls.from_clients(Clients.from_settings(settings), settings)

    @classmethod
    def from_clients(cls, clients: Clients, settings: Settings, clock: Clock | None = None) -> Self:
        """On these clients, which may be wrapped; the machine's clock if none is given."""
        clock = clock or SystemClock()
        table = Table(clients.dynamodb, settings.dynamodb.table, clock)
        return cls(
            store=DynamoUploadStore(table, shards=settings.dynamodb.shards, clock=clock),
            queue=SqsTaskQueue(
                clients.sqs,
                prefix=settings.sqs.prefix,
                lanes=settings.sqs.lanes,
                polling=clients.sqs_polling,
            ),
            raw=_bucket(clients, settings.s3.raw_bucket, clock),
            media=_bucket(clients, settings.s3.media_bucket, clock),
            events=_events(clients, settings),
            clock=clock,
        )


def _events(clients: Clients, settings: Settings) -> EventSink:
    bus = settings.eventbridge.bus if settings.eventbridge.enabled else ""
    return EventBridgeSink(clients.events, bus=bus, source=settings.eventbridge.source)


def _bucket(clients: Clients, bucket: str, clock: Clock) -> S3BlobStore:
    signer = Signer(clients.s3_public, bucket, clock, clients.credentials)
    return S3BlobStore(clients.s3, bucket, signer)
