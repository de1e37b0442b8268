"""Downloads that break off, and what they cost in memory."""

import io
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError
from botocore.response import StreamingBody
from botocore.stub import ANY, Stubber

from reelworks.adapters.clients import Clients
from reelworks.adapters.transfer import MAX_RESUMES, PART_BYTES, download, upload
from reelworks.domain.plan import ObjectFacts
from reelworks.errors import Interrupted, Permanent, Unreachable
from reelworks.runtime.cancellation import Cancellation

MIB = 1024 * 1024
FACTS = ObjectFacts(size_bytes=6 * MIB, etag='"e"', version_id="v1")
BODY = bytes(range(256)) * (FACTS.size_bytes // 256)


class Breaking(io.RawIOBase):
    """A connection that gives `good` bytes of the body and then none."""

    def __init__(self, body: bytes, good: int, then: Callable[[], None] = lambda: None) -> None:
        self._rest = io.BytesIO(body[:good])
        self._broken = good < len(body)
        self._then = then

    def read(self, amount: int = -1) -> bytes:
        piece = self._rest.read(amount)
        self._then()
        if not piece and self._broken:
            raise ReadTimeoutError(endpoint_url="http://x")
        return piece


@pytest.fixture
def stub(clients: Clients) -> Iterator[Stubber]:
    with Stubber(clients.s3) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def gives(stub: Stubber, start: int, good: int, then: Callable[[], None] = lambda: None) -> None:
    """The next GetObject starts at `start` and breaks after `good` bytes."""
    expected: dict[str, Any] = {"Bucket": "raw", "Key": "k", "IfMatch": '"e"', "VersionId": "v1"}
    if start:
        expected["Range"] = f"bytes={start}-"
    rest = BODY[start:]
    connection: Any = Breaking(rest, good, then)
    body = StreamingBody(connection, content_length=len(rest))
    stub.add_response("get_object", {"Body": body}, expected)


def fetch(clients: Clients, path: Path, stop: Cancellation | None = None) -> None:
    download(clients.s3, "raw", "k", FACTS, path, stop or Cancellation())


def test_a_broken_download_goes_on_where_it_stopped(clients: Clients, stub: Stubber, tmp_path: Path) -> None:
    gives(stub, 0, 2 * MIB)
    gives(stub, 2 * MIB, 3 * MIB)
    gives(stub, 5 * MIB, MIB)
    fetch(clients, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY


def test_it_gives_up_when_nothing_more_comes(clients: Clients, stub: Stubber, tmp_path: Path) -> None:
    gives(stub, 0, MIB)
    for _ in range(MAX_RESUMES):
        gives(stub, MIB, 0)
    with pytest.raises(Unreachable):
        fetch(clients, tmp_path / "f")


def test_it_gives_up_at_once_when_nothing_ever_came(clients: Clients, stub: Stubber, tmp_path: Path) -> None:
    gives(stub, 0, 0)
    with pytest.raises(Unreachable):
        fetch(clients, tmp_path / "f")


def test_an_object_replaced_between_two_pieces_is_noticed(
    clients: Clients, stub: Stubber, tmp_path: Path
) -> None:
    gives(stub, 0, MIB)
    stub.add_client_error("get_object", "PreconditionFailed", http_status_code=412)
    with pytest.raises(Permanent) as caught:
        fetch(clients, tmp_path / "f")
    assert caught.value.code == "object_changed"


@pytest.mark.parametrize("code", ["NoSuchKey", "NoSuchVersion"])
def test_an_object_that_is_gone_is_permanent(
    clients: Clients, stub: Stubber, tmp_path: Path, code: str
) -> None:
    stub.add_client_error("get_object", code, http_status_code=404)
    with pytest.raises(Permanent) as caught:
        fetch(clients, tmp_path / "f")
    assert caught.value.code == "object_gone"


def test_a_missing_bucket_is_not_a_missing_object(clients: Clients, stub: Stubber, tmp_path: Path) -> None:
    stub.add_client_error("get_object", "NoSuchBucket", http_status_code=404)
    with pytest.raises(Unreachable):
        fetch(clients, tmp_path / "f")


def test_fewer_bytes_than_promised_are_not_taken_for_the_object(
    clients: Clients, stub: Stubber, tmp_path: Path
) -> None:
    stub.add_response("get_object", {"Body": StreamingBody(io.BytesIO(b"short"), content_length=5)})
    with pytest.raises(Unreachable) as caught:
        fetch(clients, tmp_path / "f")
    assert caught.value.code == "short_read"


def test_a_lost_lease_ends_it_between_two_pieces(clients: Clients, stub: Stubber, tmp_path: Path) -> None:
    stop = Cancellation()
    gives(stub, 0, FACTS.size_bytes, then=lambda: stop.cancel(Interrupted("Stop.")))
    with pytest.raises(Interrupted):
        fetch(clients, tmp_path / "f", stop)
    assert (tmp_path / "f").stat().st_size <= MIB


class Endless(io.RawIOBase):
    """Zeros, without holding them."""

    def __init__(self, size: int) -> None:
        self._left = size

    def read(self, amount: int = -1) -> bytes:
        piece = b"\x00" * min(amount, self._left)
        self._left -= len(piece)
        return piece


def test_a_large_object_takes_little_memory(clients: Clients, stub: Stubber, tmp_path: Path) -> None:
    size = 200 * MIB
    zeros: Any = Endless(size)
    stub.add_response("get_object", {"Body": StreamingBody(zeros, content_length=size)})
    tracemalloc.start()
    try:
        facts = ObjectFacts(size_bytes=size, etag='"e"')
        download(clients.s3, "raw", "k", facts, tmp_path / "f", Cancellation())
        assert tracemalloc.get_traced_memory()[1] < 10 * MIB
    finally:
        tracemalloc.stop()


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """One byte more than one part, sparse on disk."""
    with (tmp_path / "large").open("wb") as file:
        file.truncate(PART_BYTES + 1)
    return tmp_path / "large"


def test_a_large_file_goes_up_in_parts(clients: Clients, stub: Stubber, large: Path) -> None:
    target = {"Bucket": "media", "Key": "k", "UploadId": "u"}
    stub.add_response("create_multipart_upload", {"UploadId": "u"})
    for number in (1, 2):
        part = {**target, "PartNumber": number, "Body": ANY}
        stub.add_response("upload_part", {"ETag": f'"{number}"'}, part)
    parts = {"Parts": [{"PartNumber": number, "ETag": f'"{number}"'} for number in (1, 2)]}
    stub.add_response("complete_multipart_upload", {}, {**target, "MultipartUpload": parts})
    upload(clients.s3, "media", "k", large, {"ContentType": "video/mp4"})


@pytest.mark.parametrize("abort_fails", [False, True])
def test_a_failed_part_leaves_no_parts_behind(
    clients: Clients, stub: Stubber, large: Path, abort_fails: bool
) -> None:
    stub.add_response("create_multipart_upload", {"UploadId": "u"})
    stub.add_client_error("upload_part", "InternalError", http_status_code=500)
    if abort_fails:
        stub.add_client_error("abort_multipart_upload", "InternalError", http_status_code=500)
    else:
        stub.add_response("abort_multipart_upload", {}, {"Bucket": "media", "Key": "k", "UploadId": "u"})
    with pytest.raises(Unreachable, match="InternalError"):
        upload(clients.s3, "media", "k", large, {})
