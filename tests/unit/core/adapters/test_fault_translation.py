"""One table of what botocore raises and what it means for us."""

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    ReadTimeoutError,
    ResponseStreamingError,
)

from reelworks.adapters.faults import translated
from reelworks.errors import Permanent, ReelworksError, Temporary, Unreachable


def answered(code: str, status: int = 400) -> ClientError:
    return ClientError(
        {"Error": {"Code": code, "Message": "why"}, "ResponseMetadata": {"HTTPStatusCode": status}},  # type: ignore[typeddict-item]
        "PutItem",
    )


def ours(error: Exception) -> ReelworksError:
    with pytest.raises(ReelworksError) as caught, translated('the table "reelworks"'):
        raise error
    assert caught.value.__cause__ is error
    return caught.value


@pytest.mark.parametrize(
    "error",
    [
        EndpointConnectionError(endpoint_url="http://x"),
        ConnectTimeoutError(endpoint_url="http://x"),
        ReadTimeoutError(endpoint_url="http://x"),
        HTTPClientError(error="broken"),
        IncompleteReadError(actual_bytes=1, expected_bytes=2),
        ResponseStreamingError(error="cut"),
        answered("InternalError", 500),
        answered("Whatever", 503),
        answered("InternalServerError"),
        answered("RequestTimeout"),
        answered("TransactionConflictException"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_no_answer_or_a_broken_one_is_unreachable(error: Exception) -> None:
    found = ours(error)
    assert isinstance(found, Unreachable)
    assert found.code == "unreachable"
    assert 'the table "reelworks"' in found.message


@pytest.mark.parametrize(
    "code",
    [
        "Throttling",
        "ThrottlingException",
        "RequestLimitExceeded",
        "ProvisionedThroughputExceededException",
        "SlowDown",
        "TooManyRequestsException",
        "AWS.SimpleQueueService.RequestThrottled",
    ],
)
def test_being_throttled_is_unreachable(code: str) -> None:
    assert (type(ours(answered(code))), ours(answered(code)).code) == (Unreachable, "throttled")


@pytest.mark.parametrize(
    ("error", "code", "advice"),
    [
        (answered("AccessDeniedException"), "access_denied", "policy"),
        (answered("ExpiredTokenException"), "access_denied", "credentials"),
        (answered("403", 403), "access_denied", "PutItem"),
        (answered("SomethingNew", 403), "access_denied", "SomethingNew"),
        (answered("ResourceNotFoundException"), "not_found", "endpoint"),
        (answered("NoSuchBucket", 404), "not_found", 'no table "reelworks"'),
        (answered("AWS.SimpleQueueService.NonExistentQueue"), "not_found", "region"),
        (NoCredentialsError(), "no_credentials", "service account"),
        (CredentialRetrievalError(provider="web", error_msg="gone"), "no_credentials", "gone"),
    ],
)
def test_a_wrong_installation_never_fails_an_upload_and_says_what_to_do(
    error: Exception, code: str, advice: str
) -> None:
    found = ours(error)
    assert isinstance(found, Unreachable)
    assert found.code == code
    assert advice in found.message


def test_a_request_that_is_refused_for_itself_is_counted_among_the_attempts() -> None:
    found = ours(answered("KeyTooLongError"))
    assert isinstance(found, Temporary)
    assert found.code == "key_too_long_error"


def test_our_own_errors_pass() -> None:
    with pytest.raises(Permanent), translated("the table"):
        raise Permanent("No.")
