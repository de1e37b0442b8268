"""Every error that Reelworks raises on purpose.

::

    ReelworksError
    ├── Permanent            no retry can fix it: the task or upload fails at once
    ├── Temporary            worth another attempt, after `retry_after_ms` if that is given
    ├── Unreachable          DynamoDB, S3 or SQS did not answer: nothing is known, so nothing is decided
    ├── Conflict             a conditional write was refused: someone else moved the row first
    ├── LeaseLost            this attempt no longer owns its task and must stop without writing
    ├── Interrupted          the worker is stopping, the attempt hands its task on
    ├── Malformed            a message or event that no version of this code understands
    └── InvalidSettings      the environment does not describe a runnable service

`code` is a stable snake_case word for machines (metrics, API, dead-letter attributes); `message` is a
sentence for people that says what to do next.
"""

from typing import ClassVar


class ReelworksError(Exception):
    """The root. `message` is shown to people, `code` to machines."""

    default_code: ClassVar[str] = "error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code


class Permanent(ReelworksError):
    """No retry can fix it."""

    default_code = "permanent"


class Temporary(ReelworksError):
    """Another attempt may succeed.

    `retry_after_ms`: the least delay that the other side asked for (a Retry-After header), else None.
    """

    default_code = "temporary"

    def __init__(self, message: str, *, code: str | None = None, retry_after_ms: int | None = None) -> None:
        super().__init__(message, code=code)
        self.retry_after_ms = retry_after_ms


class Unreachable(ReelworksError):
    """An AWS service could not be reached or answered with its own failure. The effect is unknown."""

    default_code = "unreachable"


class Conflict(ReelworksError):
    """A conditional write was refused, and what is stored is not what we tried to store."""

    default_code = "conflict"


class LeaseLost(ReelworksError):
    """The task belongs to someone else by now."""

    default_code = "lease_lost"


class Interrupted(ReelworksError):
    """The process is shutting down before the work was finished."""

    default_code = "interrupted"


class Malformed(ReelworksError):
    """Bytes that do not decode into any message this version knows."""

    default_code = "malformed"


class InvalidSettings(ReelworksError):
    """A setting is missing, unknown or out of range; the message names it."""

    default_code = "invalid_settings"
