"""UploadStore: the guards of task writes, and transactions over tasks and their upload."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec import structs

from reelworks.domain import task as tasks
from reelworks.domain import upload as uploads
from reelworks.domain.plan import MAX_TASKS
from reelworks.domain.task import Task, TaskStatus
from reelworks.domain.upload import UploadStatus
from reelworks.errors import Conflict, LeaseLost, Permanent, Temporary
from reelworks.ports import Guard
from tests.contract.samples import (
    OUTPUTS,
    RULES,
    T0,
    WATCH,
    accepted,
    claimed,
    plan,
    processing,
    running_ingest,
    stored_task,
    stored_upload,
    upload,
)
from tests.contract.worlds import AnyPorts, World

GONE_WRONG = Temporary("The network hiccuped.", code="hiccup")


def ready(ports: AnyPorts, name: str = "a") -> Task:
    """A stored READY task."""
    return processing(ports.store, name)[1][name]


def running(ports: AnyPorts) -> Task:
    """A stored RUNNING task, ours."""
    before = ready(ports)
    task = claimed(before)
    ports.store.write_task(before, task, Guard.UNCHANGED)
    return task


def taken_over(ports: AnyPorts, task: Task) -> Task:
    """The same task, leased to somebody else after our lease ran out."""
    other = claimed(task, "token-2", (task.lease_until or 0) + RULES.skew_ms + 1)
    ports.store.write_task(task, other, Guard.UNCHANGED)
    return other


def test_a_claim_is_stored(ports: AnyPorts) -> None:
    task = running(ports)
    assert stored_task(ports.store, task) == task


def test_of_two_claims_one_is_refused(ports: AnyPorts) -> None:
    before = ready(ports)
    ports.store.write_task(before, claimed(before, "mine"), Guard.UNCHANGED)
    with pytest.raises(Conflict):
        ports.store.write_task(before, claimed(before, "yours"), Guard.UNCHANGED)
    assert stored_task(ports.store, before).token == "mine"


def test_of_eight_claims_at_once_one_succeeds(world: World) -> None:
    ports = world.ports
    before = ready(ports)

    def attempt(number: int) -> bool:
        try:
            ports.store.write_task(before, claimed(before, f"token-{number}"), Guard.UNCHANGED)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(world.emulation.writers) as pool:
        assert sum(pool.map(attempt, range(8))) == 1


def test_a_claim_whose_answer_was_lost_is_recognised_by_its_token(ports: AnyPorts) -> None:
    before = ready(ports)
    task = claimed(before)
    ports.store.write_task(before, task, Guard.UNCHANGED)
    ports.store.write_task(before, task, Guard.UNCHANGED)


def test_the_first_claim_of_an_ingest_makes_its_row(ports: AnyPorts) -> None:
    row = upload()
    ports.store.create(row)
    task = running_ingest(ports.store, row)
    ports.store.write_task(None, task, Guard.UNCHANGED)
    with pytest.raises(Conflict):
        ports.store.write_task(None, claimed(tasks.ingest(row.upload_id, T0), "yours"), Guard.UNCHANGED)
    assert stored_task(ports.store, task) == task


@pytest.mark.parametrize("changed", ["due_at", "status"])
def test_an_unchanged_guard_sees_every_move(ports: AnyPorts, changed: str) -> None:
    before = ready(ports)
    moves = {"due_at": tasks.resent(before, T0 + 1), "status": tasks.skipped(before, T0 + 1)}
    ports.store.write_task(before, moves[changed], Guard.UNCHANGED)
    with pytest.raises(Conflict):
        ports.store.write_task(before, claimed(before), Guard.UNCHANGED)


def test_a_heartbeat_is_stored_however_often_it_is_sent(ports: AnyPorts) -> None:
    task = running(ports)
    beat = tasks.heartbeat(task, T0 + 10_000, RULES, 0.123456789)
    ports.store.write_task(task, beat, Guard.OWNED)
    ports.store.write_task(task, beat, Guard.OWNED)
    assert stored_task(ports.store, task) == beat


def test_an_owner_need_not_know_the_due_time_of_its_row(ports: AnyPorts) -> None:
    task = running(ports)
    beat = tasks.heartbeat(task, T0 + 10_000, RULES, 0.5)
    ports.store.write_task(task, beat, Guard.OWNED)
    # As after a heartbeat whose answer was lost: the next one starts from the older row.
    later = tasks.heartbeat(task, T0 + 20_000, RULES, 0.6)
    ports.store.write_task(task, later, Guard.OWNED)
    assert stored_task(ports.store, task) == later


def test_a_stale_owner_loses_its_lease_and_writes_nothing(ports: AnyPorts) -> None:
    task = running(ports)
    other = taken_over(ports, task)
    with pytest.raises(LeaseLost):
        ports.store.write_task(task, tasks.heartbeat(task, T0 + 99, RULES, 0.9), Guard.OWNED)
    with pytest.raises(LeaseLost):
        ports.store.close_task(task, tasks.done(task, OUTPUTS, T0 + 99), Guard.OWNED)
    assert stored_task(ports.store, task) == other
    assert stored_upload(ports.store, upload(upload_id=task.upload_id)).open_tasks == {"a"}


def test_a_lease_that_a_sweep_took_away_is_lost(ports: AnyPorts) -> None:
    task = running(ports)
    swept = tasks.lapsed(task, (task.due_at or 0) + 1, RULES)
    assert swept is not None
    ports.store.write_task(task, swept, Guard.UNCHANGED)
    with pytest.raises(LeaseLost):
        ports.store.write_task(task, tasks.heartbeat(task, T0 + 99, RULES, 0.9), Guard.OWNED)


def test_the_last_word_of_an_attempt_is_recognised_when_its_answer_was_lost(ports: AnyPorts) -> None:
    task = running(ports)
    after = tasks.retried(task, GONE_WRONG, 5_000, T0 + 10, RULES)
    ports.store.write_task(task, after, Guard.OWNED)
    ports.store.write_task(task, after, Guard.OWNED)
    assert stored_task(ports.store, task) == after


def test_a_late_heartbeat_does_not_move_the_lease_back(ports: AnyPorts) -> None:
    """It timed out, a later one was stored, and only then it arrived."""
    task = running(ports)
    late = tasks.heartbeat(task, T0 + 10_000, RULES, 0.1)
    current = tasks.heartbeat(task, T0 + 20_000, RULES, 0.2)
    ports.store.write_task(task, current, Guard.OWNED)
    with pytest.raises(LeaseLost):
        ports.store.write_task(task, late, Guard.OWNED)
    assert stored_task(ports.store, task) == current


def test_a_task_that_is_not_there_cannot_be_owned(ports: AnyPorts) -> None:
    row = upload()
    ports.store.create(row)
    task = claimed(tasks.ingest(row.upload_id, T0))
    with pytest.raises(LeaseLost):
        ports.store.write_task(task, tasks.heartbeat(task, T0, RULES, 0.0), Guard.OWNED)


def test_a_closed_task_leaves_the_open_tasks_with_the_same_write(ports: AnyPorts) -> None:
    row, planned = processing(ports.store, "a", "b")
    task = claimed(planned["a"])
    ports.store.write_task(planned["a"], task, Guard.UNCHANGED)
    after = tasks.done(task, OUTPUTS, T0 + 10)
    ports.store.close_task(task, after, Guard.OWNED)
    assert stored_task(ports.store, task) == after
    assert stored_upload(ports.store, row).open_tasks == {"b"}


def test_closing_twice_is_closing_once(ports: AnyPorts) -> None:
    task = running(ports)
    ports.store.close_task(task, tasks.done(task, OUTPUTS, T0 + 10), Guard.OWNED)
    # The second try is a little later and so is not the same request to the byte.
    ports.store.close_task(task, tasks.done(task, OUTPUTS, T0 + 20), Guard.OWNED)
    assert stored_task(ports.store, task).finished_at == T0 + 10


def test_a_refused_close_leaves_the_open_tasks_alone(ports: AnyPorts) -> None:
    before = ready(ports)
    ports.store.write_task(before, claimed(before), Guard.UNCHANGED)
    with pytest.raises(Conflict):
        ports.store.close_task(before, tasks.skipped(before, T0 + 1), Guard.UNCHANGED)
    assert stored_upload(ports.store, upload(upload_id=before.upload_id)).open_tasks == {"a"}


def test_closing_a_task_whose_upload_is_gone_is_refused_and_leaves_the_task(ports: AnyPorts) -> None:
    orphan = claimed(tasks.ingest("f" * 32, T0))
    ports.store.write_task(None, orphan, Guard.UNCHANGED)
    failed = tasks.failed(orphan, Permanent("No."), T0 + 1)
    with pytest.raises(Conflict):
        ports.store.close_task(orphan, failed, Guard.UNCHANGED)
    ports.store.write_task(orphan, failed, Guard.OWNED)


def test_eight_tasks_that_close_at_once_leave_no_open_task(world: World) -> None:
    ports = world.ports
    names = [f"video-{n:03}" for n in range(8)]
    row, planned = processing(ports.store, *names)

    def close(name: str) -> None:
        ports.store.close_task(planned[name], tasks.skipped(planned[name], T0 + 5), Guard.UNCHANGED)

    with ThreadPoolExecutor(world.emulation.writers) as pool:
        list(pool.map(close, names))
    snapshot = ports.store.load(row.upload_id)
    assert snapshot is not None
    assert snapshot.upload.open_tasks == frozenset()
    assert all(snapshot.tasks[name].status is TaskStatus.SKIPPED for name in names)
    ports.store.finish_upload(snapshot.upload, uploads.completed(snapshot.upload, T0 + 9, WATCH))


def test_a_plan_is_stored_with_all_its_rows(ports: AnyPorts) -> None:
    row, planned = processing(ports.store, "a", "b")
    snapshot = ports.store.load(row.upload_id)
    assert snapshot is not None
    assert snapshot.upload == row
    assert {name: snapshot.tasks[name] for name in ("a", "b")} == planned
    assert snapshot.tasks["ingest"].status is TaskStatus.DONE


def test_the_largest_plan_fits_one_transaction(ports: AnyPorts) -> None:
    names = [f"video-{n:03}" for n in range(MAX_TASKS)]
    row, _ = processing(ports.store, *names)
    assert len(stored_upload(ports.store, row).open_tasks) == MAX_TASKS


def test_accepting_twice_is_accepting_once(ports: AnyPorts) -> None:
    before = upload()
    ports.store.create(before)
    ingest = running_ingest(ports.store, before)
    specs = plan("a").tasks
    for now in (T0 + 1, T0 + 2):
        rows = [tasks.planned(spec, before.upload_id, now) for spec in specs]
        ports.store.accept_plan(
            before, accepted(before, "a"), (ingest, tasks.done(ingest, OUTPUTS, now)), rows
        )
    snapshot = ports.store.load(before.upload_id)
    assert snapshot is not None
    assert snapshot.tasks["a"].created_at == T0 + 1


def test_accepting_is_recognised_even_after_the_upload_went_on(ports: AnyPorts) -> None:
    before = upload()
    ports.store.create(before)
    ingest = running_ingest(ports.store, before)
    after, done = accepted(before), tasks.done(ingest, OUTPUTS, T0 + 1)
    ports.store.accept_plan(before, after, (ingest, done), [])
    ports.store.finish_upload(after, uploads.completed(after, T0 + 2, WATCH))
    ports.store.accept_plan(before, after, (ingest, done), [])
    assert stored_upload(ports.store, before).status is UploadStatus.COMPLETED


def test_a_plan_for_an_upload_that_was_cancelled_meanwhile_is_refused_whole(ports: AnyPorts) -> None:
    before = upload()
    ports.store.create(before)
    ingest = running_ingest(ports.store, before)
    ports.store.write_upload(before, uploads.cancelled(before, T0 + 1, WATCH))
    rows = [tasks.planned(spec, before.upload_id, T0) for spec in plan("a").tasks]
    with pytest.raises(Conflict):
        ports.store.accept_plan(
            before, accepted(before, "a"), (ingest, tasks.done(ingest, OUTPUTS, T0 + 1)), rows
        )
    snapshot = ports.store.load(before.upload_id)
    assert snapshot is not None
    assert snapshot.tasks == {"ingest": ingest}
    assert snapshot.upload.plan is None


def test_a_plan_of_an_ingest_that_lost_its_lease_is_refused_whole(ports: AnyPorts) -> None:
    before = upload()
    ports.store.create(before)
    ingest = running_ingest(ports.store, before)
    other = taken_over(ports, ingest)
    rows = [tasks.planned(spec, before.upload_id, T0) for spec in plan("a").tasks]
    with pytest.raises(LeaseLost):
        ports.store.accept_plan(
            before, accepted(before, "a"), (ingest, tasks.done(ingest, OUTPUTS, T0 + 1)), rows
        )
    snapshot = ports.store.load(before.upload_id)
    assert snapshot is not None
    assert snapshot.tasks == {"ingest": other}
    assert snapshot.upload == before


def test_a_plan_never_overwrites_a_task(ports: AnyPorts) -> None:
    before = upload()
    ports.store.create(before)
    ingest = running_ingest(ports.store, before)
    there = tasks.planned(plan("a").tasks[0], before.upload_id, T0 - 5)
    ports.store.write_task(None, there, Guard.UNCHANGED)
    rows = [tasks.planned(spec, before.upload_id, T0) for spec in plan("a").tasks]
    with pytest.raises(Conflict):
        ports.store.accept_plan(
            before, accepted(before, "a"), (ingest, tasks.done(ingest, OUTPUTS, T0 + 1)), rows
        )
    assert stored_task(ports.store, there) == there


def test_every_field_of_a_task_comes_back(ports: AnyPorts) -> None:
    task = running(ports)
    full = structs.replace(
        tasks.failed(task, Permanent("x" * 5_000, code="c"), T0 + 1),
        reference="job/1",
        outputs=OUTPUTS,
        depends_on=("b", "c"),
        progress=0.1,
        not_before=T0,
    )
    ports.store.write_task(task, full, Guard.OWNED)
    assert stored_task(ports.store, task) == full
