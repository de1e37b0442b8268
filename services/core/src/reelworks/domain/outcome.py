"""What a handler returns: in-memory only, never stored as such. `acknowledge` in the worker turns it into deeds."""

from msgspec import Struct

from reelworks.domain.instants import Millis
from reelworks.domain.plan import MediaSummary, ObjectFacts, Plan
from reelworks.errors import Permanent, ReelworksError


class Outputs(Struct, frozen=True, kw_only=True):
    """What a finished task left behind.

    `prefix`: the fenced S3 prefix of this attempt, ends in "/". `files`: logical name → full S3 key in the media
    bucket. `excerpt`: the beginning of a transcript, bounded. `language`: BCP 47 tag, if it is known. `uses`: prefixes
    of earlier attempts at this task whose finished files the outputs refer to; they must be kept as long as `prefix`.
    """

    prefix: str
    files: dict[str, str] = {}
    excerpt: str | None = None
    language: str | None = None
    uses: tuple[str, ...] = ()


class Done(Struct, frozen=True, kw_only=True):
    """The work is finished; the row may point at the outputs."""

    outputs: Outputs


class Accepted(Struct, frozen=True, kw_only=True):
    """The ingest is finished: what arrived, what it is, and what is to be done with it."""

    outputs: Outputs
    object: ObjectFacts
    media: MediaSummary
    plan: Plan


class Retry(Struct, frozen=True, kw_only=True):
    """This attempt failed, another may succeed. `after_ms`: the least delay, None for the policy's own."""

    error: ReelworksError
    after_ms: int | None = None


class Fail(Struct, frozen=True, kw_only=True):
    """No attempt can succeed."""

    error: Permanent


class Suspend(Struct, frozen=True, kw_only=True):
    """An outside system will call back with `reference`, at the latest at `until`."""

    reference: str
    until: Millis


class Released(Struct, frozen=True, kw_only=True):
    """The process is stopping; the task goes on elsewhere at once and this attempt does not count."""


class LeaseLost(Struct, frozen=True, kw_only=True):
    """Someone else owns the task; nothing may be written any more."""


class OutOfReach(Struct, frozen=True, kw_only=True):
    """A store did not answer. The work could be done or not: nothing is decided."""

    error: ReelworksError


Outcome = Done | Accepted | Retry | Fail | Suspend | Released | LeaseLost | OutOfReach
