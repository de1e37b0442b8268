"""Makes on an emulator what an operator makes on AWS: buckets, queues, notification, table. Idempotent.

Never used against AWS: there, the settings name no endpoint or one of Amazon's, and both are refused.
"""

import contextlib
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from reelworks.adapters.clients import Clients
from reelworks.errors import InvalidSettings
from reelworks.runtime.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

MAX_RECEIVES = 5
"""Then SQS itself dead-letters a message: the backstop for workers that die before they can decide."""
VISIBILITY_S = 65
"""The default lease and its skew; each receive says its own."""
DLQ_RETENTION_S = 14 * 86_400
EVENTS_LANE = "events"
RAW_PREFIX = "uploads/"

AMAZON = (".amazonaws.com", ".amazonaws.com.cn", ".amazonaws.eu", ".aws")

CORS: Any = {
    "CORSRules": [
        {
            "AllowedOrigins": ["*"],
            "AllowedMethods": ["GET", "HEAD", "PUT", "POST"],
            "AllowedHeaders": ["*"],
            # Without it a browser cannot complete a multipart upload.
            "ExposeHeaders": ["ETag"],
            "MaxAgeSeconds": 3_000,
        }
    ]
}


def create_resources(clients: Clients, settings: Settings) -> None:
    """Everything the services need. Raises InvalidSettings if this could be AWS."""
    refuse_aws(settings.aws.endpoint_url)
    for bucket in (settings.s3.raw_bucket, settings.s3.media_bucket):
        _create_bucket(clients.s3, bucket, settings.aws.region)
    dlq = _create_queue(
        clients.sqs, f"{settings.sqs.prefix}dlq", {"MessageRetentionPeriod": str(DLQ_RETENTION_S)}
    )
    for lane in settings.sqs.lanes:
        queue = _create_queue(clients.sqs, f"{settings.sqs.prefix}{lane}", _lane_attributes(dlq))
        if lane == EVENTS_LANE:
            _announce(clients, settings.s3.raw_bucket, queue)
    _create_table(clients.dynamodb, settings.dynamodb.table)


def refuse_aws(endpoint_url: str | None) -> None:
    """InvalidSettings unless the endpoint is one that is not Amazon's."""
    host = urlsplit(endpoint_url or "").hostname or ""
    if not host or f".{host}".endswith(AMAZON):
        raise InvalidSettings(
            "The embedded mode makes buckets, queues and tables on an emulator only: REELWORKS_AWS_ENDPOINT_URL must "
            f"name one, not {endpoint_url!r}. On AWS make them with your own tools."
        )


def _create_bucket(s3: "S3Client", bucket: str, region: str) -> None:
    where: dict[str, Any] = {}
    if region != "us-east-1":  # the one region that must not be named
        where["CreateBucketConfiguration"] = {"LocationConstraint": region}
    with contextlib.suppress(s3.exceptions.BucketAlreadyOwnedByYou):
        s3.create_bucket(Bucket=bucket, **where)
    s3.put_bucket_cors(Bucket=bucket, CORSConfiguration=CORS)


def _lane_attributes(dlq_arn: str) -> dict[str, str]:
    policy = {"deadLetterTargetArn": dlq_arn, "maxReceiveCount": MAX_RECEIVES}
    return {"RedrivePolicy": json.dumps(policy), "VisibilityTimeout": str(VISIBILITY_S)}


def _create_queue(sqs: "SQSClient", name: str, attributes: dict[str, str]) -> str:
    """Its ARN. The attributes are set apart: creating a queue that has others is an error."""
    try:
        url = sqs.get_queue_url(QueueName=name)["QueueUrl"]
    except sqs.exceptions.QueueDoesNotExist:
        url = sqs.create_queue(QueueName=name)["QueueUrl"]
    wanted: Any = attributes
    sqs.set_queue_attributes(QueueUrl=url, Attributes=wanted)
    return sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]


def _announce(clients: Clients, bucket: str, queue_arn: str) -> None:
    """Let S3 send to the queue, then tell it to."""
    name = queue_arn.rpartition(":")[2]
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": "s3.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": queue_arn,
        "Condition": {"ArnEquals": {"aws:SourceArn": f"arn:aws:s3:::{bucket}"}},
    }
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    url = clients.sqs.get_queue_url(QueueName=name)["QueueUrl"]
    clients.sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": policy})
    rule: Any = {
        "Id": "arrivals",
        "QueueArn": queue_arn,
        "Events": ["s3:ObjectCreated:*"],
        "Filter": {"Key": {"FilterRules": [{"Name": "prefix", "Value": RAW_PREFIX}]}},
    }
    configuration: Any = {"QueueConfigurations": [rule]}
    clients.s3.put_bucket_notification_configuration(Bucket=bucket, NotificationConfiguration=configuration)


def _create_table(dynamodb: "DynamoDBClient", table: str) -> None:
    try:
        dynamodb.describe_table(TableName=table)
    except dynamodb.exceptions.ResourceNotFoundException:
        dynamodb.create_table(**_table(table))
        dynamodb.get_waiter("table_exists").wait(
            TableName=table, WaiterConfig={"Delay": 1, "MaxAttempts": 60}
        )
    found = dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
    if found.get("TimeToLiveStatus") not in ("ENABLED", "ENABLING"):  # enabling it twice is an error
        ttl: Any = {"Enabled": True, "AttributeName": "ttl"}
        dynamodb.update_time_to_live(TableName=table, TimeToLiveSpecification=ttl)


def _table(name: str) -> dict[str, Any]:
    """Keys and indexes, as on AWS."""
    attributes = {"pk": "S", "sk": "S", "owner": "S", "created_at": "N", "watch_shard": "S", "due_at": "N"}
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": n, "AttributeType": kind} for n, kind in attributes.items()
        ],
        "KeySchema": _keys("pk", "sk"),
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "by_owner",
                "KeySchema": _keys("owner", "created_at"),
                "Projection": {"ProjectionType": "ALL"},
            },
            {
                "IndexName": "watch",
                "KeySchema": _keys("watch_shard", "due_at"),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            },
        ],
    }


def _keys(partition: str, sort: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": partition, "KeyType": "HASH"},
        {"AttributeName": sort, "KeyType": "RANGE"},
    ]
