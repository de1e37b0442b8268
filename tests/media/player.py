"""Plays what a playback route serves: fetches every segment and lets ffprobe read them as one file."""

import re
from collections.abc import Callable
from pathlib import Path

import httpx

from tests.media.viewer import Viewer
from worker.media.tools import Tools

_URI = re.compile(r'URI="(https?://[^"]+)"')


class Player(Viewer):
    """`page`: the text at a path of the route. Everything is fetched anew each time, as a player would that reloads."""

    def __init__(self, page: Callable[[str], str], tools: Tools, directory: Path) -> None:
        super().__init__(tools)
        self._page, self._directory = page, directory

    def text(self, path: str) -> str:
        return self._page(path)

    def renditions(self) -> list[str]:
        """Names of the variants of the master, without that of the sound."""
        lines = self._page("master.m3u8").splitlines()
        return [line.partition("/")[0] for line in lines if line and not line.startswith("#")]

    def fetched(self, path: str) -> Path:
        """The track of a media playlist, its init segment and all of its segments one after the other."""
        text = self._page(path)
        urls = [*_URI.findall(text), *(line for line in text.splitlines() if line.startswith("http"))]
        whole = self._directory / (path.replace("/", "-") + ".mp4")
        whole.write_bytes(
            b"".join(httpx.get(url, trust_env=False).raise_for_status().content for url in urls)
        )
        return whole
