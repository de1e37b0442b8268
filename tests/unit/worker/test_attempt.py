"""What an attempt makes of errors that are not the upload's fault."""

import errno

import pytest
from msgspec import structs

from reelworks import messages
from reelworks.domain.instants import HOUR_MS
from reelworks.domain.outcome import Outcome
from reelworks.domain.plan import Lane
from reelworks.domain.task import TaskStatus
from reelworks.domain.upload import Upload, UploadStatus
from reelworks.errors import InvalidSettings, Temporary, Unreachable
from reelworks.testing import FakeClock
from tests.world import World
from worker.attempt import MAX_RETURNS
from worker.verdict import Ending
from worker.work import Work


def ready(world: World) -> Upload:
    upload = world.upload()
    world.task(upload)
    world.adapters.queue.send(Lane.SPEECH, messages.encode(upload.upload_id, "transcribe"))
    return upload


def raising(world: World, error: Exception) -> None:
    def work(work: Work) -> Outcome:
        raise error

    world.work = work


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device", "/scratch/secret"),
        InvalidSettings("The program '/opt/ffprobe' cannot be run."),
    ],
)
def test_unfit_worker_gives_the_task_back_and_tells_nothing_of_itself(world: World, error: Exception) -> None:
    raising(world, error)
    upload = ready(world)
    assert world.handle().ending is Ending.OUT_OF_REACH
    row = world.row(upload)
    assert (row.status, row.attempts) == (TaskStatus.READY, 0)
    assert row.last_error is not None
    assert "/" not in row.last_error.message


def test_bug_shows_its_kind_and_not_its_text(world: World) -> None:
    raising(world, ValueError("/home/someone"))
    upload = ready(world)
    assert world.handle().ending is Ending.RETRY
    error = world.row(upload).last_error
    assert error is not None
    assert "ValueError" in error.message
    assert "/home" not in error.message


def test_what_never_comes_into_reach_ends_as_an_exhausted_task(world: World, clock: FakeClock) -> None:
    """A permission that is missing looks like an outage; it must not repeat paid work for ever."""
    runs = 0

    def denied(work: Work) -> Outcome:
        nonlocal runs
        runs += 1
        raise Unreachable("No access to the bucket.", code="access_denied")

    world.work = denied
    upload = ready(world)
    begun = clock.now()
    while world.snapshot(upload).upload.status is UploadStatus.PROCESSING:
        clock.advance(1_900)
        world.adapters.queue.send(Lane.SPEECH, messages.encode(upload.upload_id, "transcribe"))
        for message in world.queue.receive(Lane.SPEECH, 10, 0, 30):
            world.processor().handle(message)
    failure = world.snapshot(upload).upload.failure
    assert failure is not None
    assert failure.code == "access_denied"
    assert MAX_RETURNS < runs <= MAX_RETURNS + 3
    assert clock.now() - begun > 5 * HOUR_MS


def test_event_that_the_bus_refuses_does_not_hold_up_the_message(world: World) -> None:
    class Refusing:
        def emit(self, event: object) -> None:
            raise Temporary("ValidationException", code="validation_exception")

    upload = ready(world)
    processor = world.processor(flow=structs.replace(world.flow, events=Refusing()))
    assert world.handle(processor=processor).ending is Ending.DONE
    assert world.snapshot(upload).upload.notify_due is not None
