"""The clients: timeouts, retries and region as the settings say, whatever boto3's defaults are this year."""

from typing import Any

import pytest

from reelworks.adapters.clients import LONGEST_POLL_S, POOL_CONNECTIONS, Clients
from reelworks.adapters.wiring import Adapters
from reelworks.ports import BlobStore, EventSink, TaskQueue, UploadStore
from reelworks.runtime.settings import Settings

NAMES = ["s3", "s3_public", "sqs", "dynamodb", "events"]


@pytest.mark.parametrize("name", NAMES)
def test_timeouts_retries_and_region_are_explicit(clients: Clients, settings: Settings, name: str) -> None:
    config: Any = getattr(clients, name).meta.config
    assert config.region_name == "eu-central-1"
    assert config.connect_timeout == settings.aws.connect_timeout_s
    assert config.retries == {"mode": "standard", "total_max_attempts": settings.aws.max_attempts}
    assert config.max_pool_connections == POOL_CONNECTIONS


def test_a_long_poll_is_never_cut_off_by_its_own_client(clients: Clients, settings: Settings) -> None:
    polling: Any = clients.sqs_polling.meta.config
    plain: Any = clients.dynamodb.meta.config
    assert polling.read_timeout == settings.aws.read_timeout_s + LONGEST_POLL_S
    assert plain.read_timeout == settings.aws.read_timeout_s


def test_no_checksums_that_only_aws_understands(clients: Clients) -> None:
    config: Any = clients.s3.meta.config
    assert config.request_checksum_calculation == "when_required"
    assert config.response_checksum_validation == "when_required"


def test_the_adapters_fit_their_ports(clients: Clients, settings: Settings) -> None:
    adapters = Adapters.from_clients(clients, settings)
    store: UploadStore = adapters.store
    queue: TaskQueue = adapters.queue
    blobs: tuple[BlobStore, BlobStore] = (adapters.raw, adapters.media)
    events: EventSink = adapters.events
    assert store.shards == settings.dynamodb.shards
    assert None not in (queue, *blobs, events, adapters.clock)
