"""BlobStore: presigned requests as a client uses them, and reads that insist on one object."""

import base64
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, quote_plus

import httpx
import pytest

from reelworks import messages
from reelworks.adapters.s3 import DELETED_AT_ONCE
from reelworks.adapters.transfer import PART_BYTES
from reelworks.domain.plan import ObjectFacts
from reelworks.errors import Interrupted, Permanent, Unreachable
from reelworks.runtime.cancellation import Cancellation
from tests.contract.worlds import AnyPorts, Emulated, World

BODY = b"hello"
CHECKSUM = base64.b64encode(hashlib.sha256(BODY).digest()).decode()
KEY = f"uploads/ann/{'a' * 32}/clip.mp4"


def test_a_client_puts_what_was_signed(world: World) -> None:
    request = world.ports.raw.sign_put(KEY, "video/mp4", None, 600)
    assert request.method == "PUT"
    assert dict(request.headers) == {"Content-Type": "video/mp4"}
    assert world.client_put(request, request.headers, BODY) == 200
    assert world.ports.raw.get(KEY, 100) == BODY


def test_a_signature_says_when_it_ends(world: World) -> None:
    start = world.ports.clock.now()
    request = world.ports.raw.sign_put(KEY, "video/mp4", None, 600)
    assert start + 600_000 <= request.expires_at <= world.ports.clock.now() + 600_000


@pytest.mark.parametrize("headers", [{"Content-Type": "text/html"}, {}], ids=["another", "none"])
def test_another_content_type_is_refused(world: World, headers: dict[str, str]) -> None:
    request = world.ports.raw.sign_put(KEY, "video/mp4", None, 600)
    assert (world.client_put(request, headers, BODY) == 403) is world.emulation.checks_signed_headers


def test_a_signed_checksum_is_among_the_headers_and_admits_its_body(world: World) -> None:
    request = world.ports.raw.sign_put(KEY, "video/mp4", CHECKSUM, 600)
    assert dict(request.headers) == {"Content-Type": "video/mp4", "x-amz-checksum-sha256": CHECKSUM}
    assert world.client_put(request, request.headers, BODY) == 200


def test_another_body_than_the_checksum_says_is_refused(world: World) -> None:
    request = world.ports.raw.sign_put(KEY, "video/mp4", CHECKSUM, 600)
    assert (world.client_put(request, request.headers, b"hellO") == 400) is world.emulation.checks_checksums


def test_a_signed_checksum_cannot_be_left_out(world: World) -> None:
    request = world.ports.raw.sign_put(KEY, "video/mp4", CHECKSUM, 600)
    status = world.client_put(request, {"Content-Type": "video/mp4"}, b"hellO")
    assert (status == 403) is world.emulation.checks_signed_headers


def test_a_signed_get_gives_the_object(emulated: Emulated) -> None:
    emulated.ports.raw.put(KEY, BODY, "video/mp4", "max-age=60")
    answer = httpx.get(emulated.ports.raw.sign_get(KEY, 60), trust_env=False)
    assert (answer.content, answer.headers["Content-Type"]) == (BODY, "video/mp4")
    assert answer.headers["Cache-Control"] == "max-age=60"


def test_a_browser_of_another_site_may_put_and_read_the_etag(emulated: Emulated) -> None:
    request = emulated.ports.raw.sign_put(KEY, "video/mp4", None, 600)
    origin = {"Origin": "https://app.example"}
    preflight = {
        **origin,
        "Access-Control-Request-Method": "PUT",
        "Access-Control-Request-Headers": "content-type",
    }
    assert httpx.options(request.url, headers=preflight, trust_env=False).status_code == 200
    answer = httpx.put(request.url, content=BODY, headers={**request.headers, **origin}, trust_env=False)
    assert answer.headers["Access-Control-Allow-Origin"] in ("*", "https://app.example")
    # MiniStack exposes everything, whatever the rule says.
    assert answer.headers["Access-Control-Expose-Headers"].lower() in ("etag", "*")


def test_a_head_tells_size_and_etag(ports: AnyPorts) -> None:
    ports.raw.put(KEY, BODY, "video/mp4")
    facts = ports.raw.head(KEY)
    assert facts is not None
    assert facts.size_bytes == len(BODY)
    assert facts.etag == f'"{hashlib.md5(BODY, usedforsecurity=False).hexdigest()}"'


def test_what_is_not_there_is_none(ports: AnyPorts) -> None:
    assert ports.raw.head(KEY) is None
    assert ports.raw.get(KEY, 10) is None


def test_a_small_read_is_bounded(ports: AnyPorts) -> None:
    ports.media.put("k", b"x" * 100, "text/plain")
    assert ports.media.get("k", 100) == b"x" * 100
    with pytest.raises(Permanent) as caught:
        ports.media.get("k", 99)
    assert caught.value.code == "object_too_large"


@pytest.mark.parametrize("size", [0, 1, 3_000_000])
def test_a_download_is_the_object_to_the_byte(ports: AnyPorts, tmp_path: Path, size: int) -> None:
    body = bytes(range(256)) * (size // 256 + 1)
    ports.raw.put(KEY, body[:size], "video/mp4")
    facts = ports.raw.head(KEY)
    assert facts is not None
    ports.raw.download(KEY, facts, tmp_path / "file", Cancellation())
    assert (tmp_path / "file").read_bytes() == body[:size]


def test_a_download_refuses_an_object_that_was_replaced(ports: AnyPorts, tmp_path: Path) -> None:
    ports.raw.put(KEY, BODY, "video/mp4")
    facts = ports.raw.head(KEY)
    assert facts is not None
    ports.raw.put(KEY, b"HELLO", "video/mp4")
    with pytest.raises(Permanent) as caught:
        ports.raw.download(KEY, facts, tmp_path / "file", Cancellation())
    assert caught.value.code == "object_changed"


def test_a_download_of_what_was_deleted_is_permanent(ports: AnyPorts, tmp_path: Path) -> None:
    facts = ObjectFacts(size_bytes=5, etag='"5d41402abc4b2a76b9719d911017c592"')
    with pytest.raises(Permanent) as caught:
        ports.raw.download(KEY, facts, tmp_path / "file", Cancellation())
    assert caught.value.code == "object_gone"


def test_a_download_stops_when_told_to(ports: AnyPorts, tmp_path: Path) -> None:
    ports.raw.put(KEY, BODY, "video/mp4")
    facts = ports.raw.head(KEY)
    assert facts is not None
    stop = Cancellation()
    stop.cancel(Interrupted("The worker is shutting down."))
    with pytest.raises(Interrupted):
        ports.raw.download(KEY, facts, tmp_path / "file", stop)


@pytest.mark.parametrize(
    "size", [0, 10, PART_BYTES, PART_BYTES + 1], ids=["empty", "small", "one part", "parts"]
)
def test_a_file_is_uploaded_to_the_byte(ports: AnyPorts, tmp_path: Path, size: int) -> None:
    (tmp_path / "file").write_bytes(b"\x01" * size)
    ports.media.upload(tmp_path / "file", "k/file.ts", "video/mp2t", "max-age=60")
    facts = ports.media.head("k/file.ts")
    assert facts is not None
    assert facts.size_bytes == size
    ports.media.download("k/file.ts", facts, tmp_path / "copy", Cancellation())
    assert (tmp_path / "copy").read_bytes() == b"\x01" * size


def test_an_upload_keeps_its_content_type(emulated: Emulated, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\x01" * (PART_BYTES + 1))
    emulated.ports.media.upload(tmp_path / "file", "k", "video/mp2t", "max-age=60")
    found = emulated.clients.s3.head_object(Bucket=emulated.settings.s3.media_bucket, Key="k")
    assert (found["ContentType"], found["CacheControl"]) == ("video/mp2t", "max-age=60")


@pytest.mark.parametrize("name", ["a b+c.mp4", "ü – тест.mp4", "100%25.mp4", "q?x=1&y#z.mp4", "plain.mp4"])
def test_an_arriving_object_is_announced_under_its_own_key(world: World, name: str) -> None:
    key = f"uploads/ann/{'b' * 32}/{name}"
    request = world.ports.raw.sign_put(key, "video/mp4", None, 600)
    assert world.client_put(request, request.headers, BODY) == 200
    assert key in _announced(world)


def _announced(world: World) -> set[str | None]:
    """Keys of the events that arrive, until there is one about an object (S3 sends a test event first)."""
    while True:
        received = world.receive("events")
        assert received, "no event came"
        keys = {hint.object_key for message in received for hint in messages.decode(message.body).hints}
        if keys:
            return keys


@pytest.mark.parametrize(
    "encode",
    [lambda k: quote_plus(k, safe="/"), lambda k: quote(k, safe="/"), lambda k: quote_plus(k, safe="")],
)
def test_each_of_the_three_encodings_decodes(encode: object) -> None:
    key = f"uploads/ann/{'b' * 32}/ü a+b%.mp4"
    assert callable(encode)
    record = {
        "eventSource": "aws:s3",
        "eventName": "ObjectCreated:Put",
        "s3": {"object": {"key": encode(key)}},
    }
    assert messages.decode(json.dumps({"Records": [record]})).hints[0].object_key == key


def test_objects_elsewhere_are_not_announced(world: World) -> None:
    world.ports.media.put("processed/x", BODY, "video/mp4")
    world.ports.raw.put("other/x", BODY, "video/mp4")
    world.ports.raw.put(KEY, BODY, "video/mp4")
    assert _announced(world) == {KEY}


def test_a_listing_has_what_begins_with_the_prefix_with_its_size_and_age(ports: AnyPorts) -> None:
    before = ports.clock.now()
    for key, body in {"a/2": b"22", "a/1": b"1", "a/ü b+": b"333", "b/1": b"x"}.items():
        ports.media.put(key, body, "text/plain")
    found = list(ports.media.list("a/"))
    assert [(each.key, each.size_bytes) for each in found] == [("a/1", 1), ("a/2", 2), ("a/ü b+", 3)]
    # S3 tells whole seconds.
    assert all(before - 1_000 <= each.modified_at <= ports.clock.now() + 1_000 for each in found)
    assert list(ports.media.list("c/")) == []


def test_more_than_a_page_is_listed_and_deleted(ports: AnyPorts) -> None:
    keys = [f"many/{number:04d}" for number in range(DELETED_AT_ONCE + 1)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda key: ports.media.put(key, b"", "text/plain"), keys))
    assert [each.key for each in ports.media.list("many/")] == keys
    ports.media.delete(iter(keys))
    assert list(ports.media.list("many/")) == []


def test_only_what_was_named_is_deleted_and_what_is_gone_is_no_error(ports: AnyPorts) -> None:
    for key in ("a & <b>", "ab", "a"):
        ports.media.put(key, BODY, "text/plain")
    ports.media.delete(["a & <b>", "a", "never there"])
    ports.media.delete(["a"])
    ports.media.delete([])
    assert [each.key for each in ports.media.list("")] == ["ab"]


def test_buckets_that_are_there_answer_a_ping(ports: AnyPorts) -> None:
    ports.raw.ping()
    ports.media.ping()


def test_a_bucket_that_is_not_there_is_out_of_reach(emulated: Emulated) -> None:
    emulated.clients.s3.delete_bucket(Bucket=emulated.settings.s3.media_bucket)
    with pytest.raises(Unreachable) as caught:
        emulated.ports.media.ping()
    assert caught.value.code == "not_found"
    with pytest.raises(Unreachable):
        emulated.ports.media.put("k", BODY, "text/plain")
    with pytest.raises(Unreachable):
        emulated.ports.media.get("k", 10)
    with pytest.raises(Unreachable):
        list(emulated.ports.media.list("k"))
    with pytest.raises(Unreachable):
        emulated.ports.media.delete(["k"])
