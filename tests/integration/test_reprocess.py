"""An upload that is processed again, on two emulators: what it costs, what is shown meanwhile, and what
is left at the end.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest
from msgspec import structs

from dlq_janitor import orphans
from reelworks.domain.options import Options
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.task import TaskStatus
from reelworks.domain.upload import Upload, UploadStatus
from reelworks.errors import Permanent
from reelworks.ports import Clock
from reelworks.testing import FakeClock
from tests.integration.pipeline import Pipeline
from tests.media.samples import Samples
from tests.world import World
from upload_api import playback
from upload_api.errors import SourceGone
from upload_api.posters import choose_poster
from upload_api.reprocess import reprocess
from upload_api.requests import Reprocess
from upload_api.responses import UploadView
from worker.work import Work

QUICK = Options(heights=(360, 480), preset="ultrafast", mp4=(480,), per_title=False)
MASTER = "master.m3u8"


ON_ONE = pytest.mark.parametrize("endpoint", ["ministack"], indirect=True)
"""Where both emulators would tell the same: nothing here is asked of them that other tests do not ask."""


@pytest.fixture
def pipeline(world: World) -> Pipeline:
    return Pipeline(world)


@pytest.fixture
def clip(samples: Samples) -> Path:
    """Large enough for two rungs."""
    picture, sound = "testsrc2=size=640x480:rate=12:d=2", "sine=d=2"
    codecs = ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac")
    return samples.encoded("large.mp4", "-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", sound, *codecs)


def begun(pipeline: Pipeline, upload: Upload, **changes: object) -> Upload:
    """Asked for, nothing done yet."""
    request = Reprocess(options=structs.replace(QUICK, **changes))
    snapshot = reprocess(upload.upload_id, request, pipeline.deps).snapshot
    assert snapshot.upload.status is UploadStatus.PROCESSING
    assert snapshot.upload.open_tasks == {"ingest"}
    return snapshot.upload


def again(pipeline: Pipeline, upload: Upload, **changes: object) -> Snapshot:
    begun(pipeline, upload, **changes)
    pipeline.work()
    return pipeline.world.snapshot(upload)


def renditions(pipeline: Pipeline) -> dict[str, int]:
    """How many were encoded and re-used so far."""
    found: dict[str, int] = {}
    for metric in pipeline.metrics.registry.collect():
        for sample in metric.samples:
            if sample.name == "reelworks_renditions_total":
                result = sample.labels["result"]
                found[result] = found.get(result, 0) + int(sample.value)
    return found


def segments(pipeline: Pipeline, upload: Upload) -> list[str]:
    """Every file that a player of the stream would fetch."""
    master = playback.page(upload.upload_id, MASTER, pipeline.deps).body
    inner = re.findall(r'^(?!#)(\S+\.m3u8)$|URI="([^"]+\.m3u8)"', master, re.M)
    texts = [playback.page(upload.upload_id, a or b, pipeline.deps).body for a, b in inner]
    return [url for text in texts for url in re.findall(r'https?://[^\s"]+', text)]


def playable(pipeline: Pipeline, upload: Upload) -> bool:
    found = segments(pipeline, upload)
    return len(found) >= 4 and all(httpx.get(url, trust_env=False).is_success for url in found)


def keys(pipeline: Pipeline, upload: Upload) -> set[str]:
    prefix = f"processed/{upload.user_id}/{upload.upload_id}/"
    return {listed.key for listed in pipeline.world.adapters.media.list(prefix)}


def swept(pipeline: Pipeline, upload: Upload, clock: Clock | None = None) -> bool:
    """As the janitor does, long afterwards."""
    later = clock or FakeClock(pipeline.world.adapters.clock.now() + 86_400_000)
    flow = structs.replace(pipeline.world.flow, clock=later)
    return orphans.sweep(flow, pipeline.world.adapters.media, pipeline.world.snapshot(upload))


def outputs(snapshot: Snapshot) -> Mapping[str, str]:
    return {name: task.outputs.prefix for name, task in snapshot.tasks.items() if task.outputs}


def test_only_what_is_new_is_encoded_and_all_of_it_plays(pipeline: Pipeline, clip: Path) -> None:
    first = pipeline.run(clip, profile="default", options=QUICK)
    assert first.upload.status is UploadStatus.COMPLETED, first.upload.failure
    assert renditions(pipeline) == {"encoded": 3}

    second = again(pipeline, first.upload, crf=30, heights=(480,))
    assert second.upload.status is UploadStatus.COMPLETED, second.upload.failure
    assert second.upload.generation == 1
    assert renditions(pipeline) == {"encoded": 4, "reused": 1}

    third = again(pipeline, first.upload)
    assert third.upload.status is UploadStatus.COMPLETED, third.upload.failure
    assert renditions(pipeline) == {"encoded": 4, "reused": 4}
    kept = ("transcribe", "poster", "storyboard")
    assert {name: outputs(third)[name] for name in kept} == {name: outputs(first)[name] for name in kept}
    assert playable(pipeline, third.upload)
    view = UploadView.of(pipeline.report(third.upload))
    assert [r.name for r in view.renditions] == ["360", "480"]
    assert view.generation == 2
    assert httpx.get(view.downloads["480"], trust_env=False).content[4:8] == b"ftyp"


@ON_ONE
def test_what_was_there_is_shown_until_its_successor_is(pipeline: Pipeline, clip: Path) -> None:
    first = pipeline.run(clip, profile="default", options=QUICK)
    before = UploadView.of(pipeline.report(first.upload))
    found = segments(pipeline, first.upload)
    upload = begun(pipeline, first.upload, crf=30, heights=(480,), mp4=())
    shown = UploadView.of(pipeline.report(upload))
    assert (shown.status, shown.generation, shown.progress) == ("PROCESSING", 1, 0)
    assert shown.renditions == before.renditions
    assert shown.playback == before.playback
    assert shown.transcript == before.transcript
    assert shown.downloads.keys() == {"480"}
    assert playable(pipeline, upload)

    views = []
    while message := pipeline.next():
        pipeline.world.processor().handle(message)
        views.append(UploadView.of(pipeline.report(upload)))
        assert views[-1].playback == before.playback
        assert views[-1].poster is not None
        assert playable(pipeline, upload)
    assert views[-1].status == "COMPLETED"
    assert [r.name for r in views[-1].renditions] == ["480"]
    assert views[-1].downloads == {}
    assert segments(pipeline, upload) != found
    # A player that has opened the stream before still finds its files.
    assert all(httpx.get(url, trust_env=False).is_success for url in found)


@ON_ONE
def test_a_chosen_poster_stays_chosen(pipeline: Pipeline, clip: Path) -> None:
    first = pipeline.run(clip, profile="default", options=QUICK)
    chosen = choose_poster(first.upload.upload_id, 1, pipeline.deps)
    assert chosen.results.poster
    assert chosen.results.poster.chosen == 1
    second = again(pipeline, first.upload, crf=30)
    poster = pipeline.report(second.upload).results.poster
    assert poster
    assert poster.chosen == 1


@ON_ONE
def test_a_failure_leaves_what_was_there_and_can_be_made_good(pipeline: Pipeline, clip: Path) -> None:
    first = pipeline.run(clip, profile="default", options=QUICK)
    handlers = dict(pipeline.handlers)

    def refuses(work: Work) -> None:
        raise Permanent("No.", code="refused")

    pipeline.handlers |= {kind: refuses for kind in handlers if kind == "video"}  # type: ignore[misc]
    second = again(pipeline, first.upload, crf=30)
    assert second.upload.status is UploadStatus.FAILED
    assert second.upload.failure
    view = UploadView.of(pipeline.report(second.upload))
    assert [r.name for r in view.renditions] == ["360", "480"]
    assert playable(pipeline, second.upload)
    assert not swept(pipeline, second.upload)
    assert playable(pipeline, second.upload)

    pipeline.handlers = handlers
    third = reprocess(first.upload.upload_id, Reprocess(), pipeline.deps).snapshot
    assert third.upload.options == structs.replace(QUICK, crf=30)
    pipeline.work()
    done = pipeline.world.snapshot(first.upload)
    assert done.upload.status is UploadStatus.COMPLETED, done.upload.failure
    assert done.upload.failure is None
    assert playable(pipeline, done.upload)


def test_what_nothing_refers_to_is_swept_and_nothing_else(pipeline: Pipeline, clip: Path) -> None:
    first = pipeline.run(clip, profile="default", options=QUICK)
    assert not swept(pipeline, first.upload)
    media = pipeline.world.adapters.media
    stray = f"processed/ada/{first.upload.upload_id}/tasks/video-000/dead/360/00000.m4s"
    media.put(stray, b"x", "video/iso.segment")
    second = again(pipeline, first.upload, crf=30, heights=(480,), mp4=())
    mine = keys(pipeline, first.upload)

    assert swept(pipeline, first.upload)
    left = keys(pipeline, first.upload)
    assert stray not in left
    gone = mine - left
    assert all(
        any(f"/tasks/{name}/" in key for name in ("video-000", "package", "preview", "mp4-480", "ingest"))
        for key in gone
    )
    assert any("/video-000/" in key for key in gone)
    snapshot = pipeline.world.snapshot(first.upload)
    assert snapshot.spent == ()
    assert snapshot.tasks.keys() == second.tasks.keys()
    assert playable(pipeline, first.upload)
    view = UploadView.of(pipeline.report(first.upload))
    assert view.poster
    assert httpx.get(view.poster.url, trust_env=False).is_success
    assert not swept(pipeline, first.upload)
    assert keys(pipeline, first.upload) == left


@ON_ONE
def test_what_is_condemned_is_never_used_again(pipeline: Pipeline, clip: Path) -> None:
    """The janitor has said what it will delete, and has not begun, when the upload is processed again."""
    first = pipeline.run(clip, profile="default", options=QUICK)
    second = again(pipeline, first.upload, crf=30)
    encoded = renditions(pipeline)["encoded"]
    later = FakeClock(pipeline.world.adapters.clock.now() + 86_400_000)

    class Dies(Exception):
        pass

    class Stuck:
        def list(self, prefix: str) -> None:
            raise Dies(prefix)

    flow = structs.replace(pipeline.world.flow, clock=later)
    with pytest.raises(Dies):
        orphans.sweep(flow, Stuck(), pipeline.world.snapshot(second.upload))  # type: ignore[arg-type]
    third = again(pipeline, first.upload)
    assert third.upload.status is UploadStatus.COMPLETED
    # Both rungs once more: those of the first time were condemned. The sound is referred to.
    assert renditions(pipeline)["encoded"] == encoded + 2
    assert swept(pipeline, third.upload)
    assert playable(pipeline, third.upload)


@ON_ONE
def test_a_file_that_is_gone_is_said_to_be(pipeline: Pipeline, clip: Path) -> None:
    first = pipeline.run(clip, profile="default", options=QUICK)
    pipeline.world.adapters.raw.delete([first.upload.object_key])
    with pytest.raises(SourceGone):
        reprocess(first.upload.upload_id, Reprocess(), pipeline.deps)
    assert pipeline.world.snapshot(first.upload).upload.status is UploadStatus.COMPLETED
    assert all(
        task.status is TaskStatus.DONE for task in pipeline.world.snapshot(first.upload).tasks.values()
    )
