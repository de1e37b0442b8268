"""Left-over objects and rows of an upload that has ended: of attempts that died, and of earlier generations.

First the row says that they are condemned, in a write that an upload which is processed again meanwhile refuses. Only
then are they deleted; an attempt refers to nothing that is condemned. So the two never meet, however slow either is.
"""

from collections.abc import Iterable, Iterator

from reelworks.domain import snapshot as snapshots
from reelworks.domain import upload as uploads
from reelworks.domain.keys import upload_prefix
from reelworks.domain.snapshot import Snapshot
from reelworks.ports import BlobStore, Listed
from reelworks.runtime import logging
from reelworks.workflow.graph import Workflow

log = logging.get(__name__)


def sweep(flow: Workflow, media: BlobStore, snapshot: Snapshot) -> bool:
    """Whether there was anything. Raises Conflict if the upload moves on, and Unreachable: the rest waits."""
    upload = snapshot.upload
    condemned = uploads.sweeping(upload, flow.clock.now(), flow.watch)
    flow.store.write_upload(upload, condemned)
    kept = snapshots.referred(snapshot)
    listed = media.list(upload_prefix(upload.user_id, upload.upload_id))
    count = _Counted(
        orphan for orphan in listed if snapshots.condemned(condemned, kept, orphan.key, orphan.modified_at)
    )
    media.delete(one.key for one in count)
    flow.store.forget(snapshot.spent)
    flow.store.write_upload(condemned, uploads.swept(condemned))
    if not (count.objects or snapshot.spent):
        return False
    log.info("orphans.swept", objects=count.objects, bytes=count.size_bytes, rows=len(snapshot.spent))
    return True


class _Counted:
    """Passes objects on and adds them up."""

    def __init__(self, found: Iterable[Listed]) -> None:
        self._found = found
        self.objects = 0
        self.size_bytes = 0

    def __iter__(self) -> Iterator[Listed]:
        for one in self._found:
            self.objects += 1
            self.size_bytes += one.size_bytes
            yield one
