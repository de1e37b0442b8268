"""ffprobe's JSON, and its translation into a `MediaReport`. Pure; ffprobe's numbers are strings or missing."""

from msgspec import Struct

from worker.media.report import AudioStream, MediaReport, VideoStream

ENTRIES = (
    "format=format_name,duration,size,start_time"
    ":stream=index,codec_name,codec_type,width,height,channels,sample_rate,avg_frame_rate,r_frame_rate,start_time,duration"
    ":stream_disposition=default,attached_pic"
    ":stream_tags=language,DURATION,DURATION-eng"
)
"""Only what is read below: tags are free text of any size."""


class Disposition(Struct, frozen=True, kw_only=True):
    default: int = 0
    attached_pic: int = 0


class Stream(Struct, frozen=True, kw_only=True):
    index: int
    codec_name: str = "unknown"
    codec_type: str = "unknown"
    width: int = 0
    height: int = 0
    channels: int = 0
    sample_rate: str = "0"
    avg_frame_rate: str = "0/0"
    r_frame_rate: str = "0/0"
    start_time: str | None = None
    duration: str | None = None
    disposition: Disposition = Disposition()
    tags: dict[str, str] = {}


class Format(Struct, frozen=True, kw_only=True):
    format_name: str = ""
    duration: str | None = None
    size: str = "0"
    start_time: str | None = None


class Document(Struct, frozen=True, kw_only=True):
    """The two sections we ask for."""

    streams: tuple[Stream, ...] = ()
    format: Format = Format()


def to_report(document: Document) -> MediaReport:
    """Times count from the earliest stream, as players count; kinds other than audio and video are only counted."""
    origin = milliseconds(document.format.start_time) or 0
    audio = tuple(_audio(s, origin) for s in document.streams if s.codec_type == "audio")
    video = tuple(_video(s, origin) for s in document.streams if s.codec_type == "video")
    return MediaReport(
        formats=tuple(document.format.format_name.split(",")),
        size_bytes=int(document.format.size),
        duration_ms=milliseconds(document.format.duration),
        audio=audio,
        video=video,
        other_streams=len(document.streams) - len(audio) - len(video),
    )


def _audio(stream: Stream, origin: int) -> AudioStream:
    language = stream.tags.get("language", "und")
    return AudioStream(
        index=stream.index,
        codec=stream.codec_name,
        channels=stream.channels,
        sample_rate=int(stream.sample_rate),
        default=bool(stream.disposition.default),
        language=None if language == "und" else language[:16],
        start_ms=_start(stream, origin),
        duration_ms=_duration(stream, origin),
    )


def _video(stream: Stream, origin: int) -> VideoStream:
    return VideoStream(
        index=stream.index,
        codec=stream.codec_name,
        width=stream.width,
        height=stream.height,
        default=bool(stream.disposition.default),
        attached_pic=_is_cover(stream),
        frame_rate=None if stream.avg_frame_rate == "0/0" else stream.avg_frame_rate,
        start_ms=_start(stream, origin),
        duration_ms=_duration(stream, origin),
    )


def _is_cover(stream: Stream) -> bool:
    """Flagged as such, or a still at the frame rate that ffmpeg gives to pictures in tags."""
    return bool(stream.disposition.attached_pic) or (
        stream.codec_name in ("mjpeg", "png")
        and (stream.r_frame_rate, stream.avg_frame_rate) == ("90000/1", "0/0")
    )


def _start(stream: Stream, origin: int) -> int:
    start = milliseconds(stream.start_time)
    return 0 if start is None else max(0, start - origin)


def _duration(stream: Stream, origin: int) -> int | None:
    """Matroska has no duration per track; muxers write a tag that says where the track *ends*."""
    declared = milliseconds(stream.duration)
    if declared is not None:
        return declared
    end = _clock_ms(stream.tags.get("DURATION") or stream.tags.get("DURATION-eng") or "")
    return None if end is None else max(0, end - _start(stream, origin))


def milliseconds(seconds: str | None) -> int | None:
    """`"1.480000"` → 1480; None for what is missing, `N/A` or not finite."""
    try:
        return round(float(seconds or "N/A") * 1000)
    except (ValueError, OverflowError):
        return None


def _clock_ms(text: str) -> int | None:
    """`"01:02:03.500000000"` → 3723500."""
    hours, _, rest = text.partition(":")
    minutes, _, seconds = rest.partition(":")
    try:
        return (int(hours) * 60 + int(minutes)) * 60_000 + round(float(seconds) * 1000)
    except (ValueError, OverflowError):
        return None
