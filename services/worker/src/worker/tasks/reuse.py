"""Renditions that an earlier attempt at the same task has finished, of this generation of the upload or another: found,
checked, and not encoded again.

An attempt writes `rendition.json` into a rendition's directory after all its objects. Whoever finds one there, with the
same recipe and with every object in the bucket at its full size, refers to them where they are: keys are never written
twice, so they do not change any more. A directory without it is unfinished and is encoded again.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct

from reelworks.domain.keys import task_prefix
from reelworks.domain.snapshot import condemned
from reelworks.ports import BlobStore
from reelworks.runtime import logging
from reelworks.runtime.metrics import Metrics
from reelworks.streaming.manifest import MAX_BYTES, Rendition
from worker.tasks.publish import Sender
from worker.tasks.source import Buckets
from worker.work import Work

NAME = "rendition.json"
ENGINE = 1
"""Raise it when the same options begin to give other pictures or another sound."""

log = logging.get(__name__)


class Measuring(Buckets, Protocol):
    """The part of a task's dependencies that is used here."""

    @property
    def metrics(self) -> Metrics: ...


class Kept(Struct, frozen=True, kw_only=True):
    """A finished rendition. `recipe`: of `recipe`. `prefix`: of the attempt that made it, ends in "/"."""

    recipe: str
    prefix: str
    rendition: Rendition


def recipe(*parts: object) -> str:
    """64 hex digits over everything that decides how a rendition looks. `parts`: what msgspec can encode."""
    return hashlib.sha256(msgspec.json.encode((ENGINE, *parts), order="deterministic")).hexdigest()


def find(work: Work, needs: Measuring, recipes: Mapping[str, str]) -> dict[str, Kept]:
    """Finished renditions by name. `recipes`: those that are wanted, by name. One listing; none is read in vain."""
    root = task_prefix(work.upload.user_id, work.upload.upload_id, work.task.name)
    sizes = {
        listed.key: listed.size_bytes
        for listed in needs.media.list(root)
        if not condemned(work.upload, work.kept, listed.key, listed.modified_at)
    }
    found: dict[str, Kept] = {}
    for key in sizes:
        name, last = ("", *key.split("/"))[-2:]
        if last != NAME or name not in recipes or name in found:
            continue
        kept = _read(key, needs.media)
        if kept is not None and kept.recipe == recipes[name] and _complete(kept.rendition, sizes):
            found[name] = kept
            needs.metrics.renditions.labels(work.task.kind, "reused").inc()
            log.info("rendition.reused", rendition=name, prefix=kept.prefix)
    return found


def publish_and_keep(
    work: Work, needs: Measuring, sender: Sender, directory: Path, recipe: str
) -> Kept | None:
    """Measure and upload what ffmpeg left in a directory; then it counts as finished. None if that is nothing."""
    rendition = sender.rendition(directory)
    if rendition is None:
        return None
    kept = Kept(recipe=recipe, prefix=work.prefix, rendition=rendition)
    needs.media.put(f"{work.prefix}{rendition.name}/{NAME}", msgspec.json.encode(kept), "application/json")
    needs.metrics.renditions.labels(work.task.kind, "encoded").inc()
    log.info("rendition.encoded", rendition=rendition.name, segments=len(rendition.segments))
    return kept


def foreign(work: Work, kept: Mapping[str, Kept]) -> tuple[str, ...]:
    """Prefixes of earlier attempts that these renditions lie below."""
    return tuple(sorted({one.prefix for one in kept.values()} - {work.prefix}))


def _read(key: str, media: BlobStore) -> Kept | None:
    stored = media.get(key, MAX_BYTES)
    try:
        return msgspec.json.decode(stored, type=Kept) if stored else None
    except msgspec.DecodeError:
        # Of another version. The rendition is encoded again.
        return None


def _complete(rendition: Rendition, sizes: Mapping[str, int]) -> bool:
    parts = [(part.key, part.bytes) for part in rendition.segments]
    parts.append((rendition.init.key, rendition.init.bytes))
    return all(size > 0 and sizes.get(key) == size for key, size in parts)
