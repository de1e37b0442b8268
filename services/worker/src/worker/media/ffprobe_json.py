"""ffprobe's JSON, and its translation into a `MediaReport`. Pure; ffprobe's numbers are strings or missing."""

from fractions import Fraction

from msgspec import Struct, structs

from worker.media import display, pixels
from worker.media import rate as rates
from worker.media.rate import Rate
from worker.media.report import AudioStream, MediaReport, VideoStream

ENTRIES = (
    "format=format_name,duration,size,start_time"
    ":stream=index,codec_name,codec_type,width,height,channels,sample_rate,avg_frame_rate,r_frame_rate,start_time,duration"
    ",sample_aspect_ratio,field_order,pix_fmt,color_range,color_space,color_transfer,color_primaries,nb_frames"
    ":stream_disposition=default,attached_pic"
    ":stream_tags=language,DURATION,DURATION-eng,rotate,ROTATE,alpha_mode,ALPHA_MODE"
    ":stream_side_data=displaymatrix"
)
"""Only what is read below: tags are free text of any size."""
FRAME_ENTRIES = ":frame=width:frame_side_data=displaymatrix"
"""Of pictures: Exif says which way up they are, and only decoding brings it to light."""

STILL_BESIDE_SOUND_MS = 1_000
"""A single frame with sound that goes on for this much longer is a cover, not a video."""


class Disposition(Struct, frozen=True, kw_only=True):
    default: int = 0
    attached_pic: int = 0


class SideData(Struct, frozen=True, kw_only=True):
    displaymatrix: str | None = None


class Frame(Struct, frozen=True, kw_only=True):
    width: int = 0
    side_data_list: tuple[SideData, ...] = ()


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
    sample_aspect_ratio: str = "0:1"
    field_order: str | None = None
    pix_fmt: str | None = None
    color_range: str | None = None
    color_space: str | None = None
    color_transfer: str | None = None
    color_primaries: str | None = None
    nb_frames: str = "0"
    disposition: Disposition = Disposition()
    tags: dict[str, str] = {}
    side_data_list: tuple[SideData, ...] = ()


class Format(Struct, frozen=True, kw_only=True):
    format_name: str = ""
    duration: str | None = None
    size: str = "0"
    start_time: str | None = None


class Document(Struct, frozen=True, kw_only=True):
    """The sections we ask for; `frames` only of pictures."""

    streams: tuple[Stream, ...] = ()
    format: Format = Format()
    frames: tuple[Frame, ...] = ()


def to_report(document: Document) -> MediaReport:
    """Times count from the earliest stream, as players count; kinds other than audio and video are only counted."""
    origin = milliseconds(document.format.start_time) or 0
    audio = tuple(_audio(s, origin) for s in document.streams if s.codec_type == "audio")
    video = tuple(_video(s, origin) for s in document.streams if s.codec_type == "video")
    sound_ms = max((a.start_ms + (a.duration_ms or 0) for a in audio), default=0)
    return MediaReport(
        formats=tuple(document.format.format_name.split(",")),
        size_bytes=int(document.format.size),
        duration_ms=milliseconds(document.format.duration),
        audio=audio,
        video=tuple(structs.replace(v, attached_pic=v.attached_pic or _is_still(v, sound_ms)) for v in video),
        other_streams=len(document.streams) - len(audio) - len(video),
    )


def to_image_report(document: Document, known_size: tuple[int, int] | None = None) -> MediaReport | None:
    """Of a picture file: one frame, no time. None if no frame could be decoded, unless its size is known anyway."""
    report = to_report(document)
    if not report.video or not (document.frames or known_size):
        return None
    still = structs.replace(
        report.video[0], frames=1, frame_rate=None, constant_rate=None, variable=False, duration_ms=None
    )
    if document.frames:
        # Without Exif this is the stream's own, which pictures do not have.
        still = _oriented(still, _matrix(document.frames[0].side_data_list), None)
    elif known_size:
        width, height = known_size
        still = structs.replace(still, width=width, height=height, display_width=width, display_height=height)
    return structs.replace(report, duration_ms=None, audio=(), video=(still,))


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
    rate = rates.rate(stream.avg_frame_rate, stream.r_frame_rate)
    wide, high = display.pixel_aspect(stream.sample_aspect_ratio)
    duration_ms = _duration(stream, origin)
    video = VideoStream(
        index=stream.index,
        codec=stream.codec_name,
        width=stream.width,
        height=stream.height,
        default=bool(stream.disposition.default),
        attached_pic=_is_cover(stream),
        sar=f"{wide}:{high}",
        frame_rate=rates.text(rate.average) if rate.average else None,
        constant_rate=rates.text(rate.constant),
        variable=rate.variable,
        field_order=_known(stream.field_order, "progressive"),
        pixel_format=stream.pix_fmt,
        bits=pixels.bits(stream.pix_fmt),
        # WebM keeps transparency in a second picture, which the pixel format does not show.
        alpha=pixels.alpha(stream.pix_fmt) or _tag(stream, "alpha_mode") == "1",
        color_primaries=_known(stream.color_primaries),
        color_transfer=_known(stream.color_transfer),
        color_space=_known(stream.color_space),
        color_range=_known(stream.color_range),
        start_ms=_start(stream, origin),
        duration_ms=duration_ms,
        frames=_frames(stream, rate, duration_ms),
    )
    return _oriented(video, _matrix(stream.side_data_list), _tag(stream, "rotate"))


def _oriented(video: VideoStream, matrix: str | None, rotate_tag: str | None) -> VideoStream:
    turn = display.orientation(matrix, rotate_tag)
    aspect = display.pixel_aspect(video.sar)
    width, height = display.display_size(video.width, video.height, aspect, turn.rotation)
    return structs.replace(
        video,
        rotation=turn.rotation,
        flipped=turn.flipped,
        display_width=width,
        display_height=height,
    )


def _tag(stream: Stream, name: str) -> str | None:
    """MP4 writes tags in lower case, Matroska in upper case."""
    return stream.tags.get(name) or stream.tags.get(name.upper())


def _matrix(side_data: tuple[SideData, ...]) -> str | None:
    return next((data.displaymatrix for data in side_data if data.displaymatrix), None)


def _known(name: str | None, *nothing: str) -> str | None:
    return None if name in (None, "unknown", "reserved", *nothing) else name


def _frames(stream: Stream, rate: Rate, duration_ms: int | None) -> int | None:
    """The container's count, if it fits: edit lists hide frames that are counted, AVI counts what it drops."""
    if not stream.nb_frames.isdecimal() or rate.average is None or duration_ms is None:
        return None
    frames, expected = int(stream.nb_frames), float(rate.average) * duration_ms / 1000
    return frames if frames and abs(frames - expected) <= max(1.0, expected / 100) else None


def _is_cover(stream: Stream) -> bool:
    """Flagged as such, or a still at the frame rate that ffmpeg gives to pictures in tags."""
    return bool(stream.disposition.attached_pic) or (
        stream.codec_name in ("mjpeg", "png")
        and (stream.r_frame_rate, stream.avg_frame_rate) == ("90000/1", "0/0")
    )


def _is_still(video: VideoStream, sound_ms: int) -> bool:
    """One frame, while the sound goes on."""
    if video.duration_ms is None or sound_ms - video.start_ms - video.duration_ms < STILL_BESIDE_SOUND_MS:
        return False
    return video.frames == 1 or video.duration_ms * Fraction(video.constant_rate or 1) <= 1_500


def _start(stream: Stream, origin: int) -> int:
    start = milliseconds(stream.start_time)
    return 0 if start is None else max(0, start - origin)


def _duration(stream: Stream, origin: int) -> int | None:
    """Matroska has no duration per track, and ffprobe may put that of the file in its place; muxers write a tag that
    says where the track *ends*."""
    declared = milliseconds(stream.duration)
    end = _clock_ms(stream.tags.get("DURATION") or stream.tags.get("DURATION-eng") or "")
    tagged = None if end is None else max(0, end - _start(stream, origin))
    known = [duration for duration in (declared, tagged) if duration is not None]
    return min(known, default=None)


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
