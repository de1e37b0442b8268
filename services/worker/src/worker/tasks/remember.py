"""Results that are found again: by an attempt after one that died before its commit, or by the same task when the
upload is processed again.

A note below an attempt's prefix says what was made and by which recipe. For whole tasks it is `outputs.json`, written
last: whoever finds one with the same recipe, and every file that it names still there, has the results.
"""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

from reelworks.domain.keys import task_prefix
from reelworks.domain.outcome import Done, Outcome, Outputs
from reelworks.domain.snapshot import condemned
from reelworks.ports import BlobStore
from reelworks.runtime import logging
from worker.tasks.reuse import recipe
from worker.work import Handler, Work

NAME = "outputs.json"
MAX_BYTES = 100_000
"""A poster's has some 2 KB, a transcript's excerpt at most 16."""

Ingredients = Callable[[Work], tuple[object, ...]]
"""Everything besides the source that decides about a task's results; what msgspec can encode."""

log = logging.get(__name__)
_Made = TypeVar("_Made")


class Kept(Struct, Generic[_Made], frozen=True, kw_only=True):
    """What an attempt has made. `recipe`: of `reuse.recipe`."""

    recipe: str
    made: _Made


class Note(Struct, frozen=True, kw_only=True):
    """Where one lies. `siblings`: every object of all attempts at the task that may be referred to."""

    key: str
    body: bytes
    siblings: frozenset[str]

    def read(self, wanted: str, kind: type[_Made]) -> _Made | None:
        """What was made, if it was by this recipe."""
        try:
            kept = msgspec.json.decode(self.body, type=Kept[kind])  # type: ignore[valid-type]
        except msgspec.DecodeError:
            # Of another version. It is made again.
            return None
        return kept.made if kept.recipe == wanted else None


def note(wanted: str, made: object) -> bytes:
    """To be stored."""
    return msgspec.json.encode(Kept(recipe=wanted, made=made))


def notes(work: Work, media: BlobStore, name: str) -> Iterator[Note]:
    """Those of that name that attempts at this task have left. One listing; each is read when it is asked for."""
    root = task_prefix(work.upload.user_id, work.upload.upload_id, work.task.name)
    keys = frozenset(
        listed.key
        for listed in media.list(root)
        if not condemned(work.upload, work.kept, listed.key, listed.modified_at)
    )
    for key in sorted(key for key in keys if key.endswith(f"/{name}")):
        if body := media.get(key, MAX_BYTES):
            yield Note(key=key, body=body, siblings=keys)


def remembering(handler: Handler, media: BlobStore, ingredients: Ingredients | None = None) -> Handler:
    """The handler, which is not called where its results are there already. For tasks that depend on nothing but the
    source and their `ingredients`.
    """

    def handle(work: Work) -> Outcome:
        besides = ingredients(work) if ingredients else ()
        wanted = recipe(work.task.kind, work.upload.object, *besides)
        for found in notes(work, media, NAME):
            known = found.read(wanted, Outputs)
            if known is not None and found.siblings.issuperset(known.files.values()):
                log.info("task.remembered", prefix=known.prefix)
                return Done(outputs=known)
        outcome = handler(work)
        if isinstance(outcome, Done):
            media.put(work.prefix + NAME, note(wanted, outcome.outputs), "application/json")
        return outcome

    return handle
