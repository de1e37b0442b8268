"""A look at the first bytes, for two reasons: playlists are refused before ffmpeg sees them (a second fence beside
the demuxer whitelist), and "this is a ZIP archive" helps its sender more than "invalid data"."""

import re
import struct
import zlib
from enum import StrEnum
from pathlib import Path

HEAD_BYTES = 4096


class Content(StrEnum):
    """What the head of a file looks like."""

    EMPTY = "empty"
    PLAYLIST = "playlist"
    """Text that names other files or addresses to play."""
    IMAGE = "image"
    ARCHIVE = "archive"
    DOCUMENT = "document"
    SUBTITLE = "subtitle"
    TEXT = "text"
    ISO_MEDIA = "iso_media"
    """Boxes of the mp4 family; whether they are whole is for ffprobe to say."""
    UNKNOWN = "unknown"
    """Most likely media: ffprobe decides."""


_TEXT_PLAYLIST = rb"#EXTM3U|ffconcat\b|\[playlist\]|\[reference\]|rtsptext"
_XML_PLAYLIST = rb"(<\?xml.{0,512}?\?>\s*)?(<!--.{0,512}?-->\s*)*<(mpd|smil|asx|playlist)\b"
_SDP = rb"v=0\r?\n(?=[a-z]=)"
_PICTURE = rb"\xff\xd8\xff|\x89PNG\r\n|RIFF.{4}WEBP|II\*\0|MM\0\*|8BPS|<svg|\0\0\0\x0cjP  "
_HEIF = rb".{4}ftyp(heic|heix|mif1|avif)"

SIGNATURES: tuple[tuple[Content, re.Pattern[bytes]], ...] = (
    (Content.PLAYLIST, re.compile(_TEXT_PLAYLIST, re.IGNORECASE)),
    (Content.PLAYLIST, re.compile(_XML_PLAYLIST, re.IGNORECASE | re.DOTALL)),
    (Content.PLAYLIST, re.compile(_SDP)),
    (Content.IMAGE, re.compile(_PICTURE, re.DOTALL)),
    (Content.IMAGE, re.compile(_HEIF, re.DOTALL)),
    (Content.ARCHIVE, re.compile(rb"PK\x03\x04|PK\x05\x06|\x1f\x8b|7z\xbc\xaf|Rar!|\xfd7zXZ")),
    (Content.DOCUMENT, re.compile(rb"%PDF-|\xd0\xcf\x11\xe0|\{\\rtf|\x7fELF")),
    (
        Content.SUBTITLE,
        re.compile(rb"WEBVTT|\[script info\]|\d+\r?\n\d\d:\d\d:\d\d,\d{3} -->", re.IGNORECASE),
    ),
    (Content.ISO_MEDIA, re.compile(rb".{4}(ftyp|moov|mdat|free|wide|skip|moof|styp)", re.DOTALL)),
)
"""First match wins. Sources: each format's own specification, and the probe functions in libavformat."""


_PICTURE_DEMUXERS: tuple[tuple[str, re.Pattern[bytes]], ...] = (
    ("jpeg_pipe", re.compile(rb"\xff\xd8\xff")),
    ("png_pipe", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ("webp_pipe", re.compile(rb"RIFF.{4}WEBPVP8", re.DOTALL)),
)


def picture_demuxer(path: Path) -> str | None:
    """The demuxer for a still picture of a kind that is processed; None for any other file."""
    with path.open("rb") as file:
        head = file.read(16)
    return next((name for name, signature in _PICTURE_DEMUXERS if signature.match(head)), None)


def png_size(path: Path) -> tuple[int, int] | None:
    """Width and height as the first chunk of a PNG states them; None if that chunk is not whole."""
    with path.open("rb") as file:
        head = file.read(33)
    chunk, checksum = head[12:29], head[29:33]
    if head[8:16] != b"\0\0\0\x0dIHDR" or zlib.crc32(chunk).to_bytes(4, "big") != checksum:
        return None
    width, height = struct.unpack(">II", chunk[4:12])
    return (width, height) if width and height else None


def sniff(path: Path) -> Content:
    """Look at the first 4 KiB of a file."""
    with path.open("rb") as file:
        return classify(file.read(HEAD_BYTES))


def classify(head: bytes) -> Content:
    """The kind of a file that begins like this."""
    if not head:
        return Content.EMPTY
    # A byte order mark or blank lines before the first line hide nothing from a lenient demuxer, nor from us.
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
    for content, signature in SIGNATURES:
        if signature.match(head) or signature.match(start):
            return content
    return Content.TEXT if _is_text(head) else Content.UNKNOWN


def _is_text(head: bytes) -> bool:
    """UTF-8 (perhaps cut within a character) or UTF-16 with a mark, and no control characters but white space."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 3:
            return False
        text = head[: error.start].decode("utf-8")
    return all(c.isprintable() or c in "\t\r\n\f" for c in text)
