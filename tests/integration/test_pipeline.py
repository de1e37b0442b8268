"""Files through the whole pipeline, on two emulators: what becomes of them, and of messages that come again."""

import json
from pathlib import Path
from urllib.parse import quote, quote_plus

import httpx
import pytest
from msgspec import structs

from reelworks import messages
from reelworks.domain.failure import FailureKind
from reelworks.domain.outcome import Outcome
from reelworks.domain.plan import INGEST, Lane, TaskKind
from reelworks.domain.task import TaskStatus
from reelworks.domain.upload import UploadStatus
from reelworks.errors import Temporary
from reelworks.ports import Guard
from tests.integration.pipeline import SPOKEN, Pipeline
from tests.media.samples import Samples, playlists
from tests.world import RULES, World
from worker.verdict import Ending
from worker.work import Work


@pytest.fixture
def pipeline(world: World) -> Pipeline:
    return Pipeline(world)


def test_uploaded_file_ends_completed_with_its_transcript(pipeline: Pipeline, samples: Samples) -> None:
    snapshot = pipeline.run(samples.video())
    assert snapshot.upload.status is UploadStatus.COMPLETED, snapshot.upload.failure
    report = pipeline.report(snapshot.upload)
    assert report.transcript == SPOKEN
    assert report.captions is not None
    found = {name: httpx.get(url, trust_env=False) for name, url in report.captions.items()}
    assert found["txt"].text == f"{SPOKEN}\n"
    assert found["json"].json()["segments"][0]["text"] == SPOKEN
    assert found["vtt"].text.startswith("WEBVTT")
    assert SPOKEN in found["srt"].text
    assert found["vtt"].headers["content-type"].startswith("text/vtt")


@pytest.mark.parametrize(
    "name",
    ["audio.mp3", "über uns.m4a", "a+b %20 c.wav", "日本語.mp4", "../../x y.mp4", "x" * 1_000 + ".mp4"],
)
def test_any_name_goes_through(pipeline: Pipeline, samples: Samples, name: str) -> None:
    snapshot = pipeline.run(samples.audio("m4a"), content_type="audio/mp4", name=name)
    assert snapshot.upload.status is UploadStatus.COMPLETED
    assert snapshot.upload.file_name == name


@pytest.mark.parametrize("encode", [quote_plus, quote, lambda key: quote(key, safe="")])
def test_key_of_an_event_is_understood_however_it_is_encoded(
    pipeline: Pipeline, samples: Samples, encode: object
) -> None:
    assert callable(encode)
    upload = pipeline.announce(samples.audio("wav"), "audio/wav")
    own = pipeline.world.receive(Lane.EVENTS)
    while "s3:TestEvent" in own.body:
        pipeline.world.queue.delete(own)
        own = pipeline.world.receive(Lane.EVENTS)
    pipeline.world.queue.delete(own)
    event = json.loads(own.body)
    event["Records"][0]["s3"]["object"]["key"] = encode(upload.object_key)
    pipeline.world.adapters.queue.send(Lane.EVENTS, json.dumps(event))
    pipeline.work()
    assert pipeline.world.snapshot(upload).upload.status is UploadStatus.COMPLETED


def test_same_event_three_times_is_transcribed_once(pipeline: Pipeline, samples: Samples) -> None:
    upload = pipeline.announce(samples.audio("wav"), "audio/wav")
    while "s3:TestEvent" in (event := pipeline.world.receive(Lane.EVENTS)).body:
        pipeline.world.queue.delete(event)
    for _ in range(2):
        pipeline.world.adapters.queue.send(Lane.EVENTS, event.body)
    pipeline.world.queue.hide(event, 0)
    endings = pipeline.work()
    snapshot = pipeline.world.snapshot(upload)
    assert endings.count(Ending.DONE) == 2
    assert set(endings) <= {Ending.DONE, Ending.OVER}
    assert [snapshot.tasks[name].leases for name in (INGEST, "transcribe")] == [1, 1]
    assert all(depth.visible + depth.in_flight == 0 for depth in pipeline.world.queue.depths().values())


def failing(pipeline: Pipeline, times: int) -> None:
    """The engine is out of order for so many attempts."""
    real = pipeline.handlers[TaskKind.TRANSCRIBE]
    left = iter(range(times))

    def transcribe(work: Work) -> Outcome:
        if next(left, None) is not None:
            raise Temporary("The engine is out of order.", code="engine_down")
        return real(work)

    pipeline.handlers[TaskKind.TRANSCRIBE] = transcribe


def retry_now(pipeline: Pipeline, upload_id: str) -> None:
    """The backoff has passed: the row may run again and its message is visible."""
    snapshot = pipeline.world.adapters.store.load(upload_id)
    assert snapshot is not None
    row = snapshot.tasks["transcribe"]
    due = structs.replace(row, not_before=None, due_at=(row.due_at or 0) + 1)
    pipeline.world.adapters.store.write_task(row, due, Guard.UNCHANGED)
    pipeline.world.adapters.queue.send(row.lane, messages.encode(upload_id, row.name))


def test_failed_attempt_is_retried_and_succeeds(pipeline: Pipeline, samples: Samples) -> None:
    failing(pipeline, 1)
    upload = pipeline.announce(samples.audio("wav"), "audio/wav")
    assert pipeline.work() == [Ending.DONE, Ending.RETRY]
    retry_now(pipeline, upload.upload_id)
    assert pipeline.work() == [Ending.DONE]
    snapshot = pipeline.world.snapshot(upload)
    assert snapshot.upload.status is UploadStatus.COMPLETED
    assert snapshot.tasks["transcribe"].attempts == 2


def test_task_that_keeps_failing_is_a_dead_letter_after_three_attempts(
    pipeline: Pipeline, samples: Samples
) -> None:
    failing(pipeline, 99)
    upload = pipeline.announce(samples.audio("wav"), "audio/wav")
    endings = pipeline.work()
    for _ in range(RULES.max_attempts - 1):
        retry_now(pipeline, upload.upload_id)
        endings += pipeline.work()
    assert endings == [Ending.DONE, Ending.RETRY, Ending.RETRY, Ending.EXHAUSTED]
    snapshot = pipeline.world.snapshot(upload)
    failure = snapshot.upload.failure
    assert (snapshot.upload.status, snapshot.tasks["transcribe"].attempts) == (UploadStatus.FAILED, 3)
    assert failure is not None
    assert (failure.kind, failure.code) == (FailureKind.EXHAUSTED, "engine_down")
    assert pipeline.world.left("dlq").visible == 1


@pytest.mark.parametrize(
    ("sample", "code"),
    [
        ("text", "not_media"),
        ("archive", "not_media"),
        ("noise_bytes", "not_media"),
        ("without_index", "truncated"),
        ("cut_in_the_middle", "truncated"),
    ],
)
def test_file_that_is_no_good_fails_at_once_with_a_sentence(
    pipeline: Pipeline, samples: Samples, sample: str, code: str
) -> None:
    path: Path = getattr(samples, sample)()
    snapshot = pipeline.run(path)
    failure = snapshot.upload.failure
    assert snapshot.upload.status is UploadStatus.FAILED
    assert failure is not None
    assert (failure.kind, failure.code) == (FailureKind.PERMANENT, code)
    assert failure.message.endswith(".")
    assert max(task.attempts for task in snapshot.tasks.values()) == 1
    assert pipeline.world.left("dlq").visible == 0


def test_empty_file_fails_with_a_sentence(pipeline: Pipeline, samples: Samples) -> None:
    snapshot = pipeline.run(samples.empty())
    assert snapshot.upload.failure is not None
    assert snapshot.upload.failure.code == "empty_file"


@pytest.mark.parametrize("kind", ["hls", "ffconcat", "dash", "sdp"])
def test_playlist_in_disguise_fails_and_nothing_is_fetched(
    pipeline: Pipeline, tmp_path: Path, kind: str
) -> None:
    disguised = tmp_path / "holiday.mp4"
    disguised.write_bytes(playlists("/etc/hostname")[kind])
    snapshot = pipeline.run(disguised)
    assert snapshot.upload.failure is not None
    assert snapshot.upload.failure.code in {"playlist", "not_media"}
    assert snapshot.tasks[INGEST].status is TaskStatus.FAILED


@pytest.mark.parametrize(
    "sample", ["video_without_sound", "video_with_silence", "audio_with_cover", "surround"]
)
def test_sound_is_found_where_there_is_some(pipeline: Pipeline, samples: Samples, sample: str) -> None:
    snapshot = pipeline.run(getattr(samples, sample)())
    assert snapshot.upload.status is UploadStatus.COMPLETED
    outputs = snapshot.tasks["transcribe"].outputs
    assert outputs is not None
    assert outputs.excerpt == ("" if sample == "video_without_sound" else SPOKEN)


def test_object_that_is_replaced_before_it_is_read_is_the_newer_one_throughout(
    pipeline: Pipeline, samples: Samples
) -> None:
    """The client sends twice; the ingest sees the second, and both events lead to one plan."""
    upload = pipeline.announce(samples.audio("wav"), "audio/wav")
    pipeline.world.adapters.raw.upload(samples.audio("wav"), upload.object_key, "audio/wav")
    pipeline.work()
    assert pipeline.world.snapshot(upload).upload.status is UploadStatus.COMPLETED


def test_object_that_is_replaced_after_its_ingest_fails_the_upload(
    pipeline: Pipeline, samples: Samples
) -> None:
    real = pipeline.handlers[TaskKind.TRANSCRIBE]

    def replaced_meanwhile(work: Work) -> Outcome:
        pipeline.world.adapters.raw.put(work.upload.object_key, b"other bytes", "audio/wav")
        return real(work)

    pipeline.handlers[TaskKind.TRANSCRIBE] = replaced_meanwhile
    snapshot = pipeline.run(samples.audio("wav"), content_type="audio/wav")
    assert snapshot.upload.failure is not None
    assert snapshot.upload.failure.code == "object_changed"
