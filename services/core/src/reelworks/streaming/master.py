"""The master playlist: which streams there are and what each needs of a player."""

from collections.abc import Iterator

from msgspec import Struct

from reelworks.streaming import bandwidth
from reelworks.streaming.bandwidth import Rates
from reelworks.streaming.playlist import VERSION
from reelworks.streaming.track import Track

AUDIO_GROUP, CAPTIONS_GROUP = "audio", "captions"


class Presentation(Struct, frozen=True, kw_only=True):
    """Everything there is to play. `frame_rate`: exact, None without pictures. `captions`: their language or "und"."""

    pictures: tuple[Track, ...]
    sound: Track | None
    target_s: int
    frame_rate: float | None = None
    captions: str | None = None


def uri(name: str) -> str:
    """Where the media playlist of a track is, beside the master."""
    return f"{name}/playlist.m3u8"


def write(show: Presentation) -> str:
    """Smallest rung first: where there is no measured bandwidth yet, players begin with the first."""
    lines = ["#EXTM3U", f"#EXT-X-VERSION:{VERSION}", "#EXT-X-INDEPENDENT-SEGMENTS"]
    sound = bandwidth.measure(show.sound, show.target_s) if show.sound else Rates()
    if show.sound and show.pictures:
        lines.append(_audio(show.sound))
    if show.captions:
        lines.append(_captions(show.captions))
    for track in show.pictures:
        lines += _variant(track, show, bandwidth.measure(track, show.target_s) + sound)
    if show.sound and not show.pictures:
        lines += _variant(show.sound, show, sound)
    return "\n".join(lines) + "\n"


def _audio(track: Track) -> str:
    return _tag(
        "MEDIA",
        ("TYPE", "AUDIO"),
        ("GROUP-ID", f'"{AUDIO_GROUP}"'),
        ("NAME", '"Main"'),
        ("DEFAULT", "YES"),
        ("AUTOSELECT", "YES"),
        ("CHANNELS", f'"{track.init.channels}"'),
        ("URI", f'"{uri(track.name)}"'),
    )


def _captions(language: str) -> str:
    known = () if language == "und" else (("LANGUAGE", f'"{language}"'),)
    return _tag(
        "MEDIA",
        ("TYPE", "SUBTITLES"),
        ("GROUP-ID", f'"{CAPTIONS_GROUP}"'),
        ("NAME", '"Captions"' if language == "und" else f'"Captions ({language})"'),
        *known,
        # Made by a machine: offered, not forced upon anyone.
        ("DEFAULT", "NO"),
        ("AUTOSELECT", "YES"),
        ("FORCED", "NO"),
        ("URI", f'"{uri(CAPTIONS_GROUP)}"'),
    )


def _variant(track: Track, show: Presentation, rates: Rates) -> Iterator[str]:
    codecs = dict.fromkeys([track.init.codec, *([show.sound.init.codec] if show.sound else [])])
    yield _tag(
        "STREAM-INF",
        ("BANDWIDTH", str(rates.peak)),
        ("AVERAGE-BANDWIDTH", str(rates.average)),
        ("CODECS", f'"{",".join(codecs)}"'),
        *_pictures(track, show),
        *((("SUBTITLES", f'"{CAPTIONS_GROUP}"'),) if show.captions else ()),
        # Else players look for CEA-608 captions inside the pictures.
        ("CLOSED-CAPTIONS", "NONE"),
    )
    yield uri(track.name)


def _pictures(track: Track, show: Presentation) -> Iterator[tuple[str, str]]:
    if not track.init.width:
        return
    yield "RESOLUTION", f"{track.init.width}x{track.init.height}"
    if show.frame_rate:
        yield "FRAME-RATE", f"{show.frame_rate:.3f}"
    if show.sound:
        yield "AUDIO", f'"{AUDIO_GROUP}"'


def _tag(name: str, *attributes: tuple[str, str]) -> str:
    return f"#EXT-X-{name}:" + ",".join(f"{key}={value}" for key, value in attributes)
