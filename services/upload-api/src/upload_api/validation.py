"""What the fields of a request may be, and the one form in which equal requests are equal.

Every rule gives the normalised value or raises ValueError with what is allowed; all broken rules are told at once.
"""

import base64
import binascii
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Literal, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct

from reelworks.domain import options
from reelworks.domain import profile as profiles
from reelworks.domain.keys import valid_user_id
from reelworks.domain.options import Options
from reelworks.errors import Permanent
from upload_api.dependencies import Policy
from upload_api.errors import FieldError, InvalidRequest
from upload_api.requests import ALLOWED, MAX_FILE_NAME_CHARS, MAX_URL_CHARS, CreateUpload

_MEDIA_TYPE = re.compile(r"(audio|video|image)/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}")
_URL = re.compile(r"[!-~]+")
_IDEMPOTENCY_KEY = re.compile(r"[ -~]{1,255}")
SHA256_BYTES = 32
METHODS = ("PUT",)
PRIORITIES = ("normal", "high")

_Value = TypeVar("_Value")


class Wanted(Struct, frozen=True, kw_only=True):
    """A valid request, normalised: what the fingerprint of an Idempotency-Key is made of."""

    file_name: str
    content_type: str
    size_bytes: int
    user_id: str
    project_id: str | None
    profile: str
    options: Options | None = None
    method: Literal["PUT"] = "PUT"
    checksum_sha256: str | None
    callback_url: str | None
    priority: str


class _Review:
    """Collects the errors of all fields."""

    def __init__(self) -> None:
        self.errors: list[FieldError] = []

    def optional(self, field: str, value: str | None, rule: Callable[[str], str]) -> str | None:
        return None if value is None else self.value(field, value, rule)

    def value(self, field: str, value: _Value, rule: Callable[[_Value], _Value]) -> _Value:
        try:
            return rule(value)
        except ValueError as error:
            self.errors.append(FieldError(field=field, message=str(error) or f"must be {ALLOWED[field]}."))
            return value


def validated(request: CreateUpload, policy: Policy) -> Wanted:
    """The request in its normal form. InvalidRequest names every field that is not as it must be."""
    review = _Review()
    review.value("method", request.method or METHODS[0], method)
    wanted = Wanted(
        file_name=review.value("fileName", request.file_name, file_name),
        content_type=review.value("contentType", request.content_type, content_type),
        size_bytes=review.value(
            "sizeBytes", request.size_bytes, lambda n: size_bytes(n, policy.max_put_bytes)
        ),
        user_id=review.optional("userId", request.user_id, identifier) or policy.default_user_id,
        project_id=review.optional("projectId", request.project_id, identifier),
        profile=review.value("profile", request.profile or profiles.DEFAULT.name, profile),
        options=request.options if request.options != Options() else None,
        checksum_sha256=review.optional("checksumSha256", request.checksum_sha256, checksum_sha256),
        callback_url=review.optional("callbackUrl", request.callback_url, callback_url),
        priority=review.value("priority", request.priority or PRIORITIES[0], priority),
    )
    if review.errors:
        raise InvalidRequest.of(review.errors)
    if errors := list(wrong_options(wanted.profile, wanted.options)):
        raise InvalidRequest.of(errors)
    return wanted


def chosen(name: str, changes: Options | None) -> tuple[str, Options | None, list[FieldError]]:
    """A profile and changes of it in their normal form, and what is wrong with them."""
    review = _Review()
    known = review.value("profile", name, profile)
    changes = changes if changes != Options() else None
    return known, changes, review.errors or list(wrong_options(known, changes))


def wrong_options(profile: str, chosen: Options | None) -> Iterator[FieldError]:
    """What is wrong with changes of this profile, which there must be."""
    found = options.problems(profiles.named(profile), chosen) if chosen else {}
    for name, message in found.items():
        yield FieldError(field=f"options.{name}", message=message)


def file_name(text: str) -> str:
    """Kept as it is, path separators, control characters and all: it is only ever shown. The key is made safe."""
    if not 1 <= len(text) <= MAX_FILE_NAME_CHARS:
        raise ValueError
    # C: controls, marks of direction, joiners; Z: all kinds of space.
    if all(unicodedata.category(character)[0] in "CZ" for character in text):
        raise ValueError
    return text


def content_type(text: str) -> str:
    """Lower case and without parameters: browsers differ in both, and the signature covers every byte."""
    media_type = text.partition(";")[0].strip().lower()
    if _MEDIA_TYPE.fullmatch(media_type) is None:
        raise ValueError
    return media_type


def size_bytes(size: int, limit: int) -> int:
    """Within what one PUT may carry here."""
    if not 1 <= size <= limit:
        raise ValueError(f"must be {ALLOWED['sizeBytes']} and at most {limit:,}.")
    return size


def identifier(text: str) -> str:
    """Of a user or project: both become part of keys."""
    if not valid_user_id(text):
        raise ValueError
    return text


def profile(name: str) -> str:
    """One of those there are."""
    try:
        return profiles.named(name).name
    except Permanent:
        raise ValueError(f"must be one of: {', '.join(sorted(profiles.PROFILES))}.") from None


def method(name: str) -> str:
    """One of those there are."""
    if name not in METHODS:
        raise ValueError
    return name


def checksum_sha256(text: str) -> str:
    """Base64 in its one canonical form: S3 compares what it computes, and other spellings would never be equal."""
    try:
        digest = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError from None
    if len(digest) != SHA256_BYTES or base64.b64encode(digest).decode() != text:
        raise ValueError
    return text


def callback_url(text: str) -> str:
    """Absolute, http or https, with a host, without credentials."""
    if len(text) > MAX_URL_CHARS or _URL.fullmatch(text) is None:
        raise ValueError
    try:
        parts = urlsplit(text)
        _ = parts.port  # ValueError unless it is a number below 65,536
    except ValueError:
        raise ValueError from None
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or "#" in text:
        raise ValueError
    return text


def priority(name: str) -> str:
    """One of those there are."""
    if name not in PRIORITIES:
        raise ValueError
    return name


def idempotency_key(text: str) -> str:
    """InvalidRequest unless it is 1 to 255 printable ASCII characters."""
    if _IDEMPOTENCY_KEY.fullmatch(text) is None:
        error = FieldError(field="Idempotency-Key", message="must be 1 to 255 printable ASCII characters.")
        raise InvalidRequest.of([error])
    return text
