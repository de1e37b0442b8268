"""The whole pipeline on an emulator, in one process: the API's use cases, real presigned requests, real handlers."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from msgspec import structs

from reelworks.domain.options import Options
from reelworks.domain.plan import TaskKind
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.upload import AWAITING_OBJECT, Upload
from reelworks.ports import Received, SignedRequest
from reelworks.runtime.metrics import Metrics
from reelworks.runtime.settings import Settings, Speech
from tests.world import World
from upload_api import bootstrap as api
from upload_api.service import Caller, Report, create_upload, read_upload
from upload_api.validation import Wanted
from worker import bootstrap as worker
from worker.media.tools import find_tools
from worker.verdict import Ending
from worker.work import Handler

LANES = ("events", "fast", "encode", "speech")
SPOKEN = "it speaks"
MOMENTS = 40
"""Two seconds for an event to arrive."""


@dataclass
class Pipeline:
    """A world whose handlers are the real ones, with a speech engine that always hears the same by default."""

    world: World

    speech: Speech = field(default_factory=lambda: Speech(provider="fake", fake_text=SPOKEN))

    def __post_init__(self) -> None:
        self.settings: Settings = structs.replace(self.world.settings, speech=self.speech)
        self.tools = find_tools()
        self.metrics = Metrics()
        handlers = worker.handlers(self.settings, self.world.adapters, self.metrics)
        self.handlers: dict[TaskKind, Handler] = dict(handlers)
        self.world.work = lambda work: self.handlers[work.task.kind](work)
        self.deps = api.dependencies(self.settings, self.world.adapters)

    def announce(
        self,
        file: Path,
        content_type: str = "video/mp4",
        name: str | None = None,
        profile: str = "transcript",
        options: Options | None = None,
    ) -> Upload:
        """POST /api/uploads, then the bytes with the headers that it gave."""
        wanted = Wanted(
            file_name=name or file.name,
            content_type=content_type,
            size_bytes=max(file.stat().st_size, 1),
            user_id="ada",
            project_id=None,
            profile=profile,
            options=options,
            checksum_sha256=None,
            callback_url=None,
            priority="normal",
        )
        receipt = create_upload(wanted, Caller(), self.deps)
        self.send(receipt.signed, file.read_bytes())
        return receipt.upload

    def send(self, signed: SignedRequest, body: bytes) -> None:
        """What the client does with the request that it was given."""
        answer = httpx.request(
            signed.method, signed.url, headers=dict(signed.headers), content=body, trust_env=False
        )
        assert answer.is_success, answer.text

    def work(self) -> list[Ending]:
        """Everything that is there to do, once."""
        endings = []
        while message := self.next():
            endings.append(self.world.processor().handle(message).ending)
        return [ending for ending in endings if ending is not Ending.TEST_EVENT]

    def next(self) -> Received | None:
        """The next message of the first lane that has one."""
        for lane in LANES:
            for message in self.world.queue.receive(lane, 1, 0, 30):
                return message
        return None

    def run(self, file: Path, **kwargs: Any) -> Snapshot:
        """An upload from its announcement to its end."""
        upload = self.announce(file, **kwargs)
        for _ in range(MOMENTS):
            self.work()
            snapshot = self.world.snapshot(upload)
            if snapshot.upload.status not in AWAITING_OBJECT:
                break
            time.sleep(0.05)  # the emulator announces objects in a thread of its own
        return snapshot

    def report(self, upload: Upload) -> Report:
        """GET /api/uploads/{id}."""
        return read_upload(upload.upload_id, self.deps)
