"""The transcript as a subtitle rendition: one WebVTT file on the timeline of the segments."""

from fractions import Fraction

from reelworks.domain.timeline import OFFSET_S
from reelworks.streaming.playlist import VERSION

VTT_NAME = "captions.vtt"
VTT_TYPE = "text/vtt; charset=utf-8"
HEADER = b"WEBVTT\n"
CUE = b"-->"
MPEG_CLOCK_HZ = 90_000


def has_cues(vtt: bytes) -> bool:
    """A file without speech has an empty transcript, which is no rendition."""
    return vtt.startswith(HEADER) and CUE in vtt


def on_media_time(vtt: bytes) -> bytes:
    """Cue time 0 is media time 1 s, where the first picture is (RFC 8216, 3.5)."""
    mapped = f"X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:{OFFSET_S * MPEG_CLOCK_HZ}\n".encode()
    return HEADER + mapped + vtt.removeprefix(HEADER)


def playlist(seconds: Fraction) -> str:
    """One segment for all: a transcript of an hour has 60 KB."""
    lines = [
        "#EXTM3U",
        f"#EXT-X-VERSION:{VERSION}",
        f"#EXT-X-TARGETDURATION:{max(1, seconds.__ceil__())}",
        "#EXT-X-MEDIA-SEQUENCE:0",
        "#EXT-X-PLAYLIST-TYPE:VOD",
        f"#EXTINF:{float(seconds):.6f},",
        VTT_NAME,
        "#EXT-X-ENDLIST",
    ]
    return "\n".join(lines) + "\n"
