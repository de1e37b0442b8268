"""Presigned requests: for which host, over which headers, and never longer than the credentials live."""

from datetime import UTC, datetime, timedelta
from typing import Literal
from urllib.parse import parse_qs, urlsplit

import pytest
from botocore.credentials import Credentials, RefreshableCredentials
from msgspec import structs

from reelworks.adapters.clients import Clients
from reelworks.adapters.signing import MAX_EXPIRES_S, Signer
from reelworks.errors import Unreachable
from reelworks.runtime.settings import S3, Aws, Settings
from reelworks.testing import FakeClock

KEYS = ("test", "test")


def signed_host(settings: Settings) -> str:
    clients = Clients.from_settings(settings, KEYS)
    url = Signer(clients.s3_public, "raw", FakeClock(), None).get("k", 60)
    clients.close()
    return f"{urlsplit(url).scheme}://{urlsplit(url).netloc}{urlsplit(url).path}"


def test_the_public_endpoint_is_what_clients_reach() -> None:
    settings = Settings(
        aws=Aws(endpoint_url="http://minio.cluster:9000"),
        s3=S3(public_endpoint_url="https://files.example", addressing="path"),
    )
    assert signed_host(settings) == "https://files.example/raw/k"


def test_without_one_it_is_the_endpoint_itself() -> None:
    settings = Settings(aws=Aws(endpoint_url="http://127.0.0.1:4566"), s3=S3(addressing="path"))
    assert signed_host(settings) == "http://127.0.0.1:4566/raw/k"


@pytest.mark.parametrize("addressing", ["virtual", "auto"])
@pytest.mark.parametrize("region", ["us-east-1", "eu-central-1"])
def test_on_aws_it_is_the_bucket_in_its_region_never_the_global_host(
    region: str, addressing: Literal["virtual", "auto"]
) -> None:
    settings = Settings(aws=Aws(region=region), s3=S3(addressing=addressing))
    assert signed_host(settings) == f"https://raw.s3.{region}.amazonaws.com/k"


def test_exactly_the_returned_headers_are_signed(clients: Clients) -> None:
    request = Signer(clients.s3_public, "raw", FakeClock(), None).put("k", "video/mp4", "abc=", 60)
    query = parse_qs(urlsplit(request.url).query)
    signed = set(query["X-Amz-SignedHeaders"][0].split(";"))
    assert signed == {name.lower() for name in request.headers} | {"host"}
    assert not [name for name in query if name.lower().startswith("x-amz-checksum")]
    assert not [name for name in query if name.lower().startswith("x-amz-sdk")]


def credentials(left_s: float, clock: FakeClock) -> Credentials:
    end = datetime.fromtimestamp(clock.now() / 1_000, UTC) + timedelta(seconds=left_s)
    return RefreshableCredentials(
        "key",
        "secret",
        "token",
        end,
        refresh_using=dict,
        method="test",
        time_fetcher=lambda: end - timedelta(hours=1),
    )


@pytest.mark.parametrize(("left_s", "expected_s"), [(60.5, 60), (3_600, 600)])
def test_a_promise_never_outlives_the_credentials(clients: Clients, left_s: float, expected_s: int) -> None:
    clock = FakeClock()
    signer = Signer(clients.s3_public, "raw", clock, credentials(left_s, clock))
    request = signer.put("k", "video/mp4", None, 600)
    assert request.expires_at == clock.now() + expected_s * 1_000
    assert parse_qs(urlsplit(request.url).query)["X-Amz-Expires"] == [str(expected_s)]
    assert f"X-Amz-Expires={expected_s}" in signer.get("k", 600)


def test_credentials_that_ended_sign_nothing(clients: Clients) -> None:
    clock = FakeClock()
    with pytest.raises(Unreachable) as caught:
        Signer(clients.s3_public, "raw", clock, credentials(-1, clock)).get("k", 600)
    assert caught.value.code == "no_credentials"


def test_keys_that_never_end_are_limited_by_the_signature_only(clients: Clients) -> None:
    signer = Signer(clients.s3_public, "raw", FakeClock(), Credentials("key", "secret"))
    assert f"X-Amz-Expires={MAX_EXPIRES_S}" in signer.get("k", 10**9)


def test_the_signing_client_is_another_than_the_working_one(settings: Settings) -> None:
    public = structs.replace(settings, s3=S3(public_endpoint_url="https://files.example"))
    clients = Clients.from_settings(public, KEYS)
    assert clients.s3.meta.endpoint_url == "http://127.0.0.1:1"
    assert clients.s3_public.meta.endpoint_url == "https://files.example"
    clients.close()
