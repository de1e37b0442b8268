"""Large objects, to and from files, a piece at a time.

boto3 has its own transfer manager; it reads ahead in threads, knows neither our stop signal nor an ETag to insist on,
and calls botocore behind the back of whoever wraps the client. This is the little of it that is needed.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from botocore.exceptions import ClientError

from reelworks.adapters.faults import code_of, status_of, translated
from reelworks.domain.plan import ObjectFacts
from reelworks.errors import Permanent, ReelworksError, Unreachable
from reelworks.ports import StopSignal

if TYPE_CHECKING:
    from botocore.response import StreamingBody
    from mypy_boto3_s3 import S3Client

PIECE_BYTES = 1024 * 1024
PART_BYTES = 16 * 1024 * 1024
"""Files up to this size are one PutObject; larger ones are parts of at least this size, one in memory at a time."""
MAX_PARTS = 10_000
MAX_RESUMES = 3
"""So often in a row may a download break off without a single new byte."""


def download(  # noqa: PLR0913
    client: "S3Client", bucket: str, key: str, facts: ObjectFacts, path: Path, stop: StopSignal
) -> None:
    """Exactly the object of `facts` into `path`, going on where a broken connection left off."""
    fruitless = 0
    with path.open("wb") as file:
        while True:
            start = file.tell()
            try:
                _copy(client, bucket, key, facts, file, stop)
            except Unreachable:
                fruitless = 0 if file.tell() > start else fruitless + 1
                if fruitless >= MAX_RESUMES or file.tell() == 0:
                    raise
                continue
            break
        if file.tell() != facts.size_bytes:
            raise Unreachable(
                f"{file.tell()} of {facts.size_bytes} bytes of {key} arrived.", code="short_read"
            )


def _copy(  # noqa: PLR0913
    client: "S3Client", bucket: str, key: str, facts: ObjectFacts, file: BinaryIO, stop: StopSignal
) -> None:
    """From the file's position to the object's end. The file is left at the end of what arrived."""
    stop.check()
    if file.tell() == facts.size_bytes > 0:
        return
    with translated(f'the bucket "{bucket}"'):
        body = _open(client, bucket, key, facts, file.tell())
        with body:
            while piece := body.read(PIECE_BYTES):
                stop.check()
                file.write(piece)


def _open(client: "S3Client", bucket: str, key: str, facts: ObjectFacts, offset: int) -> "StreamingBody":
    more: dict[str, Any] = {"VersionId": facts.version_id} if facts.version_id else {}
    if offset:
        more["Range"] = f"bytes={offset}-"
    try:
        return client.get_object(Bucket=bucket, Key=key, IfMatch=facts.etag, **more)["Body"]
    except ClientError as error:
        raise _gone(error) or error from error


def _gone(error: ClientError) -> ReelworksError | None:
    status, code = status_of(error), code_of(error)
    if status == 412 or code == "PreconditionFailed":
        return Permanent("The file was replaced while it was being processed.", code="object_changed")
    if status == 404 and code != "NoSuchBucket":
        return Permanent("The file was deleted before it was processed.", code="object_gone")
    return None


def upload(client: "S3Client", bucket: str, key: str, path: Path, headers: Mapping[str, Any]) -> None:
    """A file to an object, in parts if it is large."""
    size = path.stat().st_size
    target: dict[str, Any] = {"Bucket": bucket, "Key": key}
    with translated(f'the bucket "{bucket}"'), path.open("rb") as file:
        if size <= PART_BYTES:
            client.put_object(Body=file, **target, **headers)
        else:
            _upload_parts(client, target, _parts(file, size), headers)


def _parts(file: BinaryIO, size: int) -> Iterator[bytes]:
    part_bytes = max(PART_BYTES, -(-size // MAX_PARTS))
    while part := file.read(part_bytes):
        yield part


def _upload_parts(
    client: "S3Client", target: dict[str, Any], parts: Iterator[bytes], headers: Mapping[str, Any]
) -> None:
    upload_id = client.create_multipart_upload(**target, **headers)["UploadId"]
    try:
        done = [
            {
                "PartNumber": number,
                "ETag": client.upload_part(**target, UploadId=upload_id, PartNumber=number, Body=part)[
                    "ETag"
                ],
            }
            for number, part in enumerate(parts, start=1)
        ]
        finished: Any = {"Parts": done}
        client.complete_multipart_upload(**target, UploadId=upload_id, MultipartUpload=finished)
    except Exception:
        _abort(client, target, upload_id)
        raise


def _abort(client: "S3Client", target: dict[str, Any], upload_id: str) -> None:
    """Parts cost money until the bucket's lifecycle rule finds them; a failure here leaves them to it."""
    try:
        with translated(f'the bucket "{target["Bucket"]}"'):
            client.abort_multipart_upload(**target, UploadId=upload_id)
    except ReelworksError:
        pass
