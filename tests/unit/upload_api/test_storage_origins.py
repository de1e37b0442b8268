"""The page may talk to exactly the hosts that presigned URLs name."""

from urllib.parse import urlsplit

import pytest

from reelworks.adapters.clients import Clients
from reelworks.adapters.wiring import Adapters
from reelworks.runtime.settings import S3, Aws, Settings
from upload_api.storage import origins

EMULATOR = Aws(endpoint_url="http://127.0.0.1:4566")
INSIDE = Aws(endpoint_url="http://minio.internal:9000")


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(aws=Aws(region="eu-central-1"), s3=S3(addressing="virtual")),
        Settings(aws=Aws(region="eu-central-1"), s3=S3(addressing="path")),
        Settings(aws=Aws(region="eu-central-1")),
        Settings(aws=Aws(region="cn-north-1"), s3=S3(addressing="virtual")),
        Settings(aws=EMULATOR, s3=S3(addressing="path")),
        Settings(aws=EMULATOR),
        Settings(aws=INSIDE, s3=S3(public_endpoint_url="https://files.example.org", addressing="path")),
        Settings(aws=INSIDE, s3=S3(public_endpoint_url="https://files.example.org", addressing="virtual")),
    ],
)
def test_what_is_signed_is_allowed(settings: Settings) -> None:
    adapters = Adapters.from_clients(Clients.from_settings(settings, ("test", "test")), settings)
    put = adapters.raw.sign_put("uploads/a/b/c.mp4", "video/mp4", None, 60).url
    got = adapters.media.sign_get("processed/a", 60)
    for url in (put, got):
        parts = urlsplit(url)
        assert f"{parts.scheme}://{parts.netloc}" in origins(settings)


def test_the_endpoint_inside_the_cluster_is_not_told_to_browsers() -> None:
    settings = Settings(aws=INSIDE, s3=S3(public_endpoint_url="https://files.example.org", addressing="path"))
    assert origins(settings) == ("https://files.example.org",)


def test_other_buckets_of_the_same_service_are_not_allowed() -> None:
    allowed = origins(Settings(s3=S3(addressing="virtual")))
    assert all("reelworks-" in origin for origin in allowed)
