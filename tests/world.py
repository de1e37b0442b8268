"""One isolated installation on an emulator, and a worker whose work each test scripts.

Buckets, queues and table get names of their own, so tests share a server and nothing else.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs

from dlq_janitor.repairs import Repairs
from dlq_janitor.sweep import Sweep
from reelworks.adapters.clients import Clients
from reelworks.adapters.wiring import Adapters
from reelworks.domain import task as tasks
from reelworks.domain.lease import LeaseRules, RetryPolicy
from reelworks.domain.outcome import Done, Outcome, Outputs
from reelworks.domain.plan import Lane, TaskKind
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.task import Task
from reelworks.domain.upload import Upload, UploadStatus
from reelworks.embedded.bootstrap import create_resources
from reelworks.ports import Depth, Guard, Received, TaskQueue
from reelworks.runtime.metrics import Metrics
from reelworks.runtime.settings import Settings
from reelworks.workflow.graph import Workflow
from tests.servers import KEYS, settings_for
from tests.unit.core.domain.builders import PLAN, make_claimant, make_task, make_upload
from worker.acknowledgement import Acknowledger
from worker.attempt import Attempts
from worker.processor import Processor
from worker.scratch import Scratch
from worker.verdict import Verdict
from worker.work import Handler, Work

RULES = LeaseRules(heartbeat_ms=1_000, lease_ms=30_000, skew_ms=1_000)
POLICY = RetryPolicy(base_ms=8_000, cap_ms=60_000)


class RecordingQueue:
    """Passes everything on, and remembers what was asked of it."""

    def __init__(self, queue: TaskQueue) -> None:
        self._queue = queue
        self.calls: list[tuple[str, object]] = []

    def receive(self, lane: str, limit: int, wait_seconds: int, visibility_seconds: int) -> list[Received]:
        return self._queue.receive(lane, limit, wait_seconds, visibility_seconds)

    def send(
        self,
        lane: str,
        body: str,
        *,
        group: str | None = None,
        delay_seconds: int = 0,
        attributes: Mapping[str, str] | None = None,
    ) -> None:
        self.calls.append(("send", lane))
        self._queue.send(lane, body, group=group, delay_seconds=delay_seconds, attributes=attributes)

    def delete(self, message: Received) -> None:
        self.calls.append(("delete", message.lane))
        self._queue.delete(message)

    def hide(self, message: Received, seconds: int) -> None:
        self.calls.append(("hide", seconds))
        self._queue.hide(message, seconds)

    def dead_letter(self, body: str, attributes: Mapping[str, str]) -> None:
        self.calls.append(("dead_letter", dict(attributes)))
        self._queue.dead_letter(body, attributes)

    def depths(self) -> Mapping[str, Depth]:
        return self._queue.depths()

    def ping(self) -> None:
        self._queue.ping()


def done(work: Work) -> Outcome:
    """What a handler that has nothing to do would say."""
    return Done(outputs=Outputs(prefix=work.prefix))


@dataclass
class World:
    """`work` is what the only handler does; by default it is done at once."""

    adapters: Adapters
    settings: Settings
    scratch: Scratch
    queue: RecordingQueue = field(init=False)
    metrics: Metrics = field(default_factory=Metrics)
    work: Handler = field(default=done)

    def __post_init__(self) -> None:
        self.queue = RecordingQueue(self.adapters.queue)

    @property
    def flow(self) -> Workflow:
        return Workflow(
            store=self.adapters.store,
            queue=self.queue,
            events=self.adapters.events,
            clock=self.adapters.clock,
            metrics=self.metrics,
        )

    def _handle(self, work: Work) -> Outcome:
        return self.work(work)

    def processor(self, name: str = "w1", flow: Workflow | None = None) -> Processor:
        flow = flow or self.flow
        attempts = Attempts(
            flow,
            dict.fromkeys(TaskKind, self._handle),
            self.scratch,
            rules=RULES,
            policy=POLICY,
        )
        return Processor(flow, attempts, Acknowledger(flow.queue, self.metrics), rules=RULES, worker_id=name)

    def sweep(self) -> Sweep:
        repairs = Repairs(flow=self.flow, raw=self.adapters.raw, media=self.adapters.media, rules=RULES)
        return Sweep(repairs, batch=100, max_rows=1_000)

    def upload(self, **changes: object) -> Upload:
        """A stored upload under an id of its own: PROCESSING with its plan, unless told otherwise."""
        now, upload_id = self.adapters.clock.now(), secrets.token_hex(16)
        fields: dict[str, object] = {
            "upload_id": upload_id,
            "object_key": f"uploads/ada/{upload_id}/talk.mp4",
            "status": UploadStatus.PROCESSING,
            "plan": PLAN,
            "open_tasks": frozenset({"transcribe"}),
            "created_at": now,
            "updated_at": now,
            "expires_at": now + 3_600_000,
            "due_at": now + 600_000,
        }
        upload = make_upload(**{**fields, **changes})
        self.adapters.store.create(upload)
        return upload

    def task(self, upload: Upload, **changes: object) -> Task:
        """A stored transcribe task, READY unless told otherwise."""
        now = self.adapters.clock.now()
        base = make_task(upload_id=upload.upload_id, created_at=now, updated_at=now, due_at=now + 600_000)
        task = structs.replace(base, **changes)
        self.adapters.store.write_task(None, task, Guard.UNCHANGED)
        return task

    def running(self, upload: Upload, message_id: str, attempts: int = 0, age_ms: int = 0) -> Task:
        """A stored task with a lease of somebody else, taken `age_ms` ago: alive unless that is long."""
        ready = self.task(upload, attempts=attempts)
        now = self.adapters.clock.now() - age_ms
        decision = tasks.claim(ready, make_claimant("other", message_id), now, RULES)
        assert isinstance(decision, tasks.Claimed)
        self.adapters.store.write_task(ready, decision.task, Guard.UNCHANGED)
        return decision.task

    def snapshot(self, upload: Upload) -> Snapshot:
        snapshot = self.adapters.store.load(upload.upload_id)
        assert snapshot is not None
        return snapshot

    def row(self, upload: Upload, task: str = "transcribe") -> Task:
        return self.snapshot(upload).tasks[task]

    def receive(self, lane: str = Lane.SPEECH, visibility_seconds: int = 30) -> Received:
        (message,) = self.queue.receive(lane, 1, 2, visibility_seconds)
        return message

    def handle(self, lane: str = Lane.SPEECH, processor: Processor | None = None) -> Verdict:
        return (processor or self.processor()).handle(self.receive(lane))

    def left(self, lane: str = Lane.SPEECH) -> Depth:
        return self.queue.depths()[lane]


def make_world(endpoint: str, folder: Path, adapt: Callable[[Clients], Clients] = lambda c: c) -> World:
    """Resources and ports of a fresh installation. `adapt`: wraps the clients."""
    settings = isolated(settings_for(endpoint))
    clients = Clients.from_settings(settings, KEYS)
    create_resources(clients, settings)
    return World(
        adapters=Adapters.from_clients(adapt(clients), settings),
        settings=settings,
        scratch=Scratch(str(folder)),
    )


def isolated(settings: Settings) -> Settings:
    """The same with names that nobody else has."""
    name = f"t{secrets.token_hex(5)}"
    return structs.replace(
        settings,
        s3=structs.replace(settings.s3, raw_bucket=f"{name}-raw", media_bucket=f"{name}-media"),
        sqs=structs.replace(settings.sqs, prefix=f"{name}-"),
        dynamodb=structs.replace(settings.dynamodb, table=f"{name}-table", shards=2),
    )
