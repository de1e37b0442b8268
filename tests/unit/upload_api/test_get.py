"""GET /api/uploads/{id}: what a client learns, and nothing more."""

import pytest
from msgspec import structs

from reelworks.domain import task as tasks
from reelworks.domain import upload as uploads
from reelworks.domain.failure import Failure, FailureKind
from reelworks.domain.instants import iso8601
from reelworks.domain.outcome import Outputs
from reelworks.domain.task import Task, TaskStatus
from reelworks.domain.upload import Upload, UploadStatus, WatchRules
from reelworks.errors import Permanent, Temporary
from reelworks.ports import Guard
from tests.unit.core.domain.builders import NEWS, make_task
from tests.unit.upload_api.api import Api, problem

FILES = {
    name: f"processed/ada/x/tasks/transcribe/t/transcript.{name}" for name in ("json", "txt", "srt", "vtt")
}
RULES = WatchRules()


def processing(api: Api) -> Upload:
    """Its plan is stored: the ingest is done, the transcription is ready."""
    upload = api.created()
    now = api.clock.now()
    after = uploads.accepted(upload, NEWS, now, RULES)
    api.memory.store.uploads[upload.upload_id] = after
    ingest = tasks.done(tasks.ingest(upload.upload_id, now), NEWS.outputs, now)
    put(api, structs.replace(ingest, attempts=1))
    put(api, transcription(upload))
    return after


def transcription(upload: Upload, **changes: object) -> Task:
    now = upload.created_at
    fields = {"upload_id": upload.upload_id, "created_at": now, "updated_at": now, "due_at": now}
    return make_task(**{**fields, **changes})


def put(api: Api, task: Task) -> None:
    before = api.memory.store.tasks.pop((task.upload_id, task.generation, task.name), None)
    assert before is None or before.name == task.name
    api.memory.store.write_task(None, task, Guard.UNCHANGED)


def test_a_new_upload_is_pending(api: Api) -> None:
    upload = api.created(fileName="Ada.mp4")
    assert api.get(upload) == {
        "uploadId": upload.upload_id,
        "status": "PENDING_UPLOAD",
        "generation": 0,
        "attempts": 0,
        "transcript": None,
        "error": None,
        "updatedAt": iso8601(upload.updated_at),
        "fileName": "Ada.mp4",
        "contentType": "video/mp4",
        "sizeBytes": 1_000,
        "createdAt": iso8601(upload.created_at),
        "expiresAt": iso8601(upload.expires_at),
        "progress": 0.0,
        "secondsLeft": None,
        "profile": "default",
        "options": None,
        "tasks": [],
        "captions": None,
        "renditions": [],
        "poster": None,
        "playback": None,
        "preview": None,
        "downloads": {},
        "thumbnails": {},
    }


def test_a_running_task_shows_its_progress(api: Api) -> None:
    upload = processing(api)
    put(
        api,
        transcription(
            upload, status=TaskStatus.RUNNING, progress=0.4, attempts=2, started_at=upload.created_at
        ),
    )
    view = api.get(upload)
    assert (view["status"], view["attempts"], view["progress"]) == ("PROCESSING", 2, 0.4)
    assert [task["name"] for task in view["tasks"]] == ["ingest", "transcribe"]
    assert view["tasks"][1] == {
        "name": "transcribe",
        "kind": "transcribe",
        "status": "RUNNING",
        "attempts": 2,
        "progress": 0.4,
        "error": None,
        "startedAt": iso8601(upload.created_at),
        "finishedAt": None,
    }


def test_the_change_of_a_task_is_a_change_of_the_upload(api: Api) -> None:
    upload = processing(api)
    put(api, transcription(upload, updated_at=upload.updated_at + 5_000))
    assert api.get(upload)["updatedAt"] == iso8601(upload.updated_at + 5_000)


@pytest.mark.parametrize(("excerpt", "shown"), [("Hello.", "Hello."), ("", ""), (None, "")])
def test_a_transcript_is_shown_once_its_task_is_done(api: Api, excerpt: str | None, shown: str) -> None:
    upload = processing(api)
    outputs = Outputs(prefix="p/", files=FILES, excerpt=excerpt)
    put(api, transcription(upload, status=TaskStatus.DONE, outputs=outputs))
    view = api.get(upload)
    assert view["transcript"] == shown
    assert list(view["captions"]) == ["json", "txt", "srt", "vtt"]
    expires = api.clock.now() + 3_600_000
    assert view["captions"]["vtt"] == f"memory://media/{FILES['vtt']}?expires={expires}"


def test_a_completed_upload_is_wholly_done(api: Api) -> None:
    upload = processing(api)
    put(api, transcription(upload, status=TaskStatus.DONE, outputs=Outputs(prefix="p/", excerpt="Hi")))
    closed = structs.replace(upload, open_tasks=frozenset())
    api.memory.store.uploads[upload.upload_id] = uploads.completed(closed, api.clock.now(), RULES)
    view = api.get(upload)
    assert (view["status"], view["progress"], view["transcript"]) == ("COMPLETED", 1.0, "Hi")


def test_an_upload_that_is_not_completed_is_never_wholly_done(api: Api) -> None:
    upload = processing(api)
    put(api, transcription(upload, status=TaskStatus.DONE, outputs=Outputs(prefix="p/")))
    assert api.get(upload)["progress"] < 1


def test_a_failure_is_a_code_and_a_sentence(api: Api) -> None:
    upload = api.created()
    failure = Failure(kind=FailureKind.PERMANENT, code="not_media", message="This is no media file.")
    api.memory.store.write_upload(upload, uploads.failed(upload, failure, api.clock.now(), RULES))
    view = api.get(upload)
    assert view["status"] == UploadStatus.FAILED
    assert view["error"] == {"code": "not_media", "message": "This is no media file."}
    assert view["transcript"] is None


def test_a_task_that_will_be_tried_again_tells_why(api: Api) -> None:
    upload = processing(api)
    error = Failure.of(FailureKind.EXHAUSTED, Temporary("The engine was busy.", code="busy"))
    put(api, transcription(upload, attempts=1, last_error=error))
    assert api.get(upload)["tasks"][1]["error"] == {"code": "busy", "message": "The engine was busy."}


def test_a_failed_task_tells_why(api: Api) -> None:
    upload = processing(api)
    error = Permanent("Too long.", code="too_long")
    put(api, tasks.failed(transcription(upload, status=TaskStatus.RUNNING), error, api.clock.now()))
    assert api.get(upload)["tasks"][1]["error"] == {"code": "too_long", "message": "Too long."}


def test_answers_are_not_cached(api: Api) -> None:
    upload = api.created()
    response = api.client.get(f"/api/uploads/{upload.upload_id}")
    assert response.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "upload_id", ["0" * 32, "0" * 31, "Z" * 32, "..", "%2e%2e%2f", "a b", "%00", "%ff", "x" * 4_000, "😀"]
)
def test_an_unknown_or_ill_formed_id_is_a_404(api: Api, upload_id: str) -> None:
    response = api.client.get(f"/api/uploads/{upload_id}")
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"


def test_unknown_and_ill_formed_look_the_same(api: Api) -> None:
    unknown, ill_formed = (
        problem(api.client.get(f"/api/uploads/{i}"), 404, "unknown_upload") for i in ("0" * 32, "x")
    )
    assert unknown == ill_formed
