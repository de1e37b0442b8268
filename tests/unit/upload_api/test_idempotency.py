"""One Idempotency-Key, one upload."""

import pytest

from reelworks.domain import upload as uploads
from reelworks.domain.failure import Failure, FailureKind
from reelworks.domain.upload import Upload, UploadStatus, WatchRules
from reelworks.errors import Conflict
from tests.unit.upload_api.api import CHECKSUM, Api, counted, fields, problem
from upload_api.dependencies import Dependencies

KEY = {"Idempotency-Key": "5f0c3c1e"}
HOUR_S = 3_600
FAILURE = Failure(kind=FailureKind.PERMANENT, code="not_media", message="Not media.")


def failed(api: Api, upload: Upload) -> Upload:
    """The bytes came and were refused: nothing more is awaited."""
    after = uploads.failed(upload, FAILURE, api.clock.now(), WatchRules())
    api.memory.store.write_upload(upload, after)
    return after


def test_the_same_request_gives_the_same_upload_signed_anew(api: Api) -> None:
    first, second = api.create(headers=KEY), api.create(headers=KEY)
    assert (first.status_code, second.status_code) == (201, 201)
    assert "idempotent-replayed" not in first.headers
    assert second.headers["idempotent-replayed"] == "true"
    assert second.headers["location"] == first.headers["location"]
    assert second.json()["uploadId"] == first.json()["uploadId"]
    assert second.json()["uploadUrl"] != first.json()["uploadUrl"]
    assert len(api.memory.store.uploads) == 1


def test_requests_that_mean_the_same_are_the_same(api: Api) -> None:
    first = api.create(headers=KEY, contentType="Video/MP4")
    second = api.create(headers=KEY, contentType="video/mp4; x=y", userId="anonymous", priority="normal")
    assert second.json()["uploadId"] == first.json()["uploadId"]


@pytest.mark.parametrize(
    "change",
    [
        {"sizeBytes": 1_001},
        {"fileName": "other.mp4"},
        {"contentType": "video/webm"},
        {"projectId": "p"},
        {"checksumSha256": CHECKSUM},
        {"callbackUrl": "https://example.org/"},
        {"priority": "high"},
    ],
)
def test_another_request_under_the_same_key_is_refused(api: Api, change: dict[str, object]) -> None:
    api.create(headers=KEY)
    problem(api.create(headers=KEY, **change), 422, "idempotency_key_reused")
    assert len(api.memory.store.uploads) == 1


def test_a_key_belongs_to_its_user(api: Api) -> None:
    first, second = api.create(headers=KEY, userId="ada"), api.create(headers=KEY, userId="bob")
    assert first.json()["uploadId"] != second.json()["uploadId"]


def test_a_key_is_forgotten_after_a_day(api: Api) -> None:
    first = api.create(headers=KEY)
    api.clock.advance(24 * HOUR_S + 1)
    second = api.create(headers=KEY)
    assert second.json()["uploadId"] != first.json()["uploadId"]
    assert "idempotent-replayed" not in second.headers


def test_without_a_key_each_request_is_an_upload(api: Api) -> None:
    assert api.create().json()["uploadId"] != api.create().json()["uploadId"]


@pytest.mark.parametrize("key", ["", "k" * 256, "tab\there", "d\u00e9j\u00e0"])
def test_a_key_that_is_not_printable_is_refused(api: Api, key: str) -> None:
    response = api.client.post("/api/uploads", json={}, headers=[(b"Idempotency-Key", key.encode("latin-1"))])
    assert "1 to 255 printable" in fields(response)["Idempotency-Key"]


def test_a_replay_prolongs_a_pending_upload_with_its_url(api: Api) -> None:
    upload = api.row(api.create(headers=KEY))
    api.clock.advance(HOUR_S + 60)
    body = api.create(headers=KEY).json()
    renewed = api.memory.store.uploads[upload.upload_id]
    assert renewed.expires_at == api.clock.now() + HOUR_S * 1_000
    assert not uploads.overdue(renewed, api.clock.now(), WatchRules())
    assert api.memory.raw.client_put(body["uploadUrl"], body["headers"], b"x") == 200


def test_a_replay_for_an_expired_upload_can_still_be_used(api: Api) -> None:
    upload = api.row(api.create(headers=KEY))
    api.clock.advance(2 * HOUR_S)
    api.memory.store.write_upload(upload, uploads.expired(upload, api.clock.now(), WatchRules()))
    body = api.create(headers=KEY).json()
    assert body["uploadId"] == upload.upload_id
    assert api.memory.raw.client_put(body["uploadUrl"], body["headers"], b"x") == 200
    revived = api.memory.store.uploads[upload.upload_id]
    assert revived.status is UploadStatus.PENDING_UPLOAD
    assert revived.due_at == api.clock.now() + WatchRules().first_check_ms


def test_once_the_file_has_arrived_a_replay_grants_no_more_time(api: Api) -> None:
    first = api.create(headers=KEY)
    failed(api, api.row(first))
    api.clock.advance(HOUR_S - 10)
    second = api.create(headers=KEY)
    assert (second.status_code, second.json()["uploadId"]) == (201, first.json()["uploadId"])
    assert second.json()["expiresAt"] == first.json()["expiresAt"]


def test_long_after_the_file_has_arrived_a_replay_still_names_the_upload(api: Api) -> None:
    first = api.create(headers=KEY)
    failed(api, api.row(first))
    api.clock.advance(3 * HOUR_S)
    body = api.create(headers=KEY).json()
    assert body["uploadId"] == first.json()["uploadId"]
    api.clock.advance(2)
    assert api.memory.raw.client_put(body["uploadUrl"], body["headers"], b"x") == 403


def test_a_row_that_moves_during_a_replay_does_no_harm(api: Api) -> None:
    def refuse(*_: object) -> None:
        raise Conflict("moved")

    first = api.create(headers=KEY)
    api.memory.store.write_upload = refuse  # type: ignore[assignment,method-assign]
    assert api.create(headers=KEY).json()["uploadId"] == first.json()["uploadId"]


def test_a_key_whose_upload_is_gone_asks_for_a_new_key(api: Api) -> None:
    def refuse(*_: object) -> None:
        raise Conflict("gone")

    api.memory.store.create = refuse  # type: ignore[assignment,method-assign]
    detail = problem(api.create(headers=KEY), 409, "conflict")["detail"]
    assert "with a new key" in detail
    assert "again" not in detail


def test_without_a_key_a_conflict_is_worth_another_try(api: Api) -> None:
    def refuse(*_: object) -> None:
        raise Conflict("taken")

    api.memory.store.create = refuse  # type: ignore[assignment,method-assign]
    assert "Try again" in problem(api.create(), 409, "conflict")["detail"]


def test_only_new_uploads_are_counted(api: Api) -> None:
    for _ in range(3):
        api.create(headers=KEY)
    deps: Dependencies = api.client.app.dependencies["deps"].dependency()
    assert counted(deps.metrics, "reelworks_uploads_total", status="PENDING_UPLOAD") == 1
