import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from reelworks.embedded.client import Client, Ticket
from reelworks.embedded.errors import OutOfTime, Refused
from reelworks.embedded.exchange import answers
from reelworks.embedded.patience import Patience
from reelworks.embedded.report import Report, Seconds, send_through
from reelworks.embedded.sockets import free_ports
from tests.unit.core.embedded.scripted_api import ScriptedApi, scripted_api

SIGNED = {"Content-Type": "video/mp4", "x-amz-checksum-sha256": "abc="}
BEGUN = 1_800_000_000.0


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    with scripted_api() as running:
        yield running


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    path = tmp_path / "talk.mp4"
    path.write_bytes(b"x" * 100_000)
    return path


def client(api: ScriptedApi, limit_s: float = 60.0) -> Client:
    return Client(api.url, Patience(threading.Event(), limit_s), lambda _seconds: None)


def ticket(api: ScriptedApi) -> Ticket:
    return Ticket(upload_id="u1", upload_url=f"{api.url}/raw/talk.mp4?X=%2B", method="PUT", headers=SIGNED)


def view(status: str, **fields: object) -> tuple[int, bytes]:
    body = {
        "status": status,
        "attempts": 1,
        "transcript": None,
        "error": None,
        "updatedAt": "2027-01-15T08:00:05.000Z",
        "tasks": [],
        **fields,
    }
    return 200, msgspec.json.encode(body)


def test_a_clip_is_announced_with_its_name_type_and_size(api: ScriptedApi, clip: Path) -> None:
    api.answers = [(201, msgspec.json.encode(ticket(api)))]
    assert client(api).create(clip) == ticket(api)
    (asked,) = api.asked
    assert (asked.method, asked.path) == ("POST", "/api/uploads")
    assert msgspec.json.decode(asked.body) == {
        "fileName": "talk.mp4",
        "contentType": "video/mp4",
        "sizeBytes": 100_000,
    }


def test_the_bytes_are_sent_with_exactly_the_headers_of_the_ticket(api: ScriptedApi, clip: Path) -> None:
    api.answers = [(200, b"")]
    client(api).send(ticket(api), clip)
    (asked,) = api.asked
    assert (asked.method, asked.path) == ("PUT", "/raw/talk.mp4?X=%2B")
    assert asked.body == clip.read_bytes()
    unsigned = {"Host": asked.headers["Host"], "Accept-Encoding": "identity", "Content-Length": "100000"}
    assert asked.headers == {**SIGNED, **unsigned}


def test_a_refusal_carries_the_sentence_of_the_problem_and_no_signature(api: ScriptedApi, clip: Path) -> None:
    api.answers = [(400, b'{"title": "Bad Request", "detail": "sizeBytes is too large."}')]
    with pytest.raises(Refused, match=r"\(400\): sizeBytes is too large\.") as caught:
        client(api).send(ticket(api), clip)
    assert "X=" not in caught.value.message


def test_an_answer_of_another_shape_is_a_refusal(api: ScriptedApi, clip: Path) -> None:
    api.answers = [(201, b"<html>")]
    with pytest.raises(Refused, match="something else"):
        client(api).create(clip)


def test_nobody_there_is_a_refusal_too(clip: Path) -> None:
    (port,) = free_ports(1)
    nobody = ScriptedApi(url=f"http://127.0.0.1:{port}")
    assert not answers(nobody.url, timeout_s=1, any_status=True)
    with pytest.raises(Refused, match="got no answer"):
        client(nobody).create(clip)


def test_it_asks_until_the_upload_is_finished(api: ScriptedApi) -> None:
    api.answers = [view("PENDING_UPLOAD"), view("PROCESSING"), view("PROCESSING"), view("COMPLETED")]
    seen = [found.status for found in client(api).views("u1")]
    assert seen == ["PENDING_UPLOAD", "PROCESSING", "PROCESSING", "COMPLETED"]


def test_a_slow_upload_ends_at_the_deadline(api: ScriptedApi, clip: Path) -> None:
    api.answers = [(200, b"")]
    with pytest.raises(OutOfTime):
        client(api, limit_s=0.0).send(ticket(api), clip)


def test_the_seconds_come_from_the_times_of_the_services(api: ScriptedApi, clip: Path) -> None:
    tasks = [{"startedAt": "2027-01-15T08:00:02.500Z"}, {"startedAt": "2027-01-15T08:00:03.000Z"}]
    api.answers = [
        (201, msgspec.json.encode(ticket(api))),
        (200, b""),
        view("COMPLETED", transcript="hello", tasks=tasks),
    ]
    clock = iter([BEGUN, BEGUN + 1])
    assert send_through(client(api), clip, lambda: next(clock)) == Report(
        status="COMPLETED",
        transcript="hello",
        attempts=1,
        seconds=Seconds(upload=1.0, queue=1.5, process=2.5, total=5.0),
    )


def test_a_worker_that_is_faster_than_the_answer_of_s3_makes_no_negative_time(
    api: ScriptedApi, clip: Path
) -> None:
    api.answers = [
        (201, msgspec.json.encode(ticket(api))),
        (200, b""),
        view("COMPLETED", tasks=[{"startedAt": "2027-01-15T08:00:00.900Z"}]),
    ]
    clock = iter([BEGUN, BEGUN + 1])
    report = send_through(client(api), clip, lambda: next(clock))
    assert report.seconds == Seconds(upload=1.0, queue=0.0, process=4.0, total=5.0)


def test_a_failed_upload_says_why(api: ScriptedApi, clip: Path) -> None:
    error = {"code": "not_media", "message": "This is not a video."}
    api.answers = [(201, msgspec.json.encode(ticket(api))), (200, b""), view("FAILED", error=error)]
    report = send_through(client(api), clip)
    assert not report.completed
    assert report.error == "This is not a video."
