"""The life of an upload."""

from collections.abc import Callable
from itertools import product

import pytest
from msgspec import structs

from reelworks.domain import upload as uploads
from reelworks.domain.event import terminal_event
from reelworks.domain.failure import Failure, FailureKind
from reelworks.domain.upload import TRANSITIONS, IllegalTransition, Upload, UploadStatus, WatchRules
from tests.unit.core.domain.builders import FACTS, NEWS, NOW, make_upload

RULES = WatchRules()
FAILURE = Failure(kind=FailureKind.PERMANENT, code="not_media", message="Not media.")


def test_accepted_upload_is_processing_with_every_task_open() -> None:
    upload = uploads.accepted(make_upload(), NEWS, NOW + 1, RULES)
    assert upload.status is UploadStatus.PROCESSING
    assert upload.open_tasks == {"transcribe"}
    assert upload.object == FACTS
    assert upload.due_at == NOW + 1 + RULES.processing_check_ms


def test_object_that_comes_after_expiry_is_still_accepted() -> None:
    expired = uploads.expired(make_upload(), NOW, RULES)
    upload = uploads.accepted(expired, NEWS, NOW + 1, RULES)
    assert (upload.status, upload.notify_due, upload.finished_at) == (UploadStatus.PROCESSING, None, None)


@pytest.mark.parametrize(("start", "end"), list(product(UploadStatus, UploadStatus)))
def test_only_the_steps_of_the_table_are_possible(start: UploadStatus, end: UploadStatus) -> None:
    upload = make_upload(status=start, plan=None if start in uploads.AWAITING_OBJECT else NEWS.plan)

    def processing() -> Upload:
        if start in uploads.ENDED:
            return uploads.reprocessed(upload, "audio", None, NOW, RULES)
        return uploads.accepted(upload, NEWS, NOW, RULES)

    steps: dict[UploadStatus, Callable[[], Upload]] = {
        UploadStatus.PROCESSING: processing,
        UploadStatus.COMPLETED: lambda: uploads.completed(upload, NOW, RULES),
        UploadStatus.FAILED: lambda: uploads.failed(upload, FAILURE, NOW, RULES),
        UploadStatus.EXPIRED: lambda: uploads.expired(upload, NOW, RULES),
        UploadStatus.CANCELLED: lambda: uploads.cancelled(upload, NOW, RULES),
    }
    if end not in steps:
        return
    if end in TRANSITIONS[start]:
        assert steps[end]().status is end
    else:
        with pytest.raises(IllegalTransition):
            steps[end]()


def test_terminal_upload_owes_an_event_until_it_is_notified() -> None:
    done = uploads.completed(make_upload(status=UploadStatus.PROCESSING), NOW, RULES)
    assert done.notify_due == NOW
    assert done.due_at == NOW + RULES.notify_retry_ms
    notified = uploads.notified(done, NOW, RULES)
    assert notified.notify_due is None
    assert notified.due_at == NOW + RULES.sweep_after_ms
    assert uploads.notified(done, NOW, structs.replace(RULES, sweep_after_ms=0)).due_at is None
    swept = uploads.swept(uploads.sweeping(notified, NOW + RULES.sweep_after_ms, RULES))
    assert (swept.due_at, swept.swept_at) == (None, NOW + RULES.sweep_after_ms)


def test_the_event_is_the_same_each_time_it_is_made() -> None:
    done = uploads.failed(make_upload(status=UploadStatus.PROCESSING), FAILURE, NOW, RULES)
    event = terminal_event(done)
    assert event == terminal_event(done)
    assert event.failure == FAILURE
    assert event.event_id.startswith(done.upload_id)


def test_upload_without_object_is_looked_at_later_each_time_and_at_its_end() -> None:
    upload, dues, now = make_upload(), [], NOW + RULES.first_check_ms
    while not uploads.overdue(upload, now, RULES):
        upload = uploads.watched_again(upload, now, RULES)
        assert upload.due_at is not None
        dues.append(upload.due_at - now)
        now = upload.due_at
    assert dues[:3] == [2 * RULES.first_check_ms, 4 * RULES.first_check_ms, 8 * RULES.first_check_ms]
    assert now == upload.expires_at + RULES.expiry_grace_ms
    assert len(dues) < 10


def test_upload_does_not_expire_before_grace_is_over() -> None:
    upload = make_upload()
    end = upload.expires_at + RULES.expiry_grace_ms
    assert not uploads.overdue(upload, end - 1, RULES)
    assert uploads.overdue(upload, end, RULES)


@pytest.mark.parametrize("status", list(UploadStatus))
def test_watching_again_always_moves_the_due_time(status: UploadStatus) -> None:
    upload = make_upload(status=status, due_at=NOW + 99_000_000)
    assert (uploads.watched_again(upload, NOW, RULES).due_at or 0) > NOW + 99_000_000


def test_every_status_has_its_row_in_the_transition_table() -> None:
    assert set(TRANSITIONS) == set(UploadStatus)


def ended(**changes: object) -> Upload:
    row = make_upload(status=UploadStatus.PROCESSING, plan=NEWS.plan, poster_of="p/", poster_choice=3)
    return structs.replace(uploads.completed(row, NOW, RULES), **changes)


def test_processed_again_begins_with_the_ingest_and_shows_what_was_there() -> None:
    upload = uploads.reprocessed(ended(), "audio", None, NOW + 5, RULES)
    assert (upload.status, upload.generation, upload.profile) == (UploadStatus.PROCESSING, 1, "audio")
    assert (upload.plan, upload.finished_at) == (None, None)
    assert upload.open_tasks == {"ingest"}
    assert upload.earlier == uploads.Earlier(generation=0, plan=NEWS.plan)
    assert upload.due_at == NOW + 5 + RULES.first_check_ms
    assert (upload.poster_of, upload.poster_choice) == ("p/", 3)
    assert uploads.unplanned(upload)


def test_of_several_failures_in_a_row_the_last_success_is_shown() -> None:
    upload = uploads.reprocessed(ended(), "audio", None, NOW, RULES)
    for generation in (2, 3):
        failed = uploads.failed(upload, FAILURE, NOW, RULES)
        upload = uploads.reprocessed(failed, "audio", None, NOW, RULES)
        assert (upload.generation, upload.failure) == (generation, None)
    assert upload.earlier == uploads.Earlier(generation=0, plan=NEWS.plan)
    planned = uploads.accepted(upload, NEWS, NOW, RULES)
    assert uploads.completed(planned, NOW, RULES).earlier is None


def test_an_upload_has_one_plan_a_generation() -> None:
    planned = uploads.accepted(uploads.reprocessed(ended(), "audio", None, NOW, RULES), NEWS, NOW, RULES)
    with pytest.raises(IllegalTransition):
        uploads.accepted(planned, NEWS, NOW, RULES)
    with pytest.raises(IllegalTransition):
        uploads.reprocessed(planned, "audio", None, NOW, RULES)


def test_each_generation_has_an_event_of_its_own() -> None:
    first = ended()
    again = uploads.accepted(uploads.reprocessed(first, "audio", None, NOW, RULES), NEWS, NOW, RULES)
    assert terminal_event(uploads.completed(again, NOW, RULES)).event_id != terminal_event(first).event_id
