"""What became of a message's task, as far as the message is concerned.

Each ending is a row of the table in `acknowledgement`.
"""

from enum import StrEnum

from msgspec import Struct

from reelworks.domain.failure import Failure


class Ending(StrEnum):
    """Also the `outcome` label of `reelworks_messages_total`, so the set is closed."""

    DONE = "done"
    """The task is DONE by this attempt."""
    OVER = "over"
    """There was nothing to do: DONE before, upload gone, cancelled or finished."""
    DUPLICATE = "duplicate"
    """Another message's lease on the task is alive."""
    HELD_HERE = "held_here"
    """A lease taken from this very message is alive: its visibility lapsed."""
    TOO_EARLY = "too_early"
    """The task waits for its next attempt."""
    RETRY = "retry"
    """This attempt failed, another will follow."""
    EXHAUSTED = "exhausted"
    """No attempt is left."""
    FAILED = "failed"
    """No attempt could succeed."""
    SUSPENDED = "suspended"
    """An outside system has the work."""
    RELEASED = "released"
    """The process stops; the task goes on elsewhere."""
    LEASE_LOST = "lease_lost"
    """The task belongs to someone else."""
    OUT_OF_REACH = "out_of_reach"
    """A store did not answer."""
    MALFORMED = "malformed"
    """Nobody understands the message."""
    TEST_EVENT = "test_event"
    """S3 said hello."""
    SPLIT = "split"
    """Several records in one message: each became a message of its own."""


class Verdict(Struct, frozen=True, kw_only=True):
    """`upload_id`, `task`: what the message asked for, if it could be read. `delay_ms`: for those that hide it.

    `failure`: why the task is FAILED, for the dead-letter attributes.
    """

    ending: Ending
    upload_id: str | None = None
    task: str | None = None
    user_id: str | None = None
    delay_ms: int = 0
    failure: Failure | None = None
