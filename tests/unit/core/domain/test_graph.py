"""What can be done next, from an upload and its tasks."""

import pytest
from msgspec import structs

from reelworks.domain import plan as plans
from reelworks.domain import snapshot as snapshots
from reelworks.domain import task as tasks
from reelworks.domain.failure import Failure, FailureKind
from reelworks.domain.lease import LeaseRules, RetryPolicy
from reelworks.domain.plan import INGEST, Lane, MediaSummary, Plan, TaskKind, TaskSpec
from reelworks.domain.profile import PROFILES, named
from reelworks.domain.snapshot import Finish, Promote, Skip, Snapshot
from reelworks.domain.task import Task, TaskStatus
from reelworks.domain.upload import UploadStatus, WatchRules
from reelworks.errors import Permanent
from tests.unit.core.domain.builders import MEDIA, NOW, make_task, make_upload

RULES = WatchRules()


def processing(*rows: Task) -> Snapshot:
    opened = frozenset(row.name for row in rows if row.status not in tasks.CLOSED)
    upload = make_upload(status=UploadStatus.PROCESSING, open_tasks=opened)
    return Snapshot(upload=upload, tasks={row.name: row for row in rows})


def row(name: str, status: TaskStatus, *depends_on: str, code: str | None = None, at: int = NOW) -> Task:
    failure = Failure(kind=FailureKind.PERMANENT, code=code, message=code) if code else None
    return make_task(name=name, status=status, depends_on=depends_on, failure=failure, finished_at=at)


def test_task_becomes_ready_when_all_it_depends_on_is_done() -> None:
    snapshot = processing(row("a", TaskStatus.DONE), row("b", TaskStatus.WAITING, "a"))
    (move,) = snapshots.advance(snapshot, NOW, RULES)
    assert isinstance(move, Promote)
    assert (move.after.name, move.after.status) == ("b", TaskStatus.READY)


def test_task_waits_while_one_dependency_is_open() -> None:
    snapshot = processing(
        row("a", TaskStatus.DONE), row("b", TaskStatus.RUNNING), row("c", TaskStatus.WAITING, "a", "b")
    )
    assert snapshots.advance(snapshot, NOW, RULES) == []


@pytest.mark.parametrize("ended", sorted(tasks.CLOSED))
def test_task_that_comes_after_another_only_needs_it_to_end(ended: TaskStatus) -> None:
    package = structs.replace(row("package", TaskStatus.WAITING, "audio"), after=("transcribe",))
    snapshot = processing(row("audio", TaskStatus.DONE), row("transcribe", ended), package)
    (move,) = snapshots.advance(snapshot, NOW, RULES)
    assert isinstance(move, Promote)
    assert (move.after.name, move.after.status) == ("package", TaskStatus.READY)


@pytest.mark.parametrize("open_", sorted(set(TaskStatus) - tasks.CLOSED))
def test_task_that_comes_after_another_waits_for_its_end(open_: TaskStatus) -> None:
    package = structs.replace(row("package", TaskStatus.WAITING, "audio"), after=("transcribe",))
    snapshot = processing(row("audio", TaskStatus.DONE), row("transcribe", open_), package)
    assert package not in [move.before for move in snapshots.advance(snapshot, NOW, RULES)]


def test_failed_dependency_is_not_waited_for_until_the_other_ends() -> None:
    package = structs.replace(row("package", TaskStatus.WAITING, "audio"), after=("transcribe",))
    snapshot = processing(row("audio", TaskStatus.FAILED), row("transcribe", TaskStatus.RUNNING), package)
    (move,) = snapshots.advance(snapshot, NOW, RULES)
    assert isinstance(move, Skip)


@pytest.mark.parametrize("status", [TaskStatus.FAILED, TaskStatus.SKIPPED])
def test_task_is_skipped_when_something_it_depends_on_did_not_work(status: TaskStatus) -> None:
    snapshot = processing(row("a", status), row("b", TaskStatus.WAITING, "a"))
    (move,) = snapshots.advance(snapshot, NOW, RULES)
    assert isinstance(move, Skip)
    assert move.after.status is TaskStatus.SKIPPED


def test_upload_completes_when_everything_is_done() -> None:
    (move,) = snapshots.advance(processing(row("a", TaskStatus.DONE)), NOW, RULES)
    assert isinstance(move, Finish)
    assert move.after.status is UploadStatus.COMPLETED


def test_upload_fails_with_the_first_failure() -> None:
    snapshot = processing(
        row("a", TaskStatus.FAILED, code="late", at=NOW + 9),
        row("b", TaskStatus.FAILED, code="early", at=NOW),
    )
    (move,) = snapshots.advance(snapshot, NOW, RULES)
    assert isinstance(move, Finish)
    assert move.after.failure is not None
    assert move.after.failure.code == "early"


def test_a_half_seen_transaction_does_not_finish_the_upload() -> None:
    torn = processing(row("a", TaskStatus.RUNNING))
    torn = structs.replace(torn, upload=structs.replace(torn.upload, open_tasks=frozenset()))
    assert snapshots.advance(torn, NOW, RULES) == []


def test_failed_ingest_fails_its_upload() -> None:
    failed = row(INGEST, TaskStatus.FAILED, code="not_media")
    snapshot = Snapshot(upload=make_upload(), tasks={INGEST: failed})
    (move,) = snapshots.advance(snapshot, NOW, RULES)
    assert isinstance(move, Finish)
    assert move.after.status is UploadStatus.FAILED


@pytest.mark.parametrize("status", [UploadStatus.COMPLETED, UploadStatus.FAILED, UploadStatus.CANCELLED])
def test_nothing_moves_in_a_finished_upload(status: UploadStatus) -> None:
    snapshot = Snapshot(
        upload=make_upload(status=status), tasks={INGEST: row(INGEST, TaskStatus.FAILED, code="x")}
    )
    assert snapshots.advance(snapshot, NOW, RULES) == []


def test_ingest_exists_before_its_row_does() -> None:
    snapshot = Snapshot(upload=make_upload(), tasks={})
    found = snapshots.task_row(snapshot, INGEST, NOW)
    assert found is not None
    assert (found[0], found[1].status, found[1].lane) == (None, TaskStatus.READY, Lane.EVENTS)
    assert snapshots.task_row(snapshot, "unknown", NOW) is None


def test_unstarted_are_the_ready_tasks_nobody_ever_claimed() -> None:
    fresh, tried = row("a", TaskStatus.READY), structs.replace(row("b", TaskStatus.READY), leases=1)
    assert snapshots.unstarted(processing(fresh, tried)) == [fresh]


def test_every_file_gets_a_transcript_even_a_silent_one() -> None:
    silent = MediaSummary(format="mp4", has_audio=False, has_video=True)
    lanes = [
        [t.lane for t in plans.make_plan(media, named("default")).tasks if t.kind is TaskKind.TRANSCRIBE]
        for media in (MEDIA, silent)
    ]
    assert lanes == [[Lane.SPEECH], [Lane.FAST]]


def test_unknown_profile_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Permanent, match=", ".join(sorted(PROFILES))):
        named("cinema")


@pytest.mark.parametrize(
    "specs",
    [
        [("a", ()), ("a", ())],
        [("a", ("b",)), ("b", ())],
        [(INGEST, ())],
        [(f"t{n}", ()) for n in range(plans.MAX_TASKS + 1)],
    ],
)
def test_plan_that_cannot_work_is_refused(specs: list[tuple[str, tuple[str, ...]]]) -> None:
    graph = tuple(TaskSpec(name=n, kind=TaskKind.TRANSCRIBE, lane="fast", depends_on=d) for n, d in specs)
    with pytest.raises(Permanent):
        plans.checked(Plan(profile="default", tasks=graph))


def test_lease_shorter_than_six_heartbeats_is_refused() -> None:
    with pytest.raises(ValueError, match="six heartbeats"):
        LeaseRules(heartbeat_ms=10_000, lease_ms=59_999)


def test_backoff_doubles_up_to_its_cap_and_jitters_by_half() -> None:
    policy = RetryPolicy(base_ms=1_000, cap_ms=5_000)
    assert [policy.delay_ms(n, lambda: 1.0) for n in (1, 2, 3, 4, 40)] == [1_000, 2_000, 4_000, 5_000, 5_000]
    assert policy.delay_ms(1, lambda: 0.0) == 500


def test_backoff_honours_what_the_server_asked_for_within_the_cap() -> None:
    policy = RetryPolicy(base_ms=1_000, cap_ms=5_000)
    assert policy.delay_ms(1, lambda: 0.0, at_least_ms=3_000) == 3_000
    assert policy.delay_ms(1, lambda: 0.0, at_least_ms=90_000) == 5_000
