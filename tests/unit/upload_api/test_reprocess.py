"""`POST …/reprocess`: who may, with what, and what happens to the row and the queue."""

import json
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient
from msgspec import structs

from reelworks.domain import task as tasks
from reelworks.domain import upload as uploads
from reelworks.domain.failure import Failure, FailureKind
from reelworks.domain.options import Options
from reelworks.domain.plan import INGEST, Lane
from reelworks.domain.upload import Upload, UploadStatus, WatchRules
from reelworks.errors import Unreachable
from reelworks.ports import Guard
from reelworks.testing import InMemoryTaskQueue
from tests.unit.core.domain.builders import NEWS
from tests.unit.upload_api.api import Api, fields, make_app, problem

RULES = WatchRules()
FAILURE = Failure(kind=FailureKind.EXHAUSTED, code="unreachable", message="A store did not answer.")
OPTIONS = {"mp4": [720], "preset": "medium"}


def ended(api: Api, *, failure: Failure | None = None, **changes: Any) -> Upload:
    """An upload that is over, its file in the bucket."""
    upload = api.created(**changes)
    api.memory.raw.put(upload.object_key, b"x" * 1_000, "video/mp4")
    planned = uploads.accepted(upload, NEWS, api.clock.now(), RULES)
    after = (
        uploads.failed(planned, failure, api.clock.now(), RULES)
        if failure
        else uploads.completed(planned, api.clock.now(), RULES)
    )
    stored = structs.replace(after, open_tasks=frozenset())
    api.memory.store.uploads[upload.upload_id] = stored
    drained(api)
    return stored


def drained(api: Api) -> list[str]:
    """The tasks that messages in the lane of ingests are about; takes them out."""
    found = api.memory.queue.receive(Lane.EVENTS, 10, 0, 30)
    for message in found:
        api.memory.queue.delete(message)
    return [json.loads(message.body).get("task", "?") for message in found]


def reprocess(api: Api, upload: Upload, **body: Any) -> httpx.Response:
    return api.client.post(f"/api/uploads/{upload.upload_id}/reprocess", json=body)


def stored(api: Api, upload: Upload) -> Upload:
    return api.memory.store.uploads[upload.upload_id]


@pytest.mark.parametrize("failure", [None, FAILURE])
def test_an_upload_that_is_over_begins_again(api: Api, failure: Failure | None) -> None:
    upload = ended(api, failure=failure)
    answer = reprocess(api, upload)
    assert answer.status_code == 202, answer.text
    view = answer.json()
    assert (view["status"], view["generation"], view["error"]) == ("PROCESSING", 1, None)
    assert drained(api) == [INGEST]
    row = stored(api, upload)
    assert (row.profile, row.options, row.plan) == (upload.profile, upload.options, None)
    assert (row.earlier is None) == (failure is not None)


@pytest.mark.parametrize(
    ("body", "profile", "options"),
    [
        ({}, "default", Options(mp4=(720,), preset="medium")),
        ({"profile": "archive"}, "archive", None),
        ({"profile": "default"}, "default", None),
        ({"options": {"crf": 30}}, "default", Options(crf=30)),
        ({"options": {}}, "default", None),
        ({"profile": "archive", "options": {"crf": 30}}, "archive", Options(crf=30)),
        ({"profile": None, "options": None}, "default", Options(mp4=(720,), preset="medium")),
    ],
)
def test_profile_and_options_are_those_of_the_request(
    api: Api, body: dict[str, Any], profile: str, options: Options | None
) -> None:
    upload = ended(api, options=OPTIONS)
    answer = reprocess(api, upload, **body)
    assert answer.status_code == 202, answer.text
    row = stored(api, upload)
    assert (row.profile, row.options) == (profile, options)
    assert answer.json()["profile"] == profile


@pytest.mark.parametrize(
    "status", [UploadStatus.PENDING_UPLOAD, UploadStatus.EXPIRED, UploadStatus.CANCELLED]
)
def test_one_without_a_file_does_not(api: Api, status: UploadStatus) -> None:
    upload = api.created()
    before = structs.replace(upload, status=status)
    api.memory.store.uploads[upload.upload_id] = before
    found = problem(reprocess(api, upload), 409, "not_ready")
    assert found["detail"].endswith(".")
    assert stored(api, upload) == before
    assert drained(api) == []


def test_of_two_requests_one_is_too_late(api: Api) -> None:
    upload = ended(api)
    assert reprocess(api, upload).status_code == 202
    found = problem(reprocess(api, upload), 409, "not_ready")
    assert "being processed" in found["detail"]
    assert stored(api, upload).generation == 1
    assert drained(api) == [INGEST]


def test_rows_of_the_times_before_do_not_pile_up(api: Api) -> None:
    upload = ended(api)
    for generation in range(1, 6):
        assert reprocess(api, upload).status_code == 202
        row = stored(api, upload)
        task = tasks.ingest(upload.upload_id, api.clock.now(), generation)
        api.memory.store.write_task(None, task, Guard.UNCHANGED)
        api.memory.store.uploads[upload.upload_id] = structs.replace(
            uploads.failed(row, FAILURE, api.clock.now(), RULES), open_tasks=frozenset()
        )
    snapshot = api.memory.store.load(upload.upload_id)
    assert snapshot
    assert snapshot.tasks[INGEST].generation == 5
    assert [task.generation for task in snapshot.spent] == [4]


def test_a_file_that_is_not_kept_any_more(api: Api) -> None:
    upload = ended(api)
    api.memory.raw.delete([upload.object_key])
    problem(reprocess(api, upload), 410, "source_gone")
    assert stored(api, upload) == upload


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"profile": "cinema"}, "profile"),
        ({"profile": 3}, "profile"),
        ({"options": {"crf": 99}}, "options.crf"),
        ({"options": {"colour": "red"}}, "options.colour"),
        ({"userId": "ben"}, "userId"),
    ],
)
def test_what_is_wrong_is_named_and_changes_nothing(api: Api, body: dict[str, Any], field: str) -> None:
    upload = ended(api)
    assert field in fields(reprocess(api, upload, **body))
    assert stored(api, upload) == upload
    assert drained(api) == []


def test_unknown_ids_are_unknown(api: Api) -> None:
    for upload_id in ("0" * 32, "x", "..%2f.."):
        answer = api.client.post(f"/api/uploads/{upload_id}/reprocess", json={})
        assert answer.status_code == 404


def test_a_form_is_refused(api: Api) -> None:
    upload = ended(api)
    answer = api.client.post(f"/api/uploads/{upload.upload_id}/reprocess", data={"profile": "audio"})
    problem(answer, 415, "unsupported_media_type")


def test_a_queue_that_does_not_answer_is_no_reason_to_refuse(api: Api) -> None:
    """The row says it all; a sweep sends the message."""

    class Deaf(InMemoryTaskQueue):
        def send(self, *_: object, **__: object) -> None:
            raise Unreachable("no queue")

    upload = ended(api)
    app = make_app(api.memory, queue=Deaf(api.clock))
    with TestClient(app) as client:
        answer = client.post(f"/api/uploads/{upload.upload_id}/reprocess", json={})
    assert answer.status_code == 202, answer.text
    row = stored(api, upload)
    assert (row.status, row.generation) == (UploadStatus.PROCESSING, 1)
    assert row.due_at == api.clock.now() + RULES.first_check_ms


def test_a_sweep_that_came_in_between_is_no_obstacle(api: Api) -> None:
    upload = ended(api)
    store = api.memory.store
    write = store.reopen_upload
    raced: list[Upload] = []

    def overtaken(before: Upload, after: Upload) -> None:
        if not raced:
            raced.append(uploads.sweeping(before, api.clock.now(), RULES))
            store.write_upload(before, raced[0])
        write(before, after)

    store.reopen_upload = overtaken  # type: ignore[method-assign]
    assert reprocess(api, upload).status_code == 202
    assert stored(api, upload).swept_at == raced[0].swept_at
