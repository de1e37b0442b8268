"""What tests see of a JPEG: that it decodes, its size, its colours."""

import subprocess
from pathlib import Path

from msgspec import Struct

from worker.media.pictures import jpeg
from worker.media.tools import Tools

RGB = tuple[int, ...]


class Seen(Struct, frozen=True, kw_only=True):
    width: int
    height: int
    rgb: bytes

    def at(self, x: float, y: float) -> RGB:
        """The pixel at a fraction of width and height."""
        start = 3 * (int(y * self.height) * self.width + int(x * self.width))
        return tuple(self.rgb[start : start + 3])

    @property
    def mean(self) -> float:
        return sum(self.rgb) / len(self.rgb)


def look(path: Path, tools: Tools) -> Seen:
    """Decoded by ffmpeg, which must have nothing to complain about."""
    command = [tools.ffmpeg, "-v", "warning", "-xerror", "-nostdin", "-i", str(path)]
    done = subprocess.run(
        [*command, "-pix_fmt", "rgb24", "-f", "rawvideo", "-"], capture_output=True, check=True
    )
    assert b"deprecated" in done.stderr or not done.stderr
    size = jpeg.size_of(path)
    assert size
    assert len(done.stdout) == size.width * size.height * 3
    return Seen(width=size.width, height=size.height, rgb=done.stdout)


def near(seen: RGB, wanted: RGB, tolerance: int = 24) -> bool:
    return all(abs(a - b) <= tolerance for a, b in zip(seen, wanted, strict=True))
