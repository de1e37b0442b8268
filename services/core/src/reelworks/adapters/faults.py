"""The one translation of what boto3 raises into what the ports promise.

Nothing here is Permanent: a broken network, a missing permission or a missing table must never fail somebody's upload.
What a service refused for another reason is Temporary: it did answer, and the same request may be refused for ever, so
the attempts that it gets are counted.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    NoAuthTokenError,
    NoCredentialsError,
    PartialCredentialsError,
    TokenRetrievalError,
)

from reelworks.errors import ReelworksError, Temporary, Unreachable

THROTTLED = frozenset(
    {
        "BandwidthLimitExceeded",
        "LimitExceededException",
        "OverLimit",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionInProgressException",
    }
)
"""The codes that botocore's own retry modes take for throttling, and DynamoDB's for a busy transaction."""

BROKEN = frozenset(
    {
        "InternalError",
        "InternalFailure",
        "InternalServerError",
        "OperationAborted",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServiceUnavailable",
        "TransactionCanceledException",
        "TransactionConflictException",
    }
)
"""The other side's own failure, whatever the HTTP status."""

DENIED = frozenset(
    {
        "403",
        "AccessDenied",
        "AccessDeniedException",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "KMSAccessDenied",
        "MissingAuthenticationToken",
        "NotAuthorized",
        "OptInRequired",
        "RequestExpired",
        "RequestTimeTooSkewed",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
MISSING = frozenset(
    {"404", "NoSuchBucket", "NonExistentQueue", "QueueDoesNotExist", "ResourceNotFoundException"}
)

CREDENTIALS = (
    CredentialRetrievalError,
    NoAuthTokenError,
    NoCredentialsError,
    PartialCredentialsError,
    TokenRetrievalError,
)


def code_of(error: ClientError) -> str:
    """The error code without SQS's old namespace (`AWS.SimpleQueueService.NonExistentQueue`)."""
    return str(error.response.get("Error", {}).get("Code", "")).rpartition(".")[2]


def status_of(error: ClientError) -> int:
    """The HTTP status, 0 if there is none."""
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


@contextmanager
def translated(resource: str) -> Iterator[None]:
    """Turn botocore's exceptions into ours. `resource`: for people, `the table "reelworks"`."""
    try:
        yield
    except ClientError as error:
        raise refused(error, resource) from error
    except CREDENTIALS as error:
        raise Unreachable(f"{_no_credentials(resource)} {error}", code="no_credentials") from error
    except BotoCoreError as error:
        raise Unreachable(f"No answer from {resource}: {error}") from error


def refused(error: ClientError, resource: str) -> ReelworksError:
    """What a service's own error means for us."""
    code, status = code_of(error), status_of(error)
    if code in THROTTLED:
        return Unreachable(f"Too many requests for {resource} ({code}).", code="throttled")
    if code in BROKEN or status >= 500:
        return Unreachable(f"The service behind {resource} failed ({code or status}): {error}")
    if code in DENIED or status in (401, 403):
        return Unreachable(
            f"No access to {resource} for {error.operation_name} ({code}). Check the role's policy, the "
            "credentials and the clock of this machine.",
            code="access_denied",
        )
    if code in MISSING:
        return Unreachable(
            f"There is no {resource.removeprefix('the ')} for {error.operation_name}. Check its name, the region "
            "and the endpoint in the settings.",
            code="not_found",
        )
    return Temporary(f"{error.operation_name} on {resource} was refused: {error}", code=_snake_case(code))


def _no_credentials(resource: str) -> str:
    return (
        f"There are no AWS credentials to use {resource} with; check the service account or the environment."
    )


def _snake_case(code: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", code).lower() or "refused"
