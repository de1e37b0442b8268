"""Presigned requests: what a client must send, every header and no other, and how long it may."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from botocore.credentials import Credentials

from reelworks.adapters.faults import translated
from reelworks.domain.instants import SECOND_MS
from reelworks.errors import Unreachable
from reelworks.ports import Clock, SignedRequest

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

MAX_EXPIRES_S = 7 * 86_400
"""Version 4 signatures end after a week at the latest."""


class Signer:
    """Signs for the public endpoint; asks nobody."""

    def __init__(
        self, client: "S3Client", bucket: str, clock: Clock, credentials: Credentials | None
    ) -> None:
        self._client = client
        self._bucket = bucket
        self._clock = clock
        self._credentials = credentials

    def put(
        self, key: str, content_type: str, checksum_sha256: str | None, expires_in_s: int
    ) -> SignedRequest:
        """One PUT of one object."""
        parameters: dict[str, Any] = {"Bucket": self._bucket, "Key": key, "ContentType": content_type}
        headers = {"Content-Type": content_type}
        if checksum_sha256 is not None:
            parameters["ChecksumSHA256"] = checksum_sha256
            headers["x-amz-checksum-sha256"] = checksum_sha256
        seconds = self._lifetime_s(expires_in_s)
        expires_at = self._clock.now() + seconds * SECOND_MS
        url = self._sign("put_object", parameters, seconds)
        return SignedRequest(url=url, method="PUT", headers=headers, expires_at=expires_at)

    def get(self, key: str, expires_in_s: int) -> str:
        """A URL to read one object."""
        parameters = {"Bucket": self._bucket, "Key": key}
        return self._sign("get_object", parameters, self._lifetime_s(expires_in_s))

    def _sign(self, operation: str, parameters: dict[str, Any], seconds: int) -> str:
        with translated(f'the bucket "{self._bucket}"'):
            return self._client.generate_presigned_url(operation, Params=parameters, ExpiresIn=seconds)

    def _lifetime_s(self, wanted: int) -> int:
        """A URL dies with the credentials that signed it, so no more is promised than they have left."""
        wanted = min(wanted, MAX_EXPIRES_S)
        end = self._credentials_end()
        if end is None:
            return wanted
        left = int(end.timestamp() - self._clock.now() / SECOND_MS)
        if left <= 0:
            raise Unreachable(
                "The AWS credentials have expired and could not be renewed.", code="no_credentials"
            )
        return min(wanted, left)

    def _credentials_end(self) -> datetime | None:
        if self._credentials is None:
            return None
        with translated(f'the bucket "{self._bucket}"'):
            self._credentials.get_frozen_credentials()  # renews those that are about to end
        # The only place where botocore keeps it; static credentials have no such attribute.
        end: datetime | None = getattr(self._credentials, "_expiry_time", None)
        return end
