"""S3 keys: built from safe parts only, and read back from the keys that events carry."""

import re
import unicodedata

from msgspec import Struct

from reelworks.errors import Malformed

MAX_NAME_CHARS = 120
"""S3 keys end at 1,024 bytes; the rest of the key takes under 200."""

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_USER_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,127}")
_UPLOAD_ID = re.compile(r"[0-9a-f]{32}")


def valid_user_id(text: str) -> bool:
    """1 to 128 of letters, digits, `.`, `_`, `@`, `-`, not starting with a sign: it becomes part of S3 keys."""
    return _USER_ID.fullmatch(text) is not None


def valid_upload_id(text: str) -> bool:
    """32 lower-case hex digits."""
    return _UPLOAD_ID.fullmatch(text) is not None


def safe_name(file_name: str) -> str:
    """A file name that is safe in keys, URLs and shells: ASCII, no separators, never hidden, keeps its extension."""
    plain = unicodedata.normalize("NFKD", file_name).encode("ascii", "ignore").decode()
    last = re.split(r"[/\\]", plain)[-1]
    cleaned = _UNSAFE.sub("-", last).strip("-._")
    if not cleaned or cleaned.startswith("."):
        return "upload"
    if len(cleaned) <= MAX_NAME_CHARS:
        return cleaned
    stem, dot, extension = cleaned.rpartition(".")
    if not dot or len(extension) > 10:
        return cleaned[:MAX_NAME_CHARS]
    return f"{stem[: MAX_NAME_CHARS - len(extension) - 1]}.{extension}"


class RawKey(Struct, frozen=True, kw_only=True):
    """The parts of `uploads/{user_id}/{upload_id}/{name}` in the raw bucket."""

    user_id: str
    upload_id: str
    name: str

    def __str__(self) -> str:
        return f"uploads/{self.user_id}/{self.upload_id}/{self.name}"


def parse_raw_key(key: str) -> RawKey:
    """The parts of a decoded raw key; Malformed for any other key."""
    parts = key.split("/")
    if (
        len(parts) != 4
        or parts[0] != "uploads"
        or not valid_user_id(parts[1])
        or not valid_upload_id(parts[2])
    ):
        raise Malformed(f"The object key {key[:200]!r} is not uploads/USER/UPLOAD/NAME.", code="foreign_key")
    return RawKey(user_id=parts[1], upload_id=parts[2], name=parts[3])


def upload_prefix(user_id: str, upload_id: str) -> str:
    """Of everything made of an upload, in the media bucket."""
    return f"processed/{user_id}/{upload_id}/"


def task_prefix(user_id: str, upload_id: str, task: str) -> str:
    """Of all attempts at a task, of whatever generation, in the media bucket."""
    return f"{upload_prefix(user_id, upload_id)}tasks/{task}/"


def attempt_prefix(user_id: str, upload_id: str, task: str, token: str) -> str:
    """Where one attempt may write in the media bucket: nobody else ever writes there."""
    return f"{task_prefix(user_id, upload_id, task)}{token}/"
