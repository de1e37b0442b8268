"""The wire contract: what is in an SQS body, ours and S3's, decoded into one thing, a list of hints.

A hint says "look at this task of this upload" and nothing more. Unknown versions and shapes are Malformed.
"""

from typing import Annotated, Any, Literal
from urllib.parse import unquote_plus

import msgspec
from msgspec import Meta, Struct

from reelworks.domain.keys import parse_raw_key, valid_upload_id
from reelworks.domain.plan import INGEST
from reelworks.errors import Malformed

VERSION: Literal[1] = 1

MAX_QUOTE = 200
"""Characters of a foreign message in one of ours, which ends up in logs and in attributes of dead letters."""

TaskName = Annotated[str, Meta(pattern=r"^[a-z0-9-]{1,64}\Z")]
"""Names become sort keys, directories and log fields. `\\Z`: to Python's `$`, a newline at the end is no news."""


class Hint(Struct, frozen=True, kw_only=True):
    """Look at this task. `object_key`: decoded, from an S3 event only."""

    upload_id: str
    task: str
    object_key: str | None = None


class TaskMessage(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=False):
    """Our own message, version 1. Later versions may add fields; a change of meaning takes a new number."""

    version: Literal[1]
    upload_id: str
    task: TaskName


class _Object(Struct, frozen=True):
    key: str


class _Entity(Struct, frozen=True):
    object: _Object


class _Record(Struct, frozen=True, rename="camel"):
    event_source: str
    event_name: str
    s3: _Entity


class Batch(Struct, frozen=True, kw_only=True):
    """What a message asks for. `rejects`: records of an S3 event that do not decode, as JSON text."""

    hints: tuple[Hint, ...] = ()
    rejects: tuple[str, ...] = ()


def encode(upload_id: str, task: str) -> str:
    """The body of a message for one task."""
    return msgspec.json.encode(TaskMessage(version=VERSION, upload_id=upload_id, task=task)).decode()


def decode(body: str) -> Batch:
    """What the body asks for: a Batch, empty for S3's test event. Raises Malformed."""
    try:
        return _batch(_document(body))
    except RecursionError as error:  # decoding, or encoding a reject again
        raise Malformed("The message is nested too deeply.") from error


def _batch(document: dict[str, Any]) -> Batch:
    if document.get("Event") == "s3:TestEvent":
        return Batch()
    if "Records" in document:
        return _s3_event(document["Records"])
    if "version" in document:
        return Batch(hints=(_own(document),))
    raise Malformed("The message is neither a task of version 1 nor an S3 event.")


def _document(body: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise Malformed(f"The message is not a JSON object: {_quoted(error)}") from error


def _own(document: dict[str, Any]) -> Hint:
    try:
        message = msgspec.convert(document, TaskMessage)
    except msgspec.ValidationError as error:
        raise Malformed(f"The message is not a task of version {VERSION}: {_quoted(error)}") from error
    if not valid_upload_id(message.upload_id):
        raise Malformed("The message does not name an upload.")
    return Hint(upload_id=message.upload_id, task=message.task)


def _s3_event(records: object) -> Batch:
    if not isinstance(records, list) or not records:
        raise Malformed("The S3 event has no records.")
    hints, rejects = [], []
    for record in records:
        try:
            hints.append(_hint(record))
        except Malformed:
            rejects.append(msgspec.json.encode(record).decode())
    if not hints:
        raise Malformed("No record of the S3 event names an object under uploads/USER/UPLOAD/NAME.")
    return Batch(hints=tuple(hints), rejects=tuple(rejects))


def _hint(record: object) -> Hint:
    try:
        found = msgspec.convert(record, _Record)
    except msgspec.ValidationError as error:
        raise Malformed(f"Not an S3 record: {_quoted(error)}") from error
    if found.event_source != "aws:s3" or "ObjectCreated" not in found.event_name:
        raise Malformed(f"Not about a created object: {_quoted(found.event_name)}")
    key = decode_key(found.s3.object.key)
    return Hint(upload_id=parse_raw_key(key).upload_id, task=INGEST, object_key=key)


def _quoted(foreign: object) -> str:
    return str(foreign)[:MAX_QUOTE]


def decode_key(encoded: str) -> str:
    """The key of an event. AWS writes a space as `+`, LocalStack as `%20`; moto also encodes each slash."""
    return unquote_plus(encoded, errors="strict") if _well_formed(encoded) else encoded


def _well_formed(encoded: str) -> bool:
    try:
        unquote_plus(encoded, errors="strict")
    except UnicodeDecodeError:
        return False
    return True
