"""What a worker had finished when it was killed is not encoded again, whatever the moment."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from reelworks.domain.outcome import Outputs
from reelworks.domain.plan import Plan, VideoPlan
from reelworks.runtime.cancellation import Cancellation
from reelworks.streaming import manifest
from reelworks.streaming.manifest import Rendition
from reelworks.testing.blobs import Object
from tests.media.samples import Samples
from tests.media.studio import ROOT, Studio
from worker.media.command import Command, Finished
from worker.media.encode.sound import NAME as SOUND
from worker.media.engine import MediaEngine
from worker.media.progress import Progress
from worker.media.runner import Runner
from worker.media.tools import Tools
from worker.tasks import reuse

TASK = "video-001"
RUNGS = {"90", "180"}


class Watched(Runner):
    """Remembers which directories ffmpeg was told to encode into."""

    def __init__(self) -> None:
        super().__init__()
        self.encoded: list[str] = []

    def run(
        self,
        command: Command,
        *,
        cancellation: Cancellation,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Finished:
        self.encoded += [Path(word).parent.name for word in command.argv if word.endswith(".m3u8")]
        return super().run(command, cancellation=cancellation, on_progress=on_progress)


@pytest.fixture
def runner() -> Watched:
    return Watched()


@pytest.fixture
def studio(tools: Tools, tmp_path: Path, samples: Samples, runner: Watched) -> Studio:
    """Two chunks of four seconds in two rungs, and sound."""
    opened = Studio(samples.video(), tmp_path / "studio", MediaEngine(tools=tools, runner=runner))
    opened.use(opened.plan(gop=12, segment=12, chunk=48))
    return opened


def written(studio: Studio, task: str) -> list[tuple[str, Object]]:
    """What a task wrote, in that order."""
    return [(key, found) for key, found in studio.media.objects.items() if key.startswith(f"{ROOT}/{task}/")]


def killed_after(studio: Studio, objects: list[tuple[str, Object]], task: str) -> None:
    """The bucket as it was when only these objects of the task had arrived."""
    for key, _ in written(studio, task):
        del studio.media.objects[key]
    studio.media.objects.update(objects)


def renditions(studio: Studio, outputs: Outputs) -> dict[str, Rendition]:
    return {found.name: found for found in manifest.read(outputs, studio.media).renditions}


def finished(objects: list[tuple[str, Object]]) -> set[str]:
    return {key.split("/")[-2] for key, _ in objects if key.endswith(f"/{reuse.NAME}")}


def bodies(studio: Studio, rendition: Rendition) -> list[bytes]:
    keys = [rendition.init.key, *(segment.key for segment in rendition.segments)]
    return [studio.media.objects[key].body for key in keys]


def counted(studio: Studio, kind: str, result: str) -> float | None:
    return studio.metrics.registry.get_sample_value(
        "reelworks_renditions_total", {"kind": kind, "result": result}
    )


def test_a_kill_at_any_write_costs_the_unfinished_rungs_only(studio: Studio, runner: Watched) -> None:
    whole = renditions(studio, studio.run(TASK))
    expected = {name: bodies(studio, found) for name, found in whole.items()}
    everything = written(studio, TASK)
    assert set(runner.encoded) == RUNGS
    assert finished(everything) == RUNGS

    for writes in range(len(everything) + 1):
        left = everything[:writes]
        killed_after(studio, left, TASK)
        runner.encoded.clear()

        outputs = studio.run(TASK)

        assert set(runner.encoded) == RUNGS - finished(left), writes
        again = renditions(studio, outputs)
        assert list(again) == list(whole)
        assert {name: bodies(studio, found) for name, found in again.items()} == expected
        token = everything[0][0].removeprefix(f"{ROOT}/{TASK}/").partition("/")[0]
        assert outputs.uses == ((f"{ROOT}/{TASK}/{token}/",) if finished(left) else ())


def test_attempts_that_die_again_and_again_add_up(studio: Studio, runner: Watched) -> None:
    """Each attempt finishes one rung, which is a different one each time."""
    studio.run(TASK)
    first = written(studio, TASK)
    cut = 1 + next(at for at, (key, _) in enumerate(first) if key.endswith(f"90/{reuse.NAME}"))
    killed_after(studio, first[:cut], TASK)
    studio.run(TASK)
    second = [(key, found) for key, found in written(studio, TASK) if not key.endswith(manifest.NAME)]
    killed_after(studio, second, TASK)
    runner.encoded.clear()

    outputs = studio.run(TASK)

    assert not runner.encoded
    assert len(outputs.uses) == 2
    assert set(renditions(studio, outputs)) == RUNGS


def test_with_everything_there_the_source_is_not_even_downloaded(studio: Studio) -> None:
    studio.run(TASK)
    studio.memory.raw.objects.clear()
    studio.run(TASK)

    assert counted(studio, "video", "encoded") == 2
    assert counted(studio, "video", "reused") == 2


def test_a_stream_of_several_attempts_plays(studio: Studio, samples: Samples) -> None:
    studio.run("video-000")
    kept = [
        (key, found)
        for key, found in written(studio, "video-000")
        if "/90/" in key or not key.endswith((reuse.NAME, manifest.NAME))
    ]
    killed_after(studio, kept, "video-000")
    studio.stream(studio.upload.plan)

    assert len(studio.inputs["video-000"].uses) == 1
    for name in RUNGS:
        assert len(studio.frames(studio.path(f"{name}/playlist"))) == len(studio.frames(samples.video()))
    assert studio.decodes_cleanly(studio.path("master"))


@pytest.mark.parametrize("damage", ["gone", "shorter", "empty"])
@pytest.mark.parametrize("victim", ["90/init.mp4", "90/00005.m4s"])
def test_a_rendition_with_a_damaged_object_is_encoded_again(
    studio: Studio, runner: Watched, damage: str, victim: str
) -> None:
    studio.run(TASK)
    key = next(key for key, _ in written(studio, TASK) if key.endswith(victim))
    found = studio.media.objects.pop(key)
    if damage != "gone":
        body = found.body[:-1] if damage == "shorter" else b""
        studio.media.objects[key] = structs.replace(found, body=body)
    runner.encoded.clear()
    studio.run(TASK)

    assert runner.encoded == ["90"]


@pytest.mark.parametrize("note", [b"", b"{", b'{"recipe":1}', b"\xff"])
def test_a_note_nobody_can_read_counts_as_unfinished(studio: Studio, runner: Watched, note: bytes) -> None:
    studio.run(TASK)
    key = next(key for key, _ in written(studio, TASK) if key.endswith(f"90/{reuse.NAME}"))
    studio.media.put(key, note, "application/json")
    runner.encoded.clear()
    studio.run(TASK)

    assert runner.encoded == ["90"]


def changed_rate(plan: VideoPlan) -> VideoPlan:
    small, large = plan.rungs
    return structs.replace(plan, rungs=(small, structs.replace(large, crf=30)))


def changed_preset(plan: VideoPlan) -> VideoPlan:
    return structs.replace(plan, preset="ultrafast")


def changed_grid(plan: VideoPlan) -> VideoPlan:
    return structs.replace(plan, grid=structs.replace(plan.grid, segment_frames=24))


@pytest.mark.parametrize(
    ("change", "again"), [(changed_rate, {"180"}), (changed_preset, RUNGS), (changed_grid, RUNGS)]
)
def test_only_what_would_come_out_the_same_is_used_again(
    studio: Studio, runner: Watched, change: Callable[[VideoPlan], VideoPlan], again: set[str]
) -> None:
    studio.run(TASK)
    studio.use(with_video(studio.upload.plan, change))
    runner.encoded.clear()
    studio.run(TASK)

    assert set(runner.encoded) == again


def with_video(plan: Plan | None, change: Callable[[VideoPlan], VideoPlan]) -> Plan:
    assert plan
    assert plan.video
    return structs.replace(plan, video=change(plan.video))


def test_another_source_is_another_rendition(studio: Studio, runner: Watched) -> None:
    studio.run(TASK)
    assert studio.upload.object
    studio.memory.raw.put(studio.upload.object_key, studio.source.read_bytes() + b"\0", "video/mp4")
    studio.upload = structs.replace(studio.upload, object=studio.memory.raw.head(studio.upload.object_key))
    runner.encoded.clear()
    studio.run(TASK)

    assert set(runner.encoded) == RUNGS


def test_sound_is_not_encoded_again_either(studio: Studio, runner: Watched) -> None:
    expected = bodies(studio, renditions(studio, studio.run("audio"))[SOUND])
    everything = written(studio, "audio")
    for writes in range(len(everything) + 1):
        left = everything[:writes]
        killed_after(studio, left, "audio")
        runner.encoded.clear()
        outputs = studio.run("audio")

        assert set(runner.encoded) == {SOUND} - finished(left), writes
        assert bodies(studio, renditions(studio, outputs)[SOUND]) == expected
