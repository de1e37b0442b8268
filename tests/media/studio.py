"""Runs the stream tasks on a local file without a table or a queue, and looks at what they publish.

Small clips and chunks of a second or two, so that seams are many and tests are quick; a fast preset, but one with
B-frames, which are what makes seams hard.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path

import msgspec
from msgspec import structs

from reelworks.domain import geometry
from reelworks.domain.geometry import Size
from reelworks.domain.outcome import Done, Outcome, Outputs
from reelworks.domain.plan import (
    Lane,
    MediaSummary,
    Plan,
    Rung,
    TaskKind,
    TaskSpec,
    VideoPlan,
)
from reelworks.domain.task import Task, TaskStatus
from reelworks.domain.timeline import Grid
from reelworks.domain.upload import Upload
from reelworks.runtime.cancellation import Cancellation
from reelworks.runtime.metrics import Metrics
from reelworks.testing import FakeClock, InMemory
from reelworks.testing.blobs import InMemoryBlobStore
from tests.media.viewer import Viewer
from worker.media.engine import MediaEngine
from worker.media.probe import probe
from worker.media.report import MediaReport
from worker.tasks.audio import AudioDependencies, audio
from worker.tasks.mp4 import Mp4Dependencies, mp4
from worker.tasks.package import PackageDependencies, package
from worker.tasks.preview import preview
from worker.tasks.video import VideoDependencies, video
from worker.work import Work

ROOT = "processed/u-1/" + "0" * 32 + "/tasks"


class Studio(Viewer):
    """One upload. `heights`: of the rungs; `gop`, `segment`, `chunk`: in frames."""

    def __init__(self, source: Path, directory: Path, engine: MediaEngine, profile: str = "default") -> None:
        super().__init__(engine.tools)
        self.engine, self.directory, self.source = engine, directory, source
        self.memory = InMemory.make(FakeClock())
        self.metrics = Metrics()
        self.report: MediaReport = probe(source, engine=engine, cancellation=Cancellation())
        self.inputs: dict[str, Outputs] = {}
        self.progress: list[float] = []
        self.upload = self._uploaded(profile)
        self._attempts = 0

    @property
    def media(self) -> InMemoryBlobStore:
        return self.memory.media

    def _uploaded(self, profile: str) -> Upload:
        key = f"uploads/u-1/{'0' * 32}/clip"
        self.memory.raw.put(key, self.source.read_bytes(), "video/mp4")
        self.media.put("report.json", msgspec.json.encode(self.report), "application/json")
        facts = self.memory.raw.head(key)
        picture = self.report.picture
        summary = MediaSummary(
            format=self.report.formats[0],
            has_audio=self.report.speech is not None,
            has_video=picture is not None,
            duration_ms=self.report.duration_ms,
            report_key="report.json",
        )
        return Upload(
            upload_id="0" * 32,
            user_id="u-1",
            file_name="clip",
            object_key=key,
            content_type="video/mp4",
            size_bytes=facts.size_bytes if facts else 0,
            profile=profile,
            created_at=0,
            updated_at=0,
            expires_at=0,
            object=facts,
            media=summary,
        )

    def plan(
        self,
        *,
        heights: tuple[int, ...] = (90, 180),
        rate: str | None = None,
        gop: int = 10,
        segment: int = 20,
        chunk: int = 10_000,
        crf: int = 23,
        preset: str = "superfast",
        more: int = 0,
    ) -> Plan:
        """A plan of that grid; without chunks unless `chunk` says so. `more`: frames that will not come."""
        specs, pictures, shown = [], None, self.report.picture
        if self.report.speech:
            specs.append(TaskSpec(name="audio", kind=TaskKind.AUDIO, lane=Lane.FAST))
        if shown:
            rate = rate or shown.constant_rate or shown.frame_rate or "25"
            frames = max(1, round((self.report.duration_ms or 1) * Fraction(rate) / 1000)) + more
            grid = Grid(
                frame_rate=rate,
                gop_frames=gop,
                segment_frames=segment,
                chunk_frames=chunk,
                frames=frames,
                folds_tail=True,
            )
            sizes = geometry.ladder(Size(width=shown.display_width, height=shown.display_height), heights)
            rungs = tuple(Rung(name=str(s.short), width=s.width, height=s.height, crf=crf) for s in sizes)
            pictures = VideoPlan(rungs=rungs, grid=grid, preset=preset)
            names = [f"video-{number:03d}" for number in range(grid.chunks)]
            specs += [TaskSpec(name=name, kind=TaskKind.VIDEO, lane=Lane.ENCODE) for name in names]
        return Plan(profile="default", tasks=tuple(specs), video=pictures)

    def arrived(self, other: Path) -> None:
        """The object has these bytes, whatever the report says."""
        self.memory.raw.put(self.upload.object_key, other.read_bytes(), "video/mp4")
        facts = self.memory.raw.head(self.upload.object_key)
        self.upload = structs.replace(self.upload, object=facts)

    def use(self, plan: Plan) -> "Studio":
        self.upload = structs.replace(self.upload, plan=plan)
        return self

    def encode(self, plan: Plan | None = None) -> "Studio":
        """All `audio` and `video` tasks."""
        self.use(plan or self.plan())
        assert self.upload.plan
        for spec in self.upload.plan.tasks:
            self.run(spec.name)
        return self

    def stream(self, plan: Plan | None = None) -> "Studio":
        """Everything up to the package, and all of it below `directory`, as a player sees it."""
        self.encode(plan)
        self.run("package")
        return self.save()

    def run(self, name: str, inputs: Mapping[str, Outputs] | None = None) -> Outputs:
        """One task; its outputs are inputs of the ones that follow."""
        self._attempts += 1
        scratch = self.directory / f"scratch-{self._attempts}"
        scratch.mkdir(parents=True)
        outcome = self._handler(name)(self._work(name, scratch, inputs))
        assert isinstance(outcome, Done)
        self.inputs[name] = outcome.outputs
        return outcome.outputs

    def _work(self, name: str, scratch: Path, inputs: Mapping[str, Outputs] | None) -> Work:
        kind = TaskKind(name.partition("-")[0])
        return Work(
            upload=self.upload,
            task=Task(
                upload_id=self.upload.upload_id,
                name=name,
                kind=kind,
                lane=Lane.FAST,
                status=TaskStatus.RUNNING,
                created_at=0,
                updated_at=0,
            ),
            inputs=self.inputs if inputs is None else inputs,
            scratch=scratch,
            prefix=f"{ROOT}/{name}/token-{self._attempts}/",
            cancellation=Cancellation(),
            report=self.progress.append,
        )

    def _handler(self, name: str) -> Callable[[Work], Outcome]:
        raw, media, engine, told = self.memory.raw, self.media, self.engine, self.metrics
        handlers: dict[str, Callable[[Work], Outcome]] = {
            "audio": partial(
                audio, needs=AudioDependencies(raw=raw, media=media, engine=engine, metrics=told)
            ),
            "video": partial(
                video, needs=VideoDependencies(raw=raw, media=media, engine=engine, metrics=told)
            ),
            "package": partial(package, needs=PackageDependencies(media=media)),
            "mp4": partial(mp4, needs=Mp4Dependencies(media=media, engine=engine)),
            "preview": partial(preview, needs=Mp4Dependencies(media=media, engine=engine)),
        }
        return handlers[name.partition("-")[0]]

    # What is there now

    def save(self) -> "Studio":
        """The media bucket as files."""
        for key, found in self.media.objects.items():
            path = self.directory / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(found.body)
        return self

    def path(self, name: str, task: str = "package") -> Path:
        """The file that a task's output of that name became."""
        return self.directory / self.inputs[task].files[name]

    def text(self, name: str) -> str:
        return self.media.objects[self.inputs["package"].files[name]].body.decode()
