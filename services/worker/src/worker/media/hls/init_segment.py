"""What an init segment says: codec, time scale, size. Measured, so that playlists never promise anything else."""

from collections.abc import Callable, Mapping

from msgspec import Struct, structs

from worker.media.hls.boxes import Box, malformed, whole

VISUAL_ENTRY_BYTES = 78
"""Fields of a VisualSampleEntry before its boxes (14496-12, 12.1.3)."""
AUDIO_ENTRY_BYTES = 28
"""Of an AudioSampleEntry (12.2.3)."""
SAMPLE_DESCRIPTION_BYTES = 8
ES_DESCRIPTOR, DECODER_CONFIG, DECODER_SPECIFIC = 3, 4, 5
"""Tags of MPEG-4 descriptors (14496-1, 7.2.2.1)."""


class InitFacts(Struct, frozen=True, kw_only=True):
    """`codec`: RFC 6381. `timescale`: ticks a second. `default_*`: of samples whose fragment says nothing."""

    codec: str
    timescale: int = 0
    width: int = 0
    height: int = 0
    channels: int = 0
    sample_rate: int = 0
    default_duration: int = 0
    default_flags: int = 0


def read(data: bytes) -> InitFacts:
    """Of the only track. Raises Temporary (`segment_damaged`)."""
    moov = whole(data).find("moov")
    media = moov.find("trak", "mdia")
    header = media.find("mdhd")
    entry = next(media.find("minf", "stbl", "stsd").children(SAMPLE_DESCRIPTION_BYTES), None)
    if entry is None or entry.kind not in _ENTRIES:
        raise malformed(f"codec {entry.kind if entry else 'missing'}")
    defaults = moov.find("mvex", "trex")
    return structs.replace(
        _ENTRIES[entry.kind](entry),
        # Version 1 has 64-bit times before it.
        timescale=header.number(20 if header.number(0, 1) == 1 else 12, 4),
        default_duration=defaults.number(12, 4),
        default_flags=defaults.number(20, 4),
    )


def _avc(entry: Box) -> InitFacts:
    """`avc1.PPCCLL`: profile, constraints and level as in the decoder configuration (RFC 6381, 3.3)."""
    config = next((box for box in entry.children(VISUAL_ENTRY_BYTES) if box.kind == "avcC"), None)
    if config is None:
        raise malformed("no avcC")
    codec = f"{entry.kind}.{config.number(1, 3):06x}"
    return InitFacts(codec=codec, width=entry.number(24, 2), height=entry.number(26, 2))


def _aac(entry: Box) -> InitFacts:
    """`mp4a.40.N`: object type indication, then the audio object type (RFC 6381, 3.3)."""
    config = next((box for box in entry.children(AUDIO_ENTRY_BYTES) if box.kind == "esds"), None)
    if config is None:
        raise malformed("no esds")
    indication, object_type = _esds(bytes(config.data[4:]))
    codec = f"mp4a.{indication:x}.{object_type}"
    return InitFacts(codec=codec, channels=entry.number(16, 2), sample_rate=entry.number(24, 2))


def _esds(data: bytes) -> tuple[int, int]:
    """Indication and audio object type out of the nested descriptors."""
    stream = _descriptor(data, ES_DESCRIPTOR)
    # An id and flags that announce optional fields, none of which ffmpeg writes.
    config = _descriptor(stream[3:], DECODER_CONFIG)
    # Object type, stream type, buffer size, rates.
    specific = _descriptor(config[13:], DECODER_SPECIFIC)
    return config[0], specific[0] >> 3


def _descriptor(data: bytes, tag: int) -> bytes:
    if not data or data[0] != tag:
        raise malformed(f"no descriptor {tag}")
    at, size = 1, 0
    while at < len(data):
        # Seven bits a byte, the highest says that more follow.
        size, more = size << 7 | data[at] & 0x7F, data[at] & 0x80
        at += 1
        if not more:
            break
    return data[at : at + size]


_ENTRIES: Mapping[str, Callable[[Box], InitFacts]] = {"avc1": _avc, "avc3": _avc, "mp4a": _aac}
