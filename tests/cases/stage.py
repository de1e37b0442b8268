"""Sends a file through everything, and shows what was published, as its owner and a player would find it."""

import subprocess
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import httpx

from reelworks.domain.options import Options
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.task import TaskStatus
from reelworks.domain.upload import UploadStatus
from tests.integration.pipeline import Pipeline
from tests.media.player import Player
from tests.media.viewer import Frame
from upload_api import playback
from upload_api.responses import UploadView

QUICK = Options(preset="ultrafast", per_title=False)
"""Many cases, so each is encoded in a hurry."""
TYPES = {
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "flac": "audio/flac",
    "ogg": "audio/ogg",
    "m4a": "audio/mp4",
    "jpg": "image/jpeg",
    "png": "image/png",
    "gif": "video/gif",
}


class Published:
    """What became of an upload."""

    def __init__(self, pipeline: Pipeline, snapshot: Snapshot, directory: Path) -> None:
        self.snapshot, self._pipeline, self._directory = snapshot, pipeline, directory
        self.view = UploadView.of(pipeline.report(snapshot.upload))
        self.player = Player(self._page, pipeline.tools, directory)

    def _page(self, path: str) -> str:
        return playback.page(self.snapshot.upload.upload_id, path, self._pipeline.deps).body

    def completed(self) -> "Published":
        """It is, and whatever was published decodes without a complaint."""
        upload = self.snapshot.upload
        assert upload.status is UploadStatus.COMPLETED, upload.failure
        assert all(task.status is TaskStatus.DONE for task in self.snapshot.tasks.values())
        for name in self.tracks:
            assert self.player.decodes_cleanly(self.path(name)), name
        for name, path in self.files.items():
            assert self.player.decodes_cleanly(path), name
        return self

    def refused(self, code: str) -> str:
        """It is, at the first attempt, with a sentence for people; gives the sentence."""
        upload, error = self.snapshot.upload, self.view.error
        assert upload.status is UploadStatus.FAILED
        assert error is not None
        assert error.code == code
        assert [task.attempts for task in self.snapshot.tasks.values()] == [1]
        assert error.message.endswith(".")
        assert len(error.message) > 20
        return error.message

    @cached_property
    def master(self) -> str:
        return self._page("master.m3u8") if self.view.playback and self.view.playback.hls else ""

    @cached_property
    def tracks(self) -> list[str]:
        """Names of the renditions, the sound's included."""
        if not self.master:
            return []
        names = self.player.renditions()
        return [*names, *(["audio"] if 'URI="audio/playlist.m3u8"' in self.master else [])]

    @cached_property
    def files(self) -> dict[str, Path]:
        """Everything that is there besides the stream, fetched: by name."""
        view = self.view
        urls = {f"mp4-{name}.mp4": url for name, url in view.downloads.items()}
        urls |= {f"thumbnail-{name}.jpg": url for name, url in view.thumbnails.items()}
        if view.preview:
            urls["preview.jpg" if view.thumbnails else "preview.mp4"] = view.preview
        if view.poster:
            urls |= {f"poster-{n}.jpg": url for n, url in enumerate(view.poster.candidates)}
            urls["poster.jpg"] = view.poster.url
        return {name: self._fetched(name, url) for name, url in urls.items()}

    def _fetched(self, name: str, url: str) -> Path:
        path = self._directory / name
        path.write_bytes(httpx.get(url, trust_env=False).raise_for_status().content)
        assert path.stat().st_size > 0
        return path

    @property
    def top(self) -> str:
        """The highest rendition."""
        return self.player.renditions()[-1]

    def path(self, name: str) -> Path:
        return self.player.fetched(f"{name}/playlist.m3u8")

    def playlist(self, name: str) -> str:
        return self._page(f"{name}/playlist.m3u8")

    def frames(self, name: str) -> list[Frame]:
        return self.player.frames(self.path(name), "a:0" if name == "audio" else "v:0")

    def steps(self, name: str) -> set[Fraction]:
        """Distances between frames, in seconds."""
        return {b.pts - a.pts for a, b in pairwise(self.frames(name))}

    def size(self, name: str) -> tuple[object, object]:
        facts = self.facts(name)
        return facts["width"], facts["height"]

    def facts(self, name: str) -> dict[str, object]:
        return dict(self.player.facts(self.path(name), "a:0" if name == "audio" else "v:0"))

    def gray(self, name: str, size: str = "16x9") -> list[bytes]:
        return self.player.gray(self.path(name), size)


class Stage:
    """Takes files."""

    def __init__(self, pipeline: Pipeline, directory: Path) -> None:
        self.pipeline, self._directory = pipeline, directory

    def published(
        self,
        file: Path,
        *,
        profile: str = "default",
        options: Options | None = QUICK,
        content_type: str | None = None,
    ) -> Published:
        """Everything that can be done, is done."""
        kind = content_type or TYPES.get(file.suffix[1:], "video/mp4")
        chosen = options if profile in ("default", "preview") and not kind.startswith("image/") else None
        snapshot = self.pipeline.run(file, content_type=kind, profile=profile, options=chosen)
        return Published(self.pipeline, snapshot, self._directory)


def children() -> set[int]:
    """Processes below this one that are ffmpeg, or pretend to be."""
    listed = subprocess.run(["ps", "-eo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    return {int(line.split()[0]) for line in listed.splitlines() if "hanging-ffmpeg" in line}
