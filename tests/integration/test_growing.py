"""A stream that is watched while its later chunks are still being encoded: what a player finds at each moment."""

import dataclasses
import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec import structs

from reelworks.domain.outcome import Outcome
from reelworks.domain.plan import TaskKind
from reelworks.domain.task import TaskStatus
from reelworks.domain.upload import Upload, UploadStatus
from reelworks.errors import Permanent
from reelworks.ports import Received
from tests.integration.pipeline import Pipeline
from tests.media.player import Player
from tests.media.samples import Samples
from tests.world import World
from upload_api import playback
from upload_api.errors import UnknownUpload
from upload_api.responses import UploadView
from worker.media.tools import Tools
from worker.work import Work

FRAMES, CHUNK_FRAMES = 300, 100


@pytest.fixture
def pipeline(world: World) -> Pipeline:
    """Chunks of one segment: three of them in twelve seconds."""
    media = structs.replace(world.settings.media, chunk_above_s=4, chunk_s=4)
    return Pipeline(dataclasses.replace(world, settings=structs.replace(world.settings, media=media)))


@pytest.fixture
def clip(samples: Samples) -> Path:
    return samples.video(12, name="twelve.mp4")


def step_by_step(pipeline: Pipeline) -> Iterator[None]:
    """One message after the other."""
    while message := pipeline.next():
        pipeline.world.processor().handle(message)
        yield


def chunks_done(pipeline: Pipeline, upload: Upload) -> int:
    tasks = pipeline.world.snapshot(upload).tasks.values()
    return sum(task.kind is TaskKind.VIDEO and task.status is TaskStatus.DONE for task in tasks)


def view(pipeline: Pipeline, upload: Upload) -> tuple[str | None, bool]:
    """Where the stream is, and whether it grows."""
    shown = UploadView.of(pipeline.report(upload)).playback
    return (shown.hls, shown.growing) if shown else (None, False)


def test_each_chunk_can_be_watched_as_soon_as_it_is_there(
    pipeline: Pipeline, clip: Path, tools: Tools, tmp_path: Path
) -> None:
    upload = pipeline.announce(clip, profile="preview")
    player = Player(lambda path: playback.page(upload.upload_id, path, pipeline.deps).body, tools, tmp_path)
    seen: dict[int, list[str]] = {}
    for _ in step_by_step(pipeline):
        done = chunks_done(pipeline, upload)
        hls, growing = view(pipeline, upload)
        if hls is None or done in seen:
            continue
        assert growing is (done < 3)
        assert playback.page(upload.upload_id, "master.m3u8", pipeline.deps).growing
        (name,) = player.renditions()
        frames = [f.pts for f in player.frames(player.fetched(f"{name}/playlist.m3u8"))]
        assert len(frames) == done * CHUNK_FRAMES
        assert {b - a for a, b in pairwise(frames)} == {Fraction(1, 25)}
        text = player.text(f"{name}/playlist.m3u8")
        assert ("#EXT-X-ENDLIST" in text) is (done == 3)
        seen[done] = re.findall(r"#EXTINF:.*", text)

    assert sorted(seen) == [1, 2, 3]
    assert seen[3][:2] == seen[2]
    assert seen[2][:1] == seen[1]
    assert pipeline.world.snapshot(upload).upload.status is UploadStatus.COMPLETED
    assert view(pipeline, upload) == (f"/api/uploads/{upload.upload_id}/playback/master.m3u8", False)
    assert len([f.pts for f in player.frames(player.fetched(f"{name}/playlist.m3u8"))]) == FRAMES


def test_a_later_chunk_waits_for_the_one_before_it(pipeline: Pipeline, clip: Path) -> None:
    upload = pipeline.announce(clip, profile="preview")
    later: list[Received] = []
    while message := pipeline.next():
        if '"video-000"' in message.body:
            later.append(message)
        else:
            pipeline.world.processor().handle(message)
    assert chunks_done(pipeline, upload) == 2
    assert view(pipeline, upload) == (None, False)

    pipeline.world.processor().handle(later[0])
    assert view(pipeline, upload) == (f"/api/uploads/{upload.upload_id}/playback/master.m3u8", False)


def test_an_upload_that_failed_does_not_let_players_wait(pipeline: Pipeline, clip: Path) -> None:
    upload = pipeline.announce(clip, profile="preview")
    encode = pipeline.handlers[TaskKind.VIDEO]

    def last_one_fails(work: Work) -> Outcome:
        if work.task.name == "video-002":
            assert view(pipeline, upload)[1] is True
            raise Permanent("It cannot be decoded.", code="damaged")
        return encode(work)

    pipeline.handlers[TaskKind.VIDEO] = last_one_fails
    pipeline.work()
    assert pipeline.world.snapshot(upload).upload.status is UploadStatus.FAILED
    assert view(pipeline, upload) == (None, False)
    with pytest.raises(UnknownUpload):
        playback.page(upload.upload_id, "master.m3u8", pipeline.deps)
