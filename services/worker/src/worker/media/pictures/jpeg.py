"""What a JPEG file says of itself: enough to know that ffmpeg wrote a whole one, and its size."""

from pathlib import Path

from reelworks.domain.geometry import Size

CONTENT_TYPE = "image/jpeg"
IMMUTABLE = "public, max-age=31536000, immutable"
"""Every attempt writes below a prefix of its own, so what is there never changes."""

_FRAME_HEADERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""SOF markers (ITU-T T.81, table B.1) without the three others in their range."""


def size_of(path: Path) -> Size | None:
    """Its size, None for a file that is not there, not a JPEG or not whole."""
    content = path.read_bytes() if path.exists() else b""
    if not (content.startswith(b"\xff\xd8") and content.endswith(b"\xff\xd9")):
        return None
    return _frame_size(content)


def _frame_size(content: bytes) -> Size | None:
    """Walk the segments, each a marker and its length, to the frame header."""
    at = 2
    while at + 9 <= len(content) and content[at] == 0xFF:
        if content[at + 1] in _FRAME_HEADERS:
            height, width = (int.from_bytes(content[at + o : at + o + 2], "big") for o in (5, 7))
            return Size(width=width, height=height) if width and height else None
        at += 2 + int.from_bytes(content[at + 2 : at + 4], "big")
    return None
