"""A whole installation in one process under a clock that is moved by hand: moto answers boto3, time-machine moves
the time that it sees, and each incarnation of worker and janitor gets clients that the fault injector has wrapped.

Real: the adapters, botocore, the handlers, ffmpeg. Not real: AWS, the passing of time, the speech engine.
"""

import functools
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import time_machine
from msgspec import structs

from dlq_janitor.repairs import Repairs
from dlq_janitor.sweep import Sweep
from reelworks.adapters.clients import Clients
from reelworks.adapters.wiring import Adapters
from reelworks.domain.instants import SECOND_MS, Millis
from reelworks.domain.lease import LeaseRules, RetryPolicy
from reelworks.domain.outcome import Outcome
from reelworks.domain.plan import TaskKind
from reelworks.domain.snapshot import Snapshot
from reelworks.embedded.bootstrap import create_resources
from reelworks.errors import ReelworksError
from reelworks.ports import Received
from reelworks.runtime.metrics import Metrics
from reelworks.runtime.settings import Aws, Dynamodb, Settings, Speech
from reelworks.runtime.settings import Sweep as SweepSettings
from reelworks.testing import FaultInjector, Killed
from reelworks.workflow.graph import Workflow
from worker import bootstrap
from worker.acknowledgement import Acknowledger
from worker.attempt import Attempts
from worker.processor import Processor
from worker.scratch import Scratch
from worker.work import Handler, Work

RULES = LeaseRules(heartbeat_ms=5_000, lease_ms=30_000, skew_ms=2_000, max_attempts=3)
POLICY = RetryPolicy(base_ms=4_000, cap_ms=8_000)
LANES = ("events", "speech", "fast")
STEP_S = 20.0
LONGEST_S = 6 * 3_600.0
SETTINGS = Settings(
    sqs=structs.replace(Settings().sqs, lanes=LANES),
    dynamodb=Dynamodb(shards=1),
    speech=Speech(provider="fake", fake_text="hello world"),
    sweep=SweepSettings(orphans_after_s=400),
)


@functools.cache
def clients() -> Clients:
    """Stateless, and dear to make: once a test process."""
    return Clients.from_settings(SETTINGS, ("test", "test"))


class WarpClock:
    """The time that time-machine shows; sleeping moves it."""

    def __init__(self, traveller: time_machine.Traveller) -> None:
        self._traveller = traveller
        self.passed = 0.0

    def now(self) -> Millis:

        return int(time.time() * SECOND_MS)

    def monotonic(self) -> float:
        return self.passed

    def sleep(self, seconds: float) -> None:
        self.passed += seconds
        self._traveller.shift(seconds)


@dataclass
class Installation:
    """One worker and one janitor that are restarted when they die. `transcribe` may replace the real handler."""

    clock: WarpClock
    scratch: Path
    injector: FaultInjector
    transcribe: Callable[[Handler, Work], Outcome] | None = None
    runs: Counter[str] = field(default_factory=Counter)
    deaths: int = 0

    def __post_init__(self) -> None:
        self.clients = clients()
        # The guard asks for an endpoint that is not Amazon's; moto stands in front of Amazon's own.
        create_resources(self.clients, structs.replace(SETTINGS, aws=Aws(endpoint_url="http://moto.invalid")))
        self.truth = Adapters.from_clients(self.clients, SETTINGS, self.clock)
        self.start()

    def start(self) -> None:
        """New processes: nothing in memory, new clients."""
        self.injector.restart()
        self.adapters = Adapters.from_clients(self.injector.wrap(self.clients), SETTINGS, self.clock)
        flow = Workflow(
            store=self.adapters.store,
            queue=self.adapters.queue,
            events=self.adapters.events,
            clock=self.clock,
            metrics=Metrics(),
            watch=SETTINGS.sweep.rules(),
        )
        attempts = Attempts(flow, self.handlers(), Scratch(str(self.scratch)), rules=RULES, policy=POLICY)
        acknowledger = Acknowledger(flow.queue, flow.metrics)
        self.processor = Processor(flow, attempts, acknowledger, rules=RULES, worker_id=f"w{self.deaths}")
        repairs = Repairs(flow=flow, raw=self.adapters.raw, media=self.adapters.media, rules=RULES)
        self.sweep = Sweep(repairs, batch=100, max_rows=100)

    def handlers(self) -> dict[TaskKind, Handler]:
        real = bootstrap.handlers(SETTINGS, self.adapters, Metrics())
        return {kind: partial(self._counted, handler) for kind, handler in real.items()}

    def _counted(self, handler: Handler, work: Work) -> Outcome:
        self.runs[f"{work.task.name}/{work.task.token}"] += 1
        if work.task.kind is TaskKind.TRANSCRIBE and self.transcribe is not None:
            return self.transcribe(handler, work)
        return handler(work)

    def alive(self, step: Callable[[], bool]) -> bool:
        """Do something as the process that may die of it."""
        try:
            return step()
        except Killed:
            self.deaths += 1
            self.start()
            return True

    def poll(self) -> bool:
        """One round over the lanes; whether there was anything."""
        found = False
        for lane in LANES:
            for message in self._received(lane):
                self.processor.handle(message)
                found = True
        return found

    def _received(self, lane: str) -> list[Received]:

        try:
            return self.adapters.queue.receive(lane, 1, 0, RULES.visibility_ms() // SECOND_MS)
        except ReelworksError:
            return []

    def repair(self) -> bool:
        """One pass of the janitor."""

        try:
            self.sweep.run()
        except ReelworksError:
            return False
        return False

    def run_until_quiet(self, upload_id: str) -> Snapshot:
        """Work, repair and let time pass until nobody has anything to do for this upload any more."""
        while self.clock.passed < LONGEST_S:
            while self.alive(self.poll):
                pass
            snapshot = self.truth.store.load(upload_id)
            if snapshot is not None and self.quiet(snapshot):
                return snapshot
            self.clock.sleep(self.until_due_s(snapshot))
            self.alive(self.repair)
        raise AssertionError(f"never quiet: {self.truth.store.load(upload_id)} {self.truth.queue.depths()}")

    def quiet(self, snapshot: Snapshot) -> bool:
        """No message anywhere but in the dead-letter queue, and no row that anybody watches."""
        return self.empty() and snapshot.upload.due_at is None and not _watched(snapshot)

    def empty(self) -> bool:
        depths = self.truth.queue.depths()
        return all(d.visible + d.in_flight + d.delayed == 0 for lane, d in depths.items() if lane != "dlq")

    def until_due_s(self, snapshot: Snapshot | None) -> float:
        """The next step, or, if nothing can happen before, right to when the janitor looks at the upload."""
        if snapshot is None or snapshot.upload.due_at is None or _watched(snapshot) or not self.empty():
            return STEP_S
        return max(STEP_S, (snapshot.upload.due_at - self.clock.now()) / SECOND_MS + 1)


def _watched(snapshot: Snapshot) -> bool:
    return any(task.due_at for task in snapshot.tasks.values())
