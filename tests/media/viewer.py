"""Looks at media files as a player would get them: packets, pictures, sound, and whether everything decodes."""

import json
import subprocess
import wave
from array import array
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from msgspec import Struct

from worker.media.tools import Tools


class Frame(Struct, frozen=True, kw_only=True):
    """A packet as a player gets it; `pts` in seconds, exact."""

    pts: Fraction
    key: bool


class Viewer:
    """With the ffmpeg of the tests."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    def frames(self, path: Path, stream: str = "v:0") -> list[Frame]:
        """Packets of a stream in the order they are shown, on the file's own timeline."""
        entries = ("-show_entries", "packet=pts,flags:stream=time_base")
        found = self.probe(path, "-select_streams", stream, *entries)
        base = Fraction(found["streams"][0]["time_base"])
        frames = (Frame(pts=int(p["pts"]) * base, key="K" in p["flags"]) for p in found["packets"])
        return sorted(frames, key=lambda frame: frame.pts)

    def facts(self, path: Path, stream: str = "v:0") -> Mapping[str, object]:
        """ffprobe's description of a stream."""
        return self.probe(path, "-select_streams", stream, "-show_streams")["streams"][0]

    def probe(self, path: Path, *arguments: str) -> dict[str, list[dict[str, str]]]:
        command = [self.tools.ffprobe, "-v", "error", *arguments, "-of", "json", str(path)]
        done = subprocess.run(command, check=True, capture_output=True, timeout=60)
        found: dict[str, list[dict[str, str]]] = json.loads(done.stdout)
        return found

    def ffmpeg(self, *arguments: str | Path) -> str:
        """Run it; what it says on stderr."""
        command = [self.tools.ffmpeg, "-hide_banner", "-nostdin", "-y", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 0, done.stderr
        return done.stderr

    def decodes_cleanly(self, path: Path) -> bool:
        """Every stream, to the end, with nothing to complain about."""
        maps = ("-map", "0") if path.suffix == ".m3u8" else ()
        said = self.ffmpeg("-v", "warning", "-xerror", "-i", path, *maps, "-f", "null", "-")
        print(said)  # noqa: T201 - pytest shows it when the test fails
        return said == ""

    def gray(self, path: Path, size: str = "16x9", stream: str = "v:0") -> list[bytes]:
        """Every decoded frame as a small gray picture."""
        width, height = map(int, size.split("x"))
        command = [
            self.tools.ffmpeg,
            "-v",
            "error",
            "-nostdin",
            "-i",
            str(path),
            "-map",
            f"0:{stream}",
        ]
        command += ["-fps_mode", "passthrough", "-vf", f"scale={width}:{height}", "-pix_fmt", "rgb24"]
        # By way of RGB, since the same gray is another luma in BT.601 and BT.709.
        raw = subprocess.run([*command, "-f", "rawvideo", "-"], check=True, capture_output=True).stdout[1::3]
        step = width * height
        return [raw[at : at + step] for at in range(0, len(raw), step)]

    def heard_from_s(self, path: Path, stream: str = "a:0") -> float:
        """When the first sound is heard, on the file's own timeline (filled with silence from 0)."""
        out = path.with_suffix(".heard.wav")
        self.ffmpeg("-v", "error", "-i", path, "-map", f"0:{stream}", "-ac", "1", "-ar", "16000", out)
        with wave.open(str(out)) as wav:
            heard = array("h", wav.readframes(wav.getnframes()))
        return next(at for at, sample in enumerate(heard) if abs(sample) > 500) / 16_000
