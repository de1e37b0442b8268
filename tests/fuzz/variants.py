"""Which file with which damage is number n of a seed."""

import os
import random
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from tests.fuzz.damage import DAMAGES
from tests.media.samples import Samples

COUNT = int(os.environ.get("N") or 64)
SEED = int(os.environ.get("SEED") or 1)
"""Not drawn by lot: a run that fails must fail again until it is mended. Other seeds are for `make fuzz`."""

_PICTURE = ("-f", "lavfi", "-i", "testsrc=s=160x90:r=25:d=3")
_SOUND = ("-f", "lavfi", "-i", "sine=d=3")
_H264 = ("-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "25", "-pix_fmt", "yuv420p")
_CLIP = (*_PICTURE, *_SOUND, *_H264, "-c:a", "aac")


def _film(name: str, *more: str) -> Callable[[Samples], Path]:
    return lambda samples: samples.encoded(f"fuzz.{name}", *_CLIP, *more)


def _webm(samples: Samples) -> Path:
    codecs = ("-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libopus")
    return samples.encoded("fuzz.webm", *_PICTURE, *_SOUND, *codecs)


ORIGINALS: Mapping[str, tuple[Callable[[Samples], Path], str]] = MappingProxyType(
    {
        "mp4": (_film("mp4", "-movflags", "+faststart"), "video/mp4"),
        "mov": (_film("mov"), "video/quicktime"),
        "mkv": (_film("mkv"), "video/x-matroska"),
        "webm": (_webm, "video/webm"),
        "ts": (_film("ts"), "video/mp2t"),
        "mp3": (lambda samples: samples.audio_with_cover("mp3"), "audio/mpeg"),
        "flac": (lambda samples: samples.audio("flac"), "audio/flac"),
        "wav": (lambda samples: samples.audio("wav"), "audio/wav"),
        "jpg": (lambda samples: samples.photo(6), "image/jpeg"),
        "png": (lambda samples: samples.png(320, 180), "image/png"),
    }
)
"""How each is made, and as what it is announced."""


class Variant(Struct, frozen=True):
    """Number `number` of a seed."""

    number: int
    seed: int

    @property
    def _chance(self) -> random.Random:
        return random.Random(zlib.crc32(f"{self.seed}/{self.number}".encode()))

    @property
    def format(self) -> str:
        return list(ORIGINALS)[self.number % len(ORIGINALS)]

    @property
    def damage(self) -> str:
        return self._chance.choice(list(DAMAGES))

    @property
    def content_type(self) -> str:
        return ORIGINALS[self.format][1]

    def __str__(self) -> str:
        return f"{self.number}-{self.format}-{self.damage}"

    def bytes(self, samples: Samples) -> bytes:
        chance = self._chance
        damage = DAMAGES[chance.choice(list(DAMAGES))]
        return damage(ORIGINALS[self.format][0](samples).read_bytes(), chance)


VARIANTS = [Variant(number, SEED) for number in range(COUNT)]
