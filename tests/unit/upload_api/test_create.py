"""POST /api/uploads: what is stored, and what the client is told to send."""

import pytest

from reelworks.domain.instants import iso8601
from reelworks.domain.keys import parse_raw_key
from reelworks.domain.upload import UploadStatus, WatchRules
from reelworks.errors import Unreachable
from reelworks.ports import SignedRequest
from reelworks.runtime.settings import S3, Settings
from reelworks.runtime.settings import Api as ApiSettings
from reelworks.testing import FakeClock, InMemory
from tests.unit.upload_api.api import CHECKSUM, Api, make_deps, problem
from upload_api import service
from upload_api.requests import CreateUpload
from upload_api.service import Caller
from upload_api.validation import validated


def test_the_answer_has_exactly_the_promised_shape(api: Api) -> None:
    response = api.create()
    upload = api.row(response)
    assert response.status_code == 201
    assert response.headers["location"] == f"/api/uploads/{upload.upload_id}"
    assert response.headers["cache-control"] == "no-store"
    body = response.json()
    assert list(body) == ["uploadId", "objectKey", "uploadUrl", "method", "headers", "expiresAt"]
    assert body["objectKey"] == f"uploads/anonymous/{upload.upload_id}/talk.mp4"
    assert (body["method"], body["headers"]) == ("PUT", {"Content-Type": "video/mp4"})
    assert body["expiresAt"] == iso8601(api.clock.now() + 3_600_000)


def test_the_row_knows_everything_that_was_asked_for(api: Api) -> None:
    upload = api.created(
        userId="ada",
        projectId="p1",
        profile="default",
        method="PUT",
        checksumSha256=CHECKSUM,
        callbackUrl="https://example.org/hook?a=1",
        priority="high",
    )
    now = api.clock.now()
    assert (upload.user_id, upload.project_id, upload.profile) == ("ada", "p1", "default")
    assert (upload.checksum_sha256, upload.priority) == (CHECKSUM, "high")
    assert upload.callback_url == "https://example.org/hook?a=1"
    assert upload.status is UploadStatus.PENDING_UPLOAD
    assert (upload.size_bytes, upload.content_type, upload.file_name) == (1_000, "video/mp4", "talk.mp4")
    assert upload.created_at == upload.updated_at == now
    assert upload.due_at == now + WatchRules().first_check_ms
    assert upload.expires_at == now + 3_600_000


def test_what_is_left_out_or_null_takes_its_default(api: Api) -> None:
    response = api.client.post(
        "/api/uploads",
        json={
            "fileName": "a.mp3",
            "contentType": "audio/mpeg",
            "sizeBytes": 1,
            "userId": None,
            "priority": None,
        },
    )
    upload = api.row(response)
    assert (upload.user_id, upload.profile, upload.priority) == ("anonymous", "default", "normal")
    assert (upload.project_id, upload.callback_url, upload.checksum_sha256) == (None, None, None)


def test_the_returned_request_is_what_the_storage_accepts(api: Api) -> None:
    body = api.create(contentType="Video/MP4 ; codecs=avc1").json()
    raw = api.memory.raw
    assert raw.client_put(body["uploadUrl"], {"Content-Type": "video/webm"}, b"x") == 403
    assert raw.client_put(body["uploadUrl"], body["headers"], b"x") == 200
    assert list(raw.objects) == [body["objectKey"]]


def test_a_checksum_is_part_of_the_request(api: Api) -> None:
    body = api.create(checksumSha256=CHECKSUM).json()
    assert body["headers"] == {"Content-Type": "video/mp4", "x-amz-checksum-sha256": CHECKSUM}
    assert api.memory.raw.client_put(body["uploadUrl"], body["headers"], b"other bytes") == 400
    assert api.memory.raw.client_put(body["uploadUrl"], body["headers"], b"") == 200


def test_the_row_is_written_before_the_url_is_signed(memory: InMemory) -> None:
    stored: list[int] = []

    class Watching:
        def sign_put(self, key: str, content_type: str, checksum: str | None, seconds: int) -> SignedRequest:
            stored.append(len(memory.store.uploads))
            return memory.raw.sign_put(key, content_type, checksum, seconds)

    deps = make_deps(memory, raw=Watching())
    wanted = validated(CreateUpload(file_name="a.mp3", content_type="audio/mpeg", size_bytes=1), deps.policy)
    service.create_upload(wanted, Caller(), deps)
    assert stored == [1]


def test_nothing_is_signed_if_the_row_cannot_be_written(memory: InMemory) -> None:
    class Broken:
        def create(self, *_: object) -> None:
            raise Unreachable("No answer")

    deps = make_deps(memory, store=Broken())
    wanted = validated(CreateUpload(file_name="a.mp3", content_type="audio/mpeg", size_bytes=1), deps.policy)
    with pytest.raises(Unreachable):
        service.create_upload(wanted, Caller(), deps)
    assert memory.raw.client_put("memory://raw/?signature=1", {}, b"") != 200


def test_ids_are_random_and_can_be_injected(memory: InMemory) -> None:
    deps = make_deps(memory, token_hex=lambda size: "a" * size * 2)
    wanted = validated(CreateUpload(file_name="a.mp3", content_type="audio/mpeg", size_bytes=1), deps.policy)
    upload = service.create_upload(wanted, Caller(), deps).upload
    assert upload.upload_id == "a" * 32
    assert upload.traceparent == f"00-{'a' * 32}-{'a' * 16}-01"


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "C:\\Windows\\system32\\clip.mp4",
        "\u202egpj.exe",
        "null\x00byte\r\nX-Evil: 1.mp4",
        "x" * 1_000 + ".mp4",
        "😀" * 1_024,
        "-rf *.mp4",
        "'; drop table uploads; --.mp4",
        "<script>alert(1)</script>.mp4",
        ".hidden",
        "日本語のファイル.mp4",
        "caf\u0065\u0301.mp4",
    ],
)
def test_hostile_names_are_shown_as_given_and_stored_under_a_safe_key(api: Api, name: str) -> None:
    upload = api.created(fileName=name)
    assert api.get(upload)["fileName"] == name
    key = parse_raw_key(upload.object_key)
    assert len(key.name) <= 120
    assert key.name.isascii()
    assert not set(key.name) & set("/\\ '\"<>*;\x00\r\n")
    assert not key.name.startswith((".", "-"))


@pytest.mark.parametrize(
    "given", ["AUDIO/MPEG", " audio/mpeg ", "audio/mpeg; charset=binary", "audio/mpeg;x=y"]
)
def test_media_types_are_normalised(api: Api, given: str) -> None:
    assert api.create(contentType=given).json()["headers"] == {"Content-Type": "audio/mpeg"}


def test_limits_are_settings(clock: FakeClock) -> None:
    settings = Settings(
        s3=S3(url_expires_s=60),
        api=ApiSettings(max_put_bytes=10, default_user_id="demo", idempotency_ttl_s=5),
    )
    policy = make_deps(InMemory.make(clock), settings).policy
    assert (policy.max_put_bytes, policy.default_user_id) == (10, "demo")
    assert (policy.url_expires_s, policy.idempotency_ttl_ms) == (60, 5_000)


def test_a_valid_traceparent_goes_into_the_row(api: Api) -> None:
    given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    assert api.row(api.create(headers={"traceparent": given})).traceparent == given


def test_an_unreachable_store_is_a_503_that_leaks_nothing(api: Api) -> None:
    def create(*_: object) -> None:
        raise Unreachable('No answer from the table "secret-name": http://10.0.0.7:8000')

    api.memory.store.create = create  # type: ignore[assignment,method-assign]
    response = api.create()
    body = problem(response, 503, "unavailable")
    assert int(response.headers["retry-after"]) > 0
    assert "secret" not in response.text
    assert "10.0.0.7" not in body["detail"]
