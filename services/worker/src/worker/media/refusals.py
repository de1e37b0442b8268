"""Every reason why a file is refused, as a sentence for the person who uploaded it.

No message contains a path: scratch paths mean nothing to them and tell others how the worker is built.
"""

from reelworks.errors import Permanent
from worker.media.sniff import Content

ACCEPTED = "Upload an audio or video file such as MP4, MOV, WebM, MKV, MP3, M4A, WAV or FLAC."

_BY_CONTENT: dict[Content, tuple[str, str]] = {
    Content.EMPTY: ("empty_file", "The file is empty. Choose the recording again and upload it once more."),
    Content.PLAYLIST: (
        "playlist",
        "This is a playlist, which only names other files. Upload the recording itself.",
    ),
    Content.IMAGE: (
        "image",
        "This is a picture of a kind that is not processed. Save it as JPEG, PNG or WebP and upload it again.",
    ),
    Content.ARCHIVE: ("not_media", "This is an archive. Unpack it and upload the recording that is inside."),
    Content.DOCUMENT: ("not_media", f"This is a document or a program, not audio or video. {ACCEPTED}"),
    Content.SUBTITLE: ("not_media", f"This is a subtitle file, not audio or video. {ACCEPTED}"),
    Content.TEXT: ("not_media", f"This is a text file, not audio or video. {ACCEPTED}"),
    Content.ISO_MEDIA: (
        "damaged",
        "The file is damaged and cannot be read. Export the recording again and upload the new file.",
    ),
    Content.UNKNOWN: ("not_media", f"This is not audio or video in a format that can be read. {ACCEPTED}"),
}


def unreadable(content: Content) -> Permanent:
    """For a file that cannot be opened, by what it looks like."""
    code, message = _BY_CONTENT[content]
    return Permanent(message, code=code)


def index_missing() -> Permanent:
    return Permanent(
        "The file is incomplete: its index is missing, so the recording or the upload was cut off. "
        "Export the recording again and upload the whole file.",
        code="truncated",
    )


def cut_short(*, declared_ms: int, decoded_ms: int) -> Permanent:
    return Permanent(
        f"The file is incomplete: it should last {clock(declared_ms)} but ends after {clock(decoded_ms)}. "
        "Upload the whole file.",
        code="truncated",
    )


def no_streams() -> Permanent:
    return Permanent(f"The file has neither sound nor a moving picture. {ACCEPTED}", code="no_streams")


def too_many_streams(count: int, limit: int) -> Permanent:
    return Permanent(
        f"The file has {count} tracks, at most {limit} are accepted. Export it with fewer tracks.",
        code="too_many_streams",
    )


def too_long(limit_ms: int, duration_ms: int | None = None) -> Permanent:
    lasts = "is too long" if duration_ms is None else f"lasts {clock(duration_ms)}"
    return Permanent(
        f"The recording {lasts}; at most {clock(limit_ms)} are accepted. Split it and upload the parts.",
        code="too_long",
    )


def too_many_pixels(limit: int, width: int = 0, height: int = 0) -> Permanent:
    size = f"of {width}x{height} pixels is" if width and height else "is"
    return Permanent(
        f"The picture {size} too large; at most {limit // 1_000_000} megapixels are accepted. "
        "Export it smaller.",
        code="too_many_pixels",
    )


def picture_instead_of_media() -> Permanent:
    """Announced as audio or video, so somebody chose the wrong file."""
    return Permanent(f"This is a picture, not audio or video. {ACCEPTED}", code="image")


def undecodable_picture(codec: str) -> Permanent:
    return Permanent(
        f"The picture of this file ({codec}) cannot be decoded. "
        "Export it again, as JPEG or as MP4 with H.264, and upload the new file.",
        code="undecodable_picture",
    )


def undecodable_audio(codec: str) -> Permanent:
    return Permanent(
        f"The sound of this file ({codec}) cannot be decoded. "
        "Export it with AAC or MP3 sound and upload it again.",
        code="undecodable_audio",
    )


def clock(ms: int) -> str:
    """`1:02:03.5`, `2:03.5`: hours only where there are any, tenths always."""
    tenths = round(ms / 100)
    minutes, rest = divmod(tenths, 600)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{minutes:02d}:" if hours else f"{minutes}:"
    return (f"{hours}:" if hours else "") + seconds + f"{rest // 10:02d}.{rest % 10}"
