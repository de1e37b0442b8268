"""One pass: every shard of the watch index, page by page, row by row.

A row that cannot be repaired now is still due in the next pass; one bad row never stops the others.
"""

import threading
from collections import Counter
from collections.abc import Iterator, Mapping

from dlq_janitor.repairs import Repair, Repairs, repair
from reelworks.errors import Conflict, ReelworksError
from reelworks.ports import Due
from reelworks.runtime import logging

log = logging.get(__name__)


class Sweep:
    """`batch`: rows a page. `max_rows`: per shard and pass."""

    def __init__(
        self, repairs: Repairs, *, batch: int, max_rows: int, stopping: threading.Event | None = None
    ) -> None:
        self._repairs = repairs
        self._batch = batch
        self._max_rows = max_rows
        self._stopping = stopping or threading.Event()
        self._stopped_at: dict[int, Mapping[str, object]] = {}

    def run(self) -> Counter[Repair]:
        """One pass over everything that is due; what was repaired. Raises Unreachable if the index cannot be read."""
        done: Counter[Repair] = Counter()
        for shard in range(self._repairs.flow.store.shards):
            for due in self._due(shard):
                if self._stopping.is_set():
                    return done
                if (repaired := self._one(due)) is not None:
                    done[repaired] += 1
        return done

    def _due(self, shard: int) -> Iterator[Due]:
        """Up to `max_rows`, beginning where the last pass had to stop: rows that cannot be helped starve no others."""
        now = self._repairs.flow.clock.now()
        cursor: Mapping[str, object] | None = self._stopped_at.pop(shard, None)
        seen = 0
        while seen < self._max_rows:
            page = self._repairs.flow.store.due(shard, now, min(self._batch, self._max_rows - seen), cursor)
            yield from page.rows
            seen += len(page.rows)
            cursor = page.cursor
            if cursor is None:
                return
        if cursor is not None:
            self._stopped_at[shard] = cursor

    def _one(self, due: Due) -> Repair | None:
        with logging.bound(upload_id=due.upload_id, task=due.task):
            try:
                repaired = repair(self._repairs, due)
            except Conflict:
                log.debug("sweep.repaired_elsewhere")
                return None
            except ReelworksError as error:
                log.warning("sweep.postponed", error=error.message)
                return None
            except Exception:  # the border of a row: the others must not wait for a bug in one
                log.exception("sweep.row_crashed")
                return None
            if repaired is not None:
                self._repairs.flow.metrics.sweep_actions.labels(repaired).inc()
                log.info("sweep.repaired", repair=repaired)
            return repaired
