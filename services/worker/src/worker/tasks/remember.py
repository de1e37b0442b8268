"""Whole tasks whose results are found again: by an attempt after one that died before its commit, or by the same task
when the upload is processed again. For tasks that depend on nothing but the source and a few settings.

`outputs.json` is written last, below the attempt's prefix. Whoever finds one with the same recipe, and every file that
it names still there, has the results.
"""

from collections.abc import Callable

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


class Kept(Struct, frozen=True, kw_only=True):
    """What an attempt has made. `recipe`: of `reuse.recipe`."""

    recipe: str
    outputs: Outputs


def remembering(handler: Handler, media: BlobStore, ingredients: Ingredients | None = None) -> Handler:
    """The handler, which is not called where its results are there already."""

    def handle(work: Work) -> Outcome:
        besides = ingredients(work) if ingredients else ()
        wanted = recipe(work.task.kind, work.upload.object, *besides)
        if (known := _find(work, media, wanted)) is not None:
            log.info("task.remembered", prefix=known.prefix)
            return Done(outputs=known)
        outcome = handler(work)
        if isinstance(outcome, Done):
            note = msgspec.json.encode(Kept(recipe=wanted, outputs=outcome.outputs))
            media.put(work.prefix + NAME, note, "application/json")
        return outcome

    return handle


def _find(work: Work, media: BlobStore, wanted: str) -> Outputs | None:
    root = task_prefix(work.upload.user_id, work.upload.upload_id, work.task.name)
    keys = {
        listed.key
        for listed in media.list(root)
        if not condemned(work.upload, work.kept, listed.key, listed.modified_at)
    }
    for key in sorted(key for key in keys if key.endswith(f"/{NAME}")):
        kept = _read(key, media)
        if kept is not None and kept.recipe == wanted and keys.issuperset(kept.outputs.files.values()):
            return kept.outputs
    return None


def _read(key: str, media: BlobStore) -> Kept | None:
    stored = media.get(key, MAX_BYTES)
    try:
        return msgspec.json.decode(stored, type=Kept) if stored else None
    except msgspec.DecodeError:
        # Of another version. The task is done again.
        return None
