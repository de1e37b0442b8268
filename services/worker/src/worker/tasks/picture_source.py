"""The moving picture of a task's upload, on the local disk and ready to be sampled."""

from typing import Protocol

from reelworks.errors import Permanent
from worker.media.engine import MediaEngine
from worker.media.pictures.sampling import Source
from worker.tasks import source
from worker.tasks.source import Buckets
from worker.work import Work


class Needs(Buckets, Protocol):
    """The part of a task's dependencies that is used here."""

    @property
    def engine(self) -> MediaEngine: ...


def fetch(work: Work, needs: Needs) -> Source:
    """Raises Permanent (`no_picture`) for a file without a moving picture, and what `source.fetch` raises."""
    found = source.report(work.upload, needs.media)
    if found.picture is None:
        raise Permanent("The file has no moving picture.", code="no_picture")
    return Source(
        file=source.fetch(work, needs, found),
        stream=found.picture,
        engine=needs.engine,
        cancellation=work.cancellation,
        scratch=work.scratch,
    )
