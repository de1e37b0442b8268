"""What a handler gets, and what it is."""

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from reelworks.domain.outcome import Outcome, Outputs
from reelworks.domain.plan import TaskKind
from reelworks.domain.task import Task
from reelworks.domain.upload import Upload
from reelworks.runtime.cancellation import Cancellation


class Work(Struct, frozen=True, kw_only=True):
    """One attempt at one task.

    `inputs`: outputs of the tasks that are DONE, by name. `scratch`: an empty directory of its own, removed
    afterwards. `prefix`: the only S3 prefix of the media bucket it may write below, ends in "/". `report`: takes the
    fraction that is done, 0 to 1; cheap, call it often. `kept`: prefixes that rows refer to; what earlier attempts left
    elsewhere may be swept away, see `domain.snapshot.condemned`.
    """

    upload: Upload
    task: Task
    inputs: Mapping[str, Outputs]
    scratch: Path
    prefix: str
    cancellation: Cancellation
    report: Callable[[float], None]
    kept: frozenset[str] = frozenset()


Handler = Callable[[Work], Outcome]
"""May raise any ReelworksError instead of returning Retry, Fail, LeaseLost or Released."""

Handlers = Mapping[TaskKind, Handler]
