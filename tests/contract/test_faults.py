"""Between the adapters and botocore: what is Unreachable, what a lost answer does, and what a killed process leaves."""

from collections.abc import Callable
from pathlib import Path

import pytest

from reelworks.adapters.wiring import Adapters
from reelworks.domain import task as tasks
from reelworks.domain import upload as uploads
from reelworks.domain.plan import ObjectFacts
from reelworks.errors import Unreachable
from reelworks.ports import Guard, IdempotencyKey
from reelworks.runtime.cancellation import Cancellation
from reelworks.testing import Fault, FaultInjector, Killed
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
    upload,
)
from tests.contract.worlds import Emulated

Step = Callable[[Adapters], None]


def faulty(emulated: Emulated, injector: FaultInjector) -> Adapters:
    return Adapters.from_clients(injector.wrap(emulated.clients), emulated.settings)


def create(ports: Adapters) -> Step:
    row = upload()
    return lambda faulty: _ignore(faulty.store.create(row))


def create_with_key(ports: Adapters) -> Step:
    row = upload()
    key = IdempotencyKey(user_id="ann", key="k", fingerprint="f", expires_at=ports.clock.now() + 60_000)
    return lambda faulty: _ignore(faulty.store.create(row, key))


def write_upload(ports: Adapters) -> Step:
    row = upload()
    ports.store.create(row)
    return lambda faulty: faulty.store.write_upload(row, uploads.cancelled(row, T0, WATCH))


def finish_upload(ports: Adapters) -> Step:
    row, _ = processing(ports.store)
    return lambda faulty: faulty.store.finish_upload(row, uploads.completed(row, T0, WATCH))


def claim(ports: Adapters) -> Step:
    before = processing(ports.store, "a")[1]["a"]
    return lambda faulty: faulty.store.write_task(before, claimed(before), Guard.UNCHANGED)


def first_claim(ports: Adapters) -> Step:
    row = upload()
    ports.store.create(row)
    task = claimed(tasks.ingest(row.upload_id, T0))
    return lambda faulty: faulty.store.write_task(None, task, Guard.UNCHANGED)


def heartbeat(ports: Adapters) -> Step:
    row = upload()
    ports.store.create(row)
    task = running_ingest(ports.store, row)
    after = tasks.heartbeat(task, T0 + 10, RULES, 0.5)
    return lambda faulty: faulty.store.write_task(task, after, Guard.OWNED)


def close(ports: Adapters) -> Step:
    before = processing(ports.store, "a")[1]["a"]
    task = claimed(before)
    ports.store.write_task(before, task, Guard.UNCHANGED)
    return lambda faulty: faulty.store.close_task(task, tasks.done(task, OUTPUTS, T0 + 1), Guard.OWNED)


def accept(ports: Adapters) -> Step:
    row = upload()
    ports.store.create(row)
    ingest = running_ingest(ports.store, row)
    rows = [tasks.planned(spec, row.upload_id, T0) for spec in plan("a", "b").tasks]
    done = tasks.done(ingest, OUTPUTS, T0 + 1)
    return lambda faulty: faulty.store.accept_plan(row, accepted(row, "a", "b"), (ingest, done), rows)


def _ignore(_: object) -> None:
    return None


WRITES = [create, create_with_key, write_upload, finish_upload, claim, first_claim, heartbeat, close, accept]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("fault", [Fault.BEFORE, Fault.AFTER], ids=lambda f: f.value)
def test_a_write_that_got_no_answer_succeeds_when_it_is_tried_again(
    emulated: Emulated, write: Callable[[Adapters], Step], fault: Fault
) -> None:
    injector = FaultInjector(at=1, fault=fault)
    ports = faulty(emulated, injector)
    step = write(Adapters.from_clients(emulated.clients, emulated.settings))
    with pytest.raises(Unreachable):
        step(ports)
    step(ports)
    assert injector.fired == injector.calls[0]


@pytest.mark.parametrize("fault", [Fault.KILL_BEFORE, Fault.KILL_AFTER], ids=lambda f: f.value)
def test_a_killed_process_does_nothing_more_and_its_successor_goes_on(
    emulated: Emulated, fault: Fault
) -> None:
    injector = FaultInjector(at=1, fault=fault)
    dying, row = faulty(emulated, injector), upload()
    for _ in range(2):
        with pytest.raises(Killed):
            dying.store.create(row)
    assert injector.killed
    assert (emulated.ports.store.load(row.upload_id) is not None) is fault.sends

    injector.restart()
    heir = faulty(emulated, injector)
    heir.store.create(row)
    with pytest.raises(Killed):
        dying.queue.ping()
    heir.queue.ping()


def test_every_call_counts_and_signing_does_not(emulated: Emulated, tmp_path: Path) -> None:
    injector = FaultInjector()
    ports = faulty(emulated, injector)
    ports.raw.sign_put("k", "video/mp4", None, 60)
    ports.raw.sign_get("k", 60)
    assert injector.calls == []
    ports.raw.put("k", b"x", "text/plain")
    ports.queue.send("fast", "body")
    ports.store.load("0" * 32)
    assert [tuple(call) for call in injector.calls] == [
        ("s3", "put_object"),
        ("sqs", "get_queue_url"),
        ("sqs", "send_message"),
        ("dynamodb", "query"),
    ]


PORT_CALLS: list[Callable[[Adapters, Path], object]] = [
    lambda ports, _: ports.queue.receive("fast", 1, 0, 30),
    lambda ports, _: ports.queue.send("fast", "body"),
    lambda ports, _: ports.queue.depths(),
    lambda ports, _: ports.raw.head("k"),
    lambda ports, _: ports.raw.get("k", 10),
    lambda ports, _: ports.raw.put("k", b"x", "text/plain"),
    lambda ports, path: ports.raw.download("k", ObjectFacts(size_bytes=1, etag='"e"'), path, Cancellation()),
    lambda ports, _: list(ports.raw.list("k")),
    lambda ports, _: ports.raw.delete(["k"]),
    lambda ports, _: ports.store.load("0" * 32),
    lambda ports, _: ports.store.due(0, T0, 10),
]


@pytest.mark.parametrize("call", PORT_CALLS)
@pytest.mark.parametrize("fault", [Fault.BEFORE, Fault.AFTER], ids=lambda f: f.value)
def test_no_answer_is_unreachable(
    emulated: Emulated, tmp_path: Path, call: Callable[[Adapters, Path], object], fault: Fault
) -> None:
    with pytest.raises(Unreachable):
        call(faulty(emulated, FaultInjector(at=1, fault=fault)), tmp_path / "file")
