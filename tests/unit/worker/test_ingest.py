"""Ingest: what arrived against what was announced, and the plan that follows."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from reelworks import messages
from reelworks.domain import upload as uploads
from reelworks.domain.outcome import Outcome
from reelworks.domain.plan import INGEST, Lane, MediaSummary, MediaType, ObjectFacts, TaskKind, make_plan
from reelworks.domain.profile import DEFAULT
from reelworks.domain.task import TaskStatus
from reelworks.domain.upload import Upload, UploadStatus
from reelworks.errors import Permanent
from reelworks.ports import StopSignal
from reelworks.runtime.cancellation import Cancellation
from reelworks.testing.memory import s3_event
from tests.unit.core.domain.builders import make_upload
from tests.world import World
from worker.tasks.ingest import IngestDependencies, Probed, check_type, ingest
from worker.verdict import Ending
from worker.work import Work

SPOKEN = MediaSummary(format="mov", has_audio=True, has_video=True, duration_ms=5_000)


def probed(path: Path, cancellation: Cancellation) -> Probed:
    assert path.stat().st_size > 0
    return Probed(summary=SPOKEN, report=b"{}")


def needs(world: World, probe: Callable[[Path, Cancellation], Probed] = probed) -> IngestDependencies:
    return IngestDependencies(
        raw=world.adapters.raw, media=world.adapters.media, probe=probe, max_bytes=10_000
    )


def arrive(world: World, body: bytes, declared: int | None = None) -> tuple[Upload, Ending]:
    """An upload whose object has arrived, handled by the worker."""
    size = len(body) if declared is None else declared
    upload = world.upload(
        status=UploadStatus.PENDING_UPLOAD, plan=None, open_tasks=frozenset(), size_bytes=size
    )
    world.adapters.raw.put(upload.object_key, body, "video/mp4")
    verdict = world.handle(Lane.EVENTS)
    return upload, verdict.ending


def test_good_object_is_planned_and_its_first_task_announced(world: World) -> None:
    world.work = lambda work: ingest(work, needs(world))
    upload, ending = arrive(world, b"x" * 1_000)
    snapshot = world.snapshot(upload)
    assert ending is Ending.DONE
    assert snapshot.upload.status is UploadStatus.PROCESSING
    assert snapshot.upload.object is not None
    assert snapshot.upload.object.size_bytes == 1_000
    assert snapshot.upload.media is not None
    report = world.adapters.media.get(snapshot.upload.media.report_key or "", 100)
    assert report == b"{}"
    assert snapshot.tasks[INGEST].status is TaskStatus.DONE
    assert world.receive(Lane.SPEECH).body.find('"transcribe"') > 0


@pytest.mark.parametrize(
    ("size", "declared", "code"),
    [
        (0, 1_000, "empty_file"),
        (999, 1_000, "truncated"),
        (1_001, 1_000, "size_mismatch"),
        (10_001, 10_001, "too_large"),
    ],
)
def test_object_of_another_size_fails_with_a_sentence(
    world: World, size: int, declared: int, code: str
) -> None:
    world.work = lambda work: ingest(work, needs(world))
    upload, ending = arrive(world, b"x" * size, declared)
    ended = world.snapshot(upload)
    assert ending is Ending.FAILED
    assert ended.upload.status is UploadStatus.FAILED
    assert ended.upload.failure is not None
    assert ended.upload.failure.code == code
    assert ended.upload.failure.message.endswith(".")
    assert ended.tasks[INGEST].attempts == 1


def test_file_that_the_probe_refuses_fails_the_upload(world: World) -> None:
    def refuse(path: Path, cancellation: Cancellation) -> Probed:
        raise Permanent("This is a text file. Upload audio or video.", code="not_media")

    world.work = lambda work: ingest(work, needs(world, refuse))
    upload, ending = arrive(world, b"hello")
    assert ending is Ending.FAILED
    failure = world.snapshot(upload).upload.failure
    assert failure is not None
    assert failure.code == "not_media"


def test_picture_announced_as_video_fails_the_upload(world: World) -> None:
    """Case 17: somebody chose the wrong file."""

    def image(path: Path, cancellation: Cancellation) -> Probed:
        media = MediaSummary(format="jpeg_pipe", type=MediaType.IMAGE, has_audio=False, has_video=False)
        return Probed(summary=media, report=b"{}")

    world.work = lambda work: ingest(work, needs(world, image))
    upload, ending = arrive(world, b"\xff\xd8\xff")
    failure = world.snapshot(upload).upload.failure
    assert ending is Ending.FAILED
    assert failure is not None
    assert failure.code == "image"


def test_announced_picture_gets_thumbnails() -> None:
    media = MediaSummary(format="jpeg_pipe", type=MediaType.IMAGE, has_audio=False, has_video=False)
    check_type(make_upload(content_type="image/jpeg"), media)
    assert [task.kind for task in make_plan(media, DEFAULT).tasks] == [TaskKind.THUMBNAILS]


def test_object_that_is_not_there_yet_is_looked_for_again(world: World) -> None:
    world.work = lambda work: ingest(work, needs(world))
    upload = world.upload(status=UploadStatus.PENDING_UPLOAD, plan=None, open_tasks=frozenset())
    world.adapters.queue.send(Lane.EVENTS, messages.encode(upload.upload_id, INGEST))
    assert world.handle(Lane.EVENTS).ending is Ending.RETRY


def test_same_event_three_times_is_planned_once(world: World) -> None:
    world.work = lambda work: ingest(work, needs(world))
    upload, _ = arrive(world, b"x" * 1_000)
    for _ in range(2):
        world.adapters.raw.put(upload.object_key, b"x" * 1_000, "video/mp4")
        assert world.handle(Lane.EVENTS).ending is Ending.OVER
    assert world.row(upload, INGEST).leases == 1


def test_cancelled_while_it_was_probed_the_upload_gets_no_plan(world: World) -> None:
    def cancel_meanwhile(work: Work) -> Outcome:
        outcome = ingest(work, needs(world))
        stored = world.snapshot(work.upload).upload
        cancelled = uploads.cancelled(stored, world.adapters.clock.now(), world.flow.watch)
        world.adapters.store.write_upload(stored, cancelled)
        return outcome

    world.work = cancel_meanwhile
    upload, ending = arrive(world, b"x" * 1_000)
    snapshot = world.snapshot(upload)
    assert ending is Ending.OVER
    assert snapshot.upload.status is UploadStatus.CANCELLED
    assert "transcribe" not in snapshot.tasks


def test_sweep_that_moves_the_due_time_meanwhile_does_not_spoil_the_plan(world: World) -> None:
    def watched_meanwhile(work: Work) -> Outcome:
        outcome = ingest(work, needs(world))
        stored = world.snapshot(work.upload).upload
        later = uploads.watched_again(stored, world.adapters.clock.now(), world.flow.watch)
        world.adapters.store.write_upload(stored, later)
        return outcome

    world.work = watched_meanwhile
    upload, ending = arrive(world, b"x" * 1_000)
    assert ending is Ending.DONE
    assert world.snapshot(upload).upload.status is UploadStatus.PROCESSING


def test_foreign_object_below_the_prefix_is_ignored(world: World) -> None:
    upload = world.upload(status=UploadStatus.PENDING_UPLOAD, plan=None, open_tasks=frozenset())
    other = upload.object_key.replace("talk.mp4", "other.mp4")
    world.adapters.raw.put(other, b"x", "video/mp4")
    assert world.handle(Lane.EVENTS).ending is Ending.OVER
    assert world.snapshot(upload).tasks == {}


def test_object_that_is_replaced_while_it_is_fetched_is_looked_at_again(world: World) -> None:
    """Until there is a plan, a client that sends again has done nothing wrong."""
    raw = world.adapters.raw
    replaced = False

    class Replacing:
        def __getattr__(self, name: str) -> object:
            return getattr(raw, name)

        def download(self, key: str, facts: ObjectFacts, path: Path, stop: StopSignal) -> None:
            nonlocal replaced
            if not replaced:
                replaced = True
                raw.put(key, b"y" * 1_000, "video/mp4")
            raw.download(key, facts, path, stop)

    own = structs.replace(needs(world), raw=Replacing())
    world.work = lambda work: ingest(work, own)
    upload, ending = arrive(world, b"x" * 1_000)
    assert ending is Ending.RETRY
    error = world.row(upload, INGEST).last_error
    assert error is not None
    assert error.code == "object_changed"


def test_late_object_revives_its_expired_upload(world: World) -> None:
    world.work = lambda work: ingest(work, needs(world))
    upload = world.upload(
        status=UploadStatus.EXPIRED, plan=None, open_tasks=frozenset(), size_bytes=5, due_at=None
    )
    world.adapters.raw.put(upload.object_key, b"hello", "video/mp4")
    assert world.handle(Lane.EVENTS).ending is Ending.DONE
    assert world.snapshot(upload).upload.status is UploadStatus.PROCESSING


def test_split_event_keeps_a_foreign_object_out(world: World) -> None:
    """Alone or in company, an object that was not signed for starts nothing."""
    upload = world.upload(status=UploadStatus.PENDING_UPLOAD, plan=None, open_tasks=frozenset())
    keys = [upload.object_key.replace("talk.mp4", "other.mp4"), f"uploads/ada/{'f' * 32}/x"]
    records = [json.loads(s3_event(key))["Records"][0] for key in keys]
    world.adapters.queue.send(Lane.EVENTS, json.dumps({"Records": records}))
    assert world.handle(Lane.EVENTS).ending is Ending.SPLIT
    assert world.left(Lane.EVENTS).visible == 0
