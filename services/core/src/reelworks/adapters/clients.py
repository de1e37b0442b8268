"""The raw boto3 clients, made once from the settings, with explicit timeouts and a pinned region.

They are the seam for fault injection: whatever has the same methods can stand in for any of them.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import boto3
from botocore.config import Config
from botocore.credentials import Credentials

from reelworks.runtime.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

LONGEST_POLL_S = 20
"""SQS waits at most so long for a first message; the client must wait longer than the server."""

POOL_CONNECTIONS = 50
"""Sockets a client keeps; botocore's 10 makes the threads of an API process open a new one for each call."""


@dataclass(frozen=True, kw_only=True)
class Clients:
    """`s3_public` signs for the endpoint that clients of the API reach and is never called.

    `sqs_polling` receives: it waits longer than SQS does, and asks once, since the consumer asks again anyway.

    `credentials`: those that sign, None if there are none; their end limits what a presigned URL may promise.
    """

    s3: "S3Client"
    s3_public: "S3Client"
    sqs: "SQSClient"
    sqs_polling: "SQSClient"
    dynamodb: "DynamoDBClient"
    events: "EventBridgeClient"
    credentials: Credentials | None = None

    @classmethod
    def from_settings(cls, settings: Settings, keys: tuple[str, str] | None = None) -> Self:
        """`keys`: access key and secret, for emulators; None leaves it to boto3's own chain."""
        access, secret = keys or (None, None)
        session = boto3.session.Session(
            aws_access_key_id=access, aws_secret_access_key=secret, region_name=settings.aws.region
        )
        endpoint = settings.aws.endpoint_url
        public = settings.s3.public_endpoint_url or endpoint
        return cls(
            s3=session.client("s3", endpoint_url=endpoint, config=_s3_config(settings)),
            s3_public=session.client("s3", endpoint_url=public, config=_s3_config(settings)),
            sqs=session.client("sqs", endpoint_url=endpoint, config=_config(settings)),
            sqs_polling=session.client("sqs", endpoint_url=endpoint, config=_polling_config(settings)),
            dynamodb=session.client("dynamodb", endpoint_url=endpoint, config=_config(settings)),
            events=session.client("events", endpoint_url=endpoint, config=_config(settings)),
            credentials=session.get_credentials(),
        )

    def close(self) -> None:
        """Give the sockets back; the clients cannot be used any more."""
        for client in (self.s3, self.s3_public, self.sqs, self.dynamodb, self.events):
            client.close()


def _config(settings: Settings, wait_s: float = 0.0) -> Config:
    aws = settings.aws
    return Config(
        region_name=aws.region,
        connect_timeout=aws.connect_timeout_s,
        read_timeout=aws.read_timeout_s + wait_s,
        retries={"mode": "standard", "total_max_attempts": aws.max_attempts},
        max_pool_connections=POOL_CONNECTIONS,
        tcp_keepalive=True,
        user_agent_extra="reelworks",
    )


def _polling_config(settings: Settings) -> Config:
    once = Config(retries={"mode": "standard", "total_max_attempts": 1})
    return _config(settings, wait_s=LONGEST_POLL_S).merge(once)


def _s3_config(settings: Settings) -> Config:
    """Version 4 signatures for the regional host: the global one redirects, and a redirect breaks the signature.

    Never boto3's own `auto` addressing: outside us-east-1 it signs for the global host.
    """
    own = Config(
        signature_version="s3v4",
        s3={"addressing_style": settings.addressing, "us_east_1_regional_endpoint": "regional"},
        request_checksum_calculation=settings.s3.checksums,
        response_checksum_validation=settings.s3.checksums,
    )
    return _config(settings).merge(own)
