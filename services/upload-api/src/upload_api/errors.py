"""Why a request is refused for good.

::

    Permanent (reelworks.errors)
    └── Refused                    the same request will be refused again
        ├── InvalidRequest         the body or a header; `errors` say which field and what is allowed
        ├── UnsupportedMediaType   the body is not JSON
        ├── KeyReused              the Idempotency-Key belongs to another request
        ├── KeySpent               the Idempotency-Key belongs to an upload that is gone
        ├── NotReady               what the request is about is not there (yet)
        ├── SourceGone             the uploaded file is not kept any more
        └── UnknownUpload          no such upload, or not this caller's

    ClientGone (Exception)         nobody is left to answer

`problems` turns each into its HTTP status, and nothing else does.
"""

from collections.abc import Iterable

from msgspec import Struct

from reelworks.errors import Permanent


class FieldError(Struct, frozen=True, kw_only=True):
    """`field`: as the client writes it (`sizeBytes`, `Idempotency-Key`); empty for the body as a whole."""

    field: str
    message: str


class Refused(Permanent):
    """The root of this package's errors."""

    def __init__(self, message: str, *, errors: Iterable[FieldError] = ()) -> None:
        super().__init__(message)
        self.errors = tuple(errors)


class InvalidRequest(Refused):
    """What was sent is not what is allowed."""

    default_code = "invalid_request"

    @classmethod
    def of(cls, errors: Iterable[FieldError]) -> "InvalidRequest":
        """One sentence for all of them, and each by itself."""
        found = tuple(errors)
        return cls(" ".join(f"{error.field} {error.message}" for error in found), errors=found)


class UnsupportedMediaType(Refused):
    """Only JSON in UTF-8 is understood."""

    default_code = "unsupported_media_type"


class KeyReused(Refused):
    """Two different requests under one key: answering either would be wrong for the other."""

    default_code = "idempotency_key_reused"


class KeySpent(Refused):
    """Nothing can be answered under this key until it is forgotten, however often it is sent."""

    default_code = "conflict"


class UnknownUpload(Refused):
    """Ill-formed, never made, or somebody else's: a stranger cannot tell which."""

    default_code = "unknown_upload"


class NotReady(Refused):
    """It makes sense, but not now."""

    default_code = "not_ready"


class SourceGone(Refused):
    """Results are still there, but nothing new can be made of the file."""

    default_code = "source_gone"


class ClientGone(Exception):
    """The client closed its connection before it had sent the whole request: nobody's mistake."""
