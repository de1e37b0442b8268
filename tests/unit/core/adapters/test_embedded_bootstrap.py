"""Resources are made on emulators only."""

import pytest

from reelworks.adapters.clients import Clients
from reelworks.embedded.bootstrap import create_resources, refuse_aws
from reelworks.errors import InvalidSettings
from reelworks.runtime.settings import Aws, Settings


@pytest.mark.parametrize(
    "endpoint",
    [
        None,
        "",
        "https://s3.eu-central-1.amazonaws.com",
        "https://dynamodb.us-east-1.AMAZONAWS.com:443/",
        "https://sqs.cn-north-1.amazonaws.com.cn",
        "https://s3.eusc-de-east-1.amazonaws.eu",
        "https://dynamodb.us-east-1.api.aws",
        "https://amazonaws.com",
    ],
)
def test_aws_is_refused(endpoint: str | None) -> None:
    with pytest.raises(InvalidSettings, match="your own tools"):
        refuse_aws(endpoint)


@pytest.mark.parametrize(
    "endpoint", ["http://127.0.0.1:4566", "http://localstack:4566", "http://amazonaws.com.evil:1"]
)
def test_an_emulator_is_not(endpoint: str) -> None:
    refuse_aws(endpoint)


def test_nothing_is_called_before_that_is_known(clients: Clients) -> None:
    with pytest.raises(InvalidSettings):
        create_resources(clients, Settings(aws=Aws(endpoint_url=None)))
