"""Real boto3 clients that reach nobody: what they would send is checked by botocore's own stub."""

from collections.abc import Iterator

import pytest

from reelworks.adapters.clients import Clients
from reelworks.runtime.settings import Aws, Settings


@pytest.fixture(scope="session")
def settings() -> Settings:
    """Of an endpoint where nobody listens."""
    return Settings(aws=Aws(endpoint_url="http://127.0.0.1:1", region="eu-central-1"))


@pytest.fixture(scope="session")
def clients(settings: Settings) -> Iterator[Clients]:
    """Made once: that takes longer than the tests."""
    made = Clients.from_settings(settings, ("test", "test"))
    yield made
    made.close()
