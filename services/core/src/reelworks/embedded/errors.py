"""Why the embedded mode cannot go on; each message is a sentence for the person at the terminal.

::

    ReelworksError
    └── EmbeddedError
        ├── PortTaken    somebody else listens where the page should be
        ├── ChildDied    one of the processes ended on its own; `tail` is the end of what it wrote
        ├── OutOfTime    the deadline passed
        └── Refused      the API or S3 did not take the clip
"""

from reelworks.errors import ReelworksError


class EmbeddedError(ReelworksError):
    """The root of this package's errors."""

    default_code = "embedded"


class PortTaken(EmbeddedError):
    """A port that was asked for is in use."""

    default_code = "port_taken"


class ChildDied(EmbeddedError):
    """A process ended that should run."""

    default_code = "child_died"

    def __init__(self, message: str, tail: str) -> None:
        super().__init__(message)
        self.tail = tail


class OutOfTime(EmbeddedError):
    """It takes too long."""

    default_code = "out_of_time"


class Refused(EmbeddedError):
    """A request was answered with an error."""

    default_code = "refused"
