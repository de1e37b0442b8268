"""The bodies of requests: their shapes, and the reading of JSON into them with every wrong field named at once.

What the values may be is `validation`'s business.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta, Struct, structs

from reelworks.domain import options
from reelworks.domain.options import Options
from upload_api.errors import FieldError, InvalidRequest

MAX_BODY_BYTES = 64 * 1024
"""The longest valid request is below 32 KB, even if each character is written as an escape."""
MAX_FILE_NAME_CHARS = 1_024
MAX_URL_CHARS = 2_048
_Body = TypeVar("_Body", bound=Struct)

SHOWN_CHARS = 100
"""Of an unknown field's name, in the answer."""

ALLOWED = {
    "fileName": "a text of 1 to 1,024 characters, at least one of them visible",
    "contentType": "the media type of the file, like audio/mpeg, video/mp4 or image/jpeg (audio/*, video/* or image/*)",
    "sizeBytes": "the exact size of the file in bytes, a whole number of at least 1",
    "userId": "1 to 128 letters, digits, '.', '_', '@' or '-', beginning with a letter or digit",
    "projectId": "1 to 128 letters, digits, '.', '_', '@' or '-', beginning with a letter or digit",
    "profile": "the name of a processing profile",
    "options": "an object with changes of the profile",
    "method": "PUT, the only way to upload in this version",
    "checksumSha256": "the SHA-256 of the file in base64 (44 characters, ending in '=')",
    "callbackUrl": "an absolute http:// or https:// URL of at most 2,048 ASCII characters, without user or fragment "
    "(kept with the upload; this version does not call it)",
    "priority": "normal or high (kept with the upload; this version treats both alike)",
    "candidate": "the index of one of the poster's candidates, from 0, or null to leave the choice to the ranking",
}
"""What each field may be, for people: in the documentation and in errors."""


class CreateUpload(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A file that its owner wants to upload."""

    file_name: Annotated[str, Meta(description=ALLOWED["fileName"], examples=["Interview.m4a"])]
    content_type: Annotated[str, Meta(description=ALLOWED["contentType"], examples=["audio/mp4"])]
    size_bytes: Annotated[int, Meta(description=ALLOWED["sizeBytes"], examples=[1_048_576])]
    user_id: Annotated[str, Meta(description=ALLOWED["userId"])] | None = None
    project_id: Annotated[str, Meta(description=ALLOWED["projectId"])] | None = None
    profile: Annotated[str, Meta(description=ALLOWED["profile"])] | None = None
    options: Annotated[Options, Meta(description=ALLOWED["options"])] | None = None
    method: Annotated[str, Meta(description=ALLOWED["method"])] | None = None
    checksum_sha256: Annotated[str, Meta(description=ALLOWED["checksumSha256"])] | None = None
    callback_url: Annotated[str, Meta(description=ALLOWED["callbackUrl"])] | None = None
    priority: Annotated[str, Meta(description=ALLOWED["priority"])] | None = None


class Reprocess(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """How an upload is to be processed this time. Without either field as the last time; options of another profile
    are not carried over.
    """

    profile: Annotated[str, Meta(description=ALLOWED["profile"], examples=["archive"])] | None = None
    options: Annotated[Options, Meta(description=ALLOWED["options"])] | None = None


class ChoosePoster(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Which candidate is to be an upload's poster."""

    candidate: Annotated[int | None, Meta(description=ALLOWED["candidate"], examples=[2])]


def decode(body: bytes, kind: type[_Body]) -> _Body:
    """InvalidRequest names each unknown, missing or mistyped field and says what is allowed there."""
    document = _document(body)
    if errors := list(_wrong(document, kind)):
        raise InvalidRequest.of(errors)
    return msgspec.convert(document, kind)


def _document(body: bytes) -> dict[str, object]:
    try:
        return msgspec.json.decode(body, type=dict[str, object])
    except msgspec.ValidationError:
        problem = "must be a JSON object."
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        problem = f"is not valid JSON in UTF-8: {error}."
    except RecursionError:
        problem = "is nested too deeply."
    raise InvalidRequest(f"The body {problem}", errors=[FieldError(field="", message=problem)])


def _wrong(document: Mapping[str, object], kind: type[Struct], within: str = "") -> Iterator[FieldError]:
    """`within`: before each name, for the fields of an object in the request."""
    fields = {field.encode_name: field for field in structs.fields(kind)}
    for name in sorted(document.keys() - fields.keys()):
        known = ", ".join(fields)
        message = f"is not a field of {within or 'this request'}. There are: {known}."
        yield FieldError(field=_dotted(within, name[:SHOWN_CHARS]), message=message)
    for name, field in fields.items():
        found = document.get(name)
        if name not in document:
            if field.required:
                yield FieldError(field=name, message=f"is required: {ALLOWED[name]}.")
        elif name == "options" and isinstance(found, dict):
            yield from _wrong(found, Options, name)
        elif not _fits(found, field.type):
            allowed = (options.ALLOWED if within else ALLOWED)[name]
            yield FieldError(field=_dotted(within, name), message=f"must be {allowed}.")


def _dotted(within: str, name: str) -> str:
    return f"{within}.{name}" if within else name


def _fits(value: object, kind: type) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True
