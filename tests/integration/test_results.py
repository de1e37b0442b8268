"""A video through everything there is, and what its owner is told of it, on two emulators."""

import re

import httpx
import pytest

from reelworks.domain.options import Options
from reelworks.domain.upload import UploadStatus
from tests.integration.pipeline import Pipeline
from tests.media.samples import Samples
from tests.world import World
from upload_api import playback
from upload_api.errors import UnknownUpload
from upload_api.responses import UploadView


@pytest.fixture
def pipeline(world: World) -> Pipeline:
    return Pipeline(world)


def head(url: str) -> httpx.Response:
    return httpx.get(url, trust_env=False)


def followed(pipeline: Pipeline, upload_id: str, path: str, found: dict[str, str]) -> None:
    """Every playlist below this one, by its path."""
    text = playback.page(upload_id, path, pipeline.deps).body
    found[path] = text
    folder = path.rpartition("/")[0]
    for name in re.findall(r'^(?!#)(\S+\.m3u8)$|URI="([^"]+\.m3u8)"', text, re.M):
        inner = f"{folder}/{name[0] or name[1]}".lstrip("/")
        if inner not in found:
            followed(pipeline, upload_id, inner, found)


def test_video_can_be_watched_downloaded_and_scrubbed(pipeline: Pipeline, samples: Samples) -> None:
    snapshot = pipeline.run(samples.video(), profile="default")
    upload = snapshot.upload
    assert upload.status is UploadStatus.COMPLETED, upload.failure
    view = UploadView.of(pipeline.report(upload))
    assert [(r.width, r.height) for r in view.renditions] == [(320, 180)]
    assert view.poster is not None
    assert head(view.poster.url).content[:2] == b"\xff\xd8"
    assert all(head(url).is_success for url in view.poster.candidates)
    assert view.preview is not None
    assert head(view.preview).content[4:8] == b"ftyp"
    assert view.playback is not None
    assert view.playback.hls == f"/api/uploads/{upload.upload_id}/playback/master.m3u8"
    pages: dict[str, str] = {}
    followed(pipeline, upload.upload_id, "master.m3u8", pages)
    segments = {url for text in pages.values() for url in re.findall(r'https?://[^\s"]+', text)}
    assert len(pages) >= 3
    assert len(segments) >= 4
    assert all(head(url).is_success for url in segments)
    scrubbing = playback.page(upload.upload_id, "storyboard.vtt", pipeline.deps).body
    sheets = set(re.findall(r"(https?://\S+)#xywh=", scrubbing))
    assert sheets
    assert all(head(url).content[:2] == b"\xff\xd8" for url in sheets)


def test_options_reach_the_stream(pipeline: Pipeline, samples: Samples) -> None:
    options = Options(
        heights=(360,),
        segment_seconds=2,
        preset="ultrafast",
        mp4=(),
        preview=False,
        pictures=False,
        captions=False,
    )
    snapshot = pipeline.run(samples.video(), profile="default", options=options)
    assert snapshot.upload.status is UploadStatus.COMPLETED, snapshot.upload.failure
    assert snapshot.upload.options == options
    assert set(snapshot.tasks) == {"ingest", "audio", "video-000", "package"}
    text = playback.page(snapshot.upload.upload_id, "180/playlist.m3u8", pipeline.deps).body
    assert re.findall(r"#EXTINF:(\d\.\d)", text) == ["2.0", "2.0"]


def test_picture_becomes_thumbnails(pipeline: Pipeline, samples: Samples) -> None:
    snapshot = pipeline.run(samples.picture(), content_type="image/jpeg", profile="default")
    assert snapshot.upload.status is UploadStatus.COMPLETED, snapshot.upload.failure
    view = UploadView.of(pipeline.report(snapshot.upload))
    assert view.preview is not None
    assert head(view.preview).content[:2] == b"\xff\xd8"
    assert view.thumbnails
    assert view.playback is None


def test_podcast_gets_an_audio_stream(pipeline: Pipeline, samples: Samples) -> None:
    snapshot = pipeline.run(samples.audio_with_cover(), content_type="audio/mpeg", profile="audio")
    assert snapshot.upload.status is UploadStatus.COMPLETED, snapshot.upload.failure
    text = playback.page(snapshot.upload.upload_id, "master.m3u8", pipeline.deps).body
    assert 'CODECS="mp4a.40.2"' in text
    assert "RESOLUTION" not in text


@pytest.mark.parametrize(
    "path", ["../master.m3u8", "master.m3u8/../x.m3u8", "probe.json", "a//b.m3u8", "other.m3u8", ""]
)
def test_nothing_but_the_streams_own_playlists_is_served(
    pipeline: Pipeline, samples: Samples, path: str
) -> None:
    snapshot = pipeline.run(samples.audio("wav"), content_type="audio/wav", profile="audio")
    with pytest.raises(UnknownUpload):
        playback.page(snapshot.upload.upload_id, path, pipeline.deps)


@pytest.mark.parametrize(
    "uri", ["../../../../../secret.m4s", "https://elsewhere.example/x.m4s", "/etc/passwd"]
)
def test_playlist_that_names_what_is_not_its_own_is_refused(
    pipeline: Pipeline, samples: Samples, uri: str
) -> None:
    snapshot = pipeline.run(samples.audio("wav"), content_type="audio/wav", profile="audio")
    outputs = snapshot.tasks["package"].outputs
    assert outputs is not None
    pipeline.world.adapters.media.put(
        f"{outputs.prefix}evil.m3u8", f"#EXTM3U\n{uri}\n".encode(), "text/plain"
    )
    with pytest.raises(UnknownUpload):
        playback.page(snapshot.upload.upload_id, "evil.m3u8", pipeline.deps)
