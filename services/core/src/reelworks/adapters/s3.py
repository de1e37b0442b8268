"""BlobStore on one S3 bucket. Whatever its size, an object never takes more memory than one part of it."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from reelworks.adapters.faults import code_of, status_of, translated
from reelworks.adapters.signing import Signer
from reelworks.adapters.transfer import download, upload
from reelworks.domain.instants import SECOND_MS
from reelworks.domain.plan import ObjectFacts
from reelworks.errors import Permanent
from reelworks.ports import Listed, SignedRequest, StopSignal

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import ErrorTypeDef, ObjectTypeDef

DELETED_AT_ONCE = 1_000
"""What DeleteObjects takes."""


class S3BlobStore:
    """Implements ports.BlobStore."""

    def __init__(self, client: "S3Client", bucket: str, signer: Signer) -> None:
        self._client = client
        self._bucket = bucket
        self._signer = signer
        self._resource = f'the bucket "{bucket}"'

    def sign_put(
        self, key: str, content_type: str, checksum_sha256: str | None, expires_in_s: int
    ) -> SignedRequest:
        """Signed over key, Content-Type and checksum."""
        return self._signer.put(key, content_type, checksum_sha256, expires_in_s)

    def sign_get(self, key: str, expires_in_s: int) -> str:
        """A URL for the public endpoint."""
        return self._signer.get(key, expires_in_s)

    def head(self, key: str) -> ObjectFacts | None:
        """Size and ETag. Without s3:ListBucket AWS answers 403 for an absent object: the role needs it."""
        with translated(self._resource):
            try:
                answer = self._client.head_object(Bucket=self._bucket, Key=key)
            except ClientError as error:
                if _absent(error):
                    return None
                raise
        return ObjectFacts(
            size_bytes=answer["ContentLength"], etag=answer["ETag"], version_id=answer.get("VersionId")
        )

    def download(self, key: str, facts: ObjectFacts, path: Path, stop: StopSignal) -> None:
        """Stream exactly that object to a file."""
        download(self._client, self._bucket, key, facts, path, stop)

    def upload(self, path: Path, key: str, content_type: str, cache_control: str | None = None) -> None:
        """Stream a file to an object."""
        upload(self._client, self._bucket, key, path, _headers(content_type, cache_control))

    def put(self, key: str, body: bytes, content_type: str, cache_control: str | None = None) -> None:
        """Write a small object."""
        with translated(self._resource):
            self._client.put_object(
                Bucket=self._bucket, Key=key, Body=body, **_headers(content_type, cache_control)
            )

    def get(self, key: str, max_bytes: int) -> bytes | None:
        """Read a small object. Permanent `object_too_large` beyond the limit."""
        with translated(self._resource):
            try:
                answer = self._client.get_object(Bucket=self._bucket, Key=key)
            except ClientError as error:
                if _absent(error):
                    return None
                raise
            with answer["Body"] as stream:
                body = stream.read(max_bytes + 1)
        if len(body) > max_bytes:
            raise Permanent(f"The object {key} has more than {max_bytes} bytes.", code="object_too_large")
        return body

    def list(self, prefix: str) -> Iterator[Listed]:
        """A page for each thousand objects. The role needs s3:ListBucket."""
        more: dict[str, Any] = {}
        while True:
            with translated(self._resource):
                page = self._client.list_objects_v2(Bucket=self._bucket, Prefix=prefix, **more)
            yield from map(_listed, page.get("Contents", ()))
            if not page.get("IsTruncated"):
                return
            more = {"ContinuationToken": page["NextContinuationToken"]}

    def delete(self, keys: Iterable[str]) -> None:
        """A request for each thousand keys. The role needs s3:DeleteObject."""
        rest = iter(keys)
        while batch := list(islice(rest, DELETED_AT_ONCE)):
            with translated(self._resource):
                answer = self._client.delete_objects(
                    Bucket=self._bucket, Delete={"Objects": [{"Key": key} for key in batch], "Quiet": True}
                )
                if errors := answer.get("Errors"):
                    raise _not_deleted(errors)

    def ping(self) -> None:
        """Ask for the bucket itself."""
        with translated(self._resource):
            self._client.head_bucket(Bucket=self._bucket)


def _absent(error: ClientError) -> bool:
    """A HEAD has no body to tell an absent object from an absent bucket; `ping` tells."""
    return code_of(error) == "NoSuchKey" or (status_of(error) == 404 and code_of(error) != "NoSuchBucket")


def _listed(found: "ObjectTypeDef") -> Listed:
    written = int(found["LastModified"].timestamp() * SECOND_MS)
    return Listed(key=found["Key"], size_bytes=found["Size"], modified_at=written)


def _not_deleted(errors: "list[ErrorTypeDef]") -> ClientError:
    """S3 answers 200 and names those that it kept; as if it had refused the first one by itself."""
    first = errors[0]
    said = f"{len(errors)} objects were not deleted, {first.get('Key')} among them: {first.get('Message')}"
    return ClientError({"Error": {"Code": first.get("Code", ""), "Message": said}}, "DeleteObjects")


def _headers(content_type: str, cache_control: str | None) -> dict[str, Any]:
    headers = {"ContentType": content_type}
    return headers | ({"CacheControl": cache_control} if cache_control is not None else {})
