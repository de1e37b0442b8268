"""Several workers with skewed clocks fight over one task: never two live owners, no write by a stale one, progress.

Reading a row and writing it are separate steps here, so every interleaving of two claims, a heartbeat and a takeover,
a pause and a commit can happen. The store is the in-memory one; its contract tests hold the real one to the same.
"""

from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from reelworks.domain import task as tasks
from reelworks.domain.lease import LeaseRules
from reelworks.domain.outcome import Outputs
from reelworks.domain.plan import Plan, TaskKind, TaskSpec
from reelworks.domain.task import Claimant, Claimed, Task, TaskStatus
from reelworks.domain.upload import UploadStatus
from reelworks.errors import Conflict, LeaseLost, Temporary
from reelworks.ports import Guard
from reelworks.testing import FakeClock, InMemoryUploadStore
from tests.unit.core.domain.builders import NOW, UPLOAD_ID, make_task, make_upload

RULES = LeaseRules(heartbeat_ms=1_000, lease_ms=6_000, skew_ms=2_000, max_attempts=3)
NAMES = ("w1", "w2", "w3")
PAUSES = st.sampled_from([0, 0, 1, 900, 1_900, 3_000, 5_900]) | st.integers(0, 6_000)
BROKEN = Temporary("it broke", code="broke")


@dataclass
class Worker:
    """`offset`: its clock minus the true one. `held`: the row as it last wrote it. `read`: a claim half way."""

    name: str
    offset: int
    held: Task | None = None
    read: tuple[Task, Task] | None = None
    tokens: int = 0

    def clock(self, true_time: int) -> int:
        return true_time + self.offset

    def believes(self, true_time: int) -> bool:
        return self.held is not None and self.clock(true_time) < (self.held.lease_until or 0)


class LeaseMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.time = NOW
        self.store = InMemoryUploadStore(FakeClock())
        self.crew: dict[str, Worker] = {}
        self.commits: list[str] = []
        spec = TaskSpec(name="transcribe", kind=TaskKind.TRANSCRIBE, lane="speech")
        upload = make_upload(
            status=UploadStatus.PROCESSING,
            plan=Plan(profile="default", tasks=(spec,)),
            open_tasks=frozenset({"transcribe"}),
        )
        self.store.create(upload)
        self.store.write_task(None, make_task(), Guard.UNCHANGED)

    @initialize(offsets=st.tuples(*(st.integers(-1_000, 1_000) for _ in NAMES)))
    def hire(self, offsets: tuple[int, ...]) -> None:
        """Clocks differ from the truth by up to half the margin, so from each other by up to the margin."""
        self.crew = {n: Worker(name=n, offset=o) for n, o in zip(NAMES, offsets, strict=True)}
        self.claim_at_once("w1", "m1")

    def row(self) -> Task:
        snapshot = self.store.load(UPLOAD_ID)
        assert snapshot is not None
        return snapshot.tasks["transcribe"]

    @rule(name=st.sampled_from(NAMES), message=st.sampled_from(["m1", "m2"]), pause=PAUSES)
    def read_and_decide(self, name: str, message: str, pause: int = 0) -> None:
        """A message arrives (again); the write comes later, or never."""
        self.time += pause
        worker = self.crew[name]
        worker.tokens += 1
        row = self.row()
        claimant = Claimant(worker=name, token=f"{name}-{worker.tokens}", message_id=message)
        decision = tasks.claim(row, claimant, worker.clock(self.time), RULES)
        worker.read = (row, decision.task) if isinstance(decision, Claimed) else None

    @rule(name=st.sampled_from(NAMES), twice=st.booleans(), pause=PAUSES)
    def write_the_claim(self, name: str, twice: bool, pause: int = 0) -> None:
        """`twice`: the first answer was lost and the SDK asks again."""
        self.time += pause
        worker = self.crew[name]
        if worker.read is None:
            return
        before, after = worker.read
        worker.read = None
        # A lease counts from before the claim was read; a claim that took too long to write is not believed.
        try:
            for _ in range(1 + twice):
                self.store.write_task(before, after, Guard.UNCHANGED)
        except Conflict:
            return
        worker.held = after

    @rule(name=st.sampled_from(NAMES), message=st.sampled_from(["m1", "m2"]), pause=PAUSES)
    def claim_at_once(self, name: str, message: str, pause: int = 0) -> None:
        self.time += pause
        self.read_and_decide(name, message)
        self.write_the_claim(name, twice=False)

    @rule(name=st.sampled_from(NAMES), pause=PAUSES)
    def heartbeat(self, name: str, pause: int = 0) -> None:
        self.time += pause
        worker = self.crew[name]
        if worker.held is None or not worker.believes(self.time):
            return
        after = tasks.heartbeat(worker.held, worker.clock(self.time), RULES, 0.5)
        try:
            self.store.write_task(worker.held, after, Guard.OWNED)
        except (LeaseLost, Conflict):
            worker.held = None
        else:
            worker.held = after

    @rule(name=st.sampled_from(NAMES), ending=st.sampled_from(["done", "retry", "release"]), pause=PAUSES)
    def end(self, name: str, ending: str, pause: int = 0) -> None:
        """Whether it still believes in its lease or was paused for an hour: only the token decides."""
        self.time += pause
        worker = self.crew[name]
        if worker.held is None:
            return
        held, owner = worker.held, self.row().token == worker.held.token
        running = self.row().status is TaskStatus.RUNNING
        worker.held = None
        try:
            self.write_end(held, worker.clock(self.time), ending)
        except (LeaseLost, Conflict):
            assert not (owner and running), "the owner was refused"
        else:
            assert owner, "a stale worker wrote"
            if ending == "done":
                self.commits.append(held.token or "")

    def write_end(self, held: Task, now: int, ending: str) -> None:
        if ending == "done":
            self.store.close_task(held, tasks.done(held, Outputs(prefix=f"{held.token}/"), now), Guard.OWNED)
        elif ending == "release":
            self.store.write_task(held, tasks.released(held, now), Guard.OWNED)
        else:
            after = tasks.retried(held, BROKEN, 100, now, RULES)
            write = self.store.close_task if after.status in tasks.CLOSED else self.store.write_task
            write(held, after, Guard.OWNED)

    @rule(offset=st.integers(-1_000, 1_000), pause=PAUSES)
    def sweep(self, offset: int, pause: int = 0) -> None:
        self.time += pause
        row = self.row()
        after = tasks.lapsed(row, self.time + offset, RULES)
        if after is not None:
            write = self.store.close_task if after.status in tasks.CLOSED else self.store.write_task
            write(row, after, Guard.UNCHANGED)

    @rule(name=st.sampled_from(NAMES), pause=PAUSES)
    def die(self, name: str, pause: int = 0) -> None:
        self.time += pause
        self.crew[name].held = None
        self.crew[name].read = None

    @invariant()
    def never_two_live_owners(self) -> None:
        live = [w.name for w in self.crew.values() if w.believes(self.time)]
        assert len(live) <= 1, live

    @invariant()
    def committed_at_most_once_and_by_the_row(self) -> None:
        assert len(self.commits) <= 1
        row = self.row()
        if row.status is TaskStatus.DONE:
            assert row.outputs is not None
            assert row.outputs.prefix == f"{row.token}/"
            assert self.commits == [row.token]

    @invariant()
    def attempts_never_pass_the_limit(self) -> None:
        assert self.row().attempts <= RULES.max_attempts

    @invariant()
    def somebody_will_look(self) -> None:
        row = self.row()
        assert (row.due_at is None) == (row.status in tasks.CLOSED)

    def teardown(self) -> None:
        """Progress: whatever happened, one healthy worker and the clock finish the task."""
        for _ in range(20):
            row = self.row()
            if row.status in tasks.CLOSED:
                return
            self.time += RULES.lease_ms + RULES.skew_ms + 1_001
            claimant = Claimant(worker="last", token=f"last-{self.time}", message_id="m9")
            decision = tasks.claim(row, claimant, self.time, RULES)
            if isinstance(decision, Claimed):
                self.store.write_task(row, decision.task, Guard.UNCHANGED)
                done = tasks.done(decision.task, Outputs(prefix="last/"), self.time)
                self.store.close_task(decision.task, done, Guard.OWNED)
            else:
                self.sweep(0)
        pytest.fail(f"no progress: {self.row()}")


TestLeases = LeaseMachine.TestCase
TestLeases.settings = settings(max_examples=500, stateful_step_count=50, deadline=None)
