"""Claims, leases and what each outcome makes of a task's row."""

import pytest
from msgspec import structs

from reelworks.domain import task as tasks
from reelworks.domain.failure import FailureKind
from reelworks.domain.lease import LeaseRules
from reelworks.domain.outcome import Outputs, Suspend
from reelworks.domain.plan import TaskKind, TaskSpec
from reelworks.domain.task import (
    TRANSITIONS,
    Claimed,
    Exhausted,
    Held,
    Over,
    Task,
    TaskStatus,
    TooEarly,
)
from reelworks.errors import Permanent, Temporary
from tests.unit.core.domain.builders import NOW, UPLOAD_ID, make_claimant, make_task

RULES = LeaseRules()
BROKEN = Temporary("the disk is full", code="disk_full")


def claimed(task: Task, now: int = NOW, name: str = "w1", message: str = "m1") -> Task:
    decision = tasks.claim(task, make_claimant(name, message), now, RULES)
    assert isinstance(decision, Claimed)
    return decision.task


def test_claim_takes_a_lease_and_counts_one_attempt() -> None:
    task = claimed(make_task())
    assert (task.status, task.attempts, task.leases) == (TaskStatus.RUNNING, 1, 1)
    assert task.token == "token-w1-m1"
    assert task.lease_until == NOW + RULES.lease_ms
    assert task.due_at == NOW + RULES.lease_ms + RULES.skew_ms


def test_claim_with_another_message_finds_a_live_lease() -> None:
    decision = tasks.claim(claimed(make_task()), make_claimant("w2", "m2"), NOW + 1, RULES)
    assert decision == Held(until=NOW + RULES.lease_ms + RULES.skew_ms, same_message=False)


def test_claim_with_the_same_message_says_so() -> None:
    decision = tasks.claim(claimed(make_task()), make_claimant("w2", "m1"), NOW + 1, RULES)
    assert isinstance(decision, Held)
    assert decision.same_message


@pytest.mark.parametrize(
    ("late_ms", "taken"), [(0, False), (RULES.skew_ms, False), (RULES.skew_ms + 1, True)]
)
def test_lease_is_taken_over_only_after_the_skew_margin(late_ms: int, taken: bool) -> None:
    decision = tasks.claim(
        claimed(make_task()), make_claimant("w2", "m2"), NOW + RULES.lease_ms + late_ms, RULES
    )
    assert isinstance(decision, Claimed) is taken


def test_takeover_of_the_last_attempt_exhausts_the_task() -> None:
    running = structs.replace(claimed(make_task()), attempts=RULES.max_attempts)
    decision = tasks.claim(running, make_claimant("w2", "m2"), NOW + 10 * RULES.lease_ms, RULES)
    assert isinstance(decision, Exhausted)
    assert decision.task.status is TaskStatus.FAILED
    assert decision.task.failure is not None
    assert decision.task.failure.code == "worker_died"


@pytest.mark.parametrize(
    "status", [TaskStatus.DONE, TaskStatus.SKIPPED, TaskStatus.SUSPENDED, TaskStatus.WAITING]
)
def test_there_is_nothing_to_claim_of_a_task_that_is(status: TaskStatus) -> None:
    assert tasks.claim(make_task(status=status), make_claimant(), NOW, RULES) == Over()


def test_claim_of_an_exhausted_task_leaves_its_row_as_it_is() -> None:
    failed = tasks.retried(
        structs.replace(claimed(make_task()), attempts=RULES.max_attempts), BROKEN, 0, NOW, RULES
    )
    decision = tasks.claim(failed, make_claimant("w2"), NOW, RULES)
    assert isinstance(decision, Exhausted)
    assert decision.task is failed


def test_claim_of_a_permanently_failed_task_is_over() -> None:
    failed = tasks.failed(claimed(make_task()), Permanent("not media"), NOW)
    assert tasks.claim(failed, make_claimant("w2"), NOW, RULES) == Over()


def test_claim_before_the_retry_is_due_is_too_early() -> None:
    waiting = tasks.retried(claimed(make_task()), BROKEN, 5_000, NOW, RULES)
    assert tasks.claim(waiting, make_claimant("w2"), NOW + 4_999, RULES) == TooEarly(until=NOW + 5_000)
    assert isinstance(tasks.claim(waiting, make_claimant("w2"), NOW + 5_000, RULES), Claimed)


def test_heartbeat_moves_lease_and_due_time_and_never_backwards() -> None:
    task = claimed(make_task())
    later = tasks.heartbeat(task, NOW + 10_000, RULES, 0.5)
    assert later.lease_until == NOW + 10_000 + RULES.lease_ms
    assert later.progress == 0.5
    assert tasks.heartbeat(later, NOW - 99_000, RULES, 0.6).lease_until == later.lease_until


def test_done_keeps_the_token_and_drops_the_lease() -> None:
    task = tasks.done(claimed(make_task()), Outputs(prefix="p/"), NOW + 1)
    assert (task.status, task.token, task.lease_until, task.due_at) == (
        TaskStatus.DONE,
        "token-w1-m1",
        None,
        None,
    )


def test_retry_keeps_the_attempt_and_release_gives_it_back() -> None:
    task = claimed(make_task())
    assert tasks.retried(task, BROKEN, 5_000, NOW, RULES).attempts == 1
    given_back = tasks.released(task, NOW)
    assert (given_back.status, given_back.attempts, given_back.leases) == (TaskStatus.READY, 0, 1)
    assert given_back.not_before is None


def test_retry_of_the_last_attempt_fails_for_good_and_says_why() -> None:
    last = structs.replace(claimed(make_task()), attempts=RULES.max_attempts)
    task = tasks.retried(last, BROKEN, 5_000, NOW, RULES)
    assert task.status is TaskStatus.FAILED
    assert task.failure is not None
    assert (task.failure.kind, task.failure.code) == (FailureKind.EXHAUSTED, "disk_full")


def test_suspended_task_is_due_when_its_callback_is() -> None:
    task = tasks.suspended(claimed(make_task()), Suspend(reference="job-1", until=NOW + 99), NOW)
    assert (task.status, task.reference, task.due_at) == (TaskStatus.SUSPENDED, "job-1", NOW + 99)
    lapsed = tasks.lapsed(task, NOW + 99, RULES)
    assert lapsed is not None
    assert lapsed.status is TaskStatus.READY


def test_resending_waits_longer_each_time() -> None:
    first = tasks.resent(make_task(dispatches=1), NOW)
    second = tasks.resent(first, NOW)
    assert (second.due_at or 0) - NOW > (first.due_at or 0) - NOW
    many = tasks.resent(make_task(dispatches=500), NOW)
    assert (many.due_at or 0) - NOW == tasks.MAX_RESEND_MS


def test_live_lease_does_not_lapse() -> None:
    assert tasks.lapsed(claimed(make_task()), NOW + RULES.lease_ms + RULES.skew_ms, RULES) is None


def test_lapsed_lease_makes_the_task_ready_at_once() -> None:
    task = tasks.lapsed(claimed(make_task()), NOW + RULES.lease_ms + RULES.skew_ms + 1, RULES)
    assert task is not None
    assert (task.status, task.attempts, task.not_before) == (TaskStatus.READY, 1, None)


def test_task_without_dependencies_is_planned_ready_and_one_with_waits() -> None:
    ready = tasks.planned(TaskSpec(name="a", kind=TaskKind.TRANSCRIBE, lane="speech"), UPLOAD_ID, NOW)
    waits = tasks.planned(
        TaskSpec(name="b", kind=TaskKind.TRANSCRIBE, lane="speech", depends_on=("a",)), UPLOAD_ID, NOW
    )
    assert (ready.status, waits.status, waits.due_at) == (TaskStatus.READY, TaskStatus.WAITING, None)


def test_error_texts_in_rows_are_bounded_and_printable() -> None:
    task = tasks.failed(claimed(make_task()), Permanent("x\x00" * 500_000), NOW)
    assert task.failure is not None
    assert len(task.failure.message) == 2_000
    assert "\x00" not in task.failure.message


def test_every_status_has_its_row_in_the_transition_table() -> None:
    assert set(TRANSITIONS) == set(TaskStatus)


def test_all_steps_are_in_the_transition_table() -> None:
    ready, running = make_task(), claimed(make_task())
    steps = [
        (ready, running),
        (ready, tasks.resent(ready, NOW)),
        (ready, tasks.skipped(ready, NOW)),
        (running, tasks.heartbeat(running, NOW, RULES, 0)),
        (running, tasks.done(running, Outputs(prefix="p/"), NOW)),
        (running, tasks.failed(running, Permanent("no"), NOW)),
        (running, tasks.released(running, NOW)),
        (running, tasks.retried(running, BROKEN, 0, NOW, RULES)),
        (running, tasks.suspended(running, Suspend(reference="r", until=NOW), NOW)),
        (make_task(status=TaskStatus.WAITING), tasks.promoted(make_task(status=TaskStatus.WAITING), NOW)),
    ]
    for before, after in steps:
        assert after.status in TRANSITIONS[before.status]
