"""A task whose results are there already is not done again; any doubt, and it is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from reelworks.domain.outcome import Done, Outcome, Outputs
from reelworks.domain.plan import TaskKind
from reelworks.domain.upload import Upload
from reelworks.errors import Permanent
from reelworks.runtime.cancellation import Cancellation
from reelworks.testing import FakeClock, InMemoryBlobStore
from tests.unit.core.domain.builders import FACTS, make_task, make_upload
from worker.tasks.remember import NAME, remembering
from worker.work import Handler, Work

ROOT = f"processed/ada/{make_upload().upload_id}/tasks/transcribe/"


class Bench:
    """One bucket, and attempts with tokens of their own."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.media = InMemoryBlobStore(self.clock)
        self.upload: Upload = make_upload(object=FACTS)
        self.kept: frozenset[str] = frozenset()
        self.done: list[str] = []
        self.language = "en"
        self._attempts = 0

    @property
    def handler(self) -> Handler:
        return remembering(self._work, self.media, lambda _: (self.language,))

    def _work(self, work: Work) -> Outcome:
        self.done.append(work.prefix)
        key = f"{work.prefix}transcript.txt"
        self.media.put(key, b"", "text/plain")
        return Done(outputs=Outputs(prefix=work.prefix, files={"txt": key}, excerpt="hello", language="en"))

    def attempt(self, handler: Handler | None = None, **changes: Any) -> Outcome:
        self._attempts += 1
        work = Work(
            upload=self.upload,
            task=structs.replace(make_task(), **changes),
            inputs={},
            scratch=Path(),
            prefix=f"{ROOT}t{self._attempts}/",
            cancellation=Cancellation(),
            report=lambda _: None,
            kept=self.kept,
        )
        return (handler or self.handler)(work)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_the_second_attempt_finds_what_the_first_made(bench: Bench) -> None:
    first = bench.attempt()
    bench.clock.advance(1)
    assert bench.attempt() == first
    assert bench.done == [f"{ROOT}t1/"]


def other_sound(bench: Bench) -> None:
    bench.upload = structs.replace(bench.upload, object=structs.replace(FACTS, etag='"other"'))


def other_language(bench: Bench) -> None:
    bench.language = "de"


def file_is_gone(bench: Bench) -> None:
    bench.media.delete([f"{ROOT}t1/transcript.txt"])


def never_finished(bench: Bench) -> None:
    bench.media.delete([f"{ROOT}t1/{NAME}"])


def unreadable(bench: Bench) -> None:
    bench.media.put(f"{ROOT}t1/{NAME}", b"{", "application/json")


def of_another_version(bench: Bench) -> None:
    bench.media.put(f"{ROOT}t1/{NAME}", b'{"recipe": 1}', "application/json")


def condemned(bench: Bench) -> None:
    bench.upload = structs.replace(bench.upload, swept_at=bench.clock.now() + 86_400_000)


@pytest.mark.parametrize(
    "change",
    [
        other_sound,
        other_language,
        file_is_gone,
        never_finished,
        unreadable,
        of_another_version,
        condemned,
    ],
)
def test_any_doubt_and_it_is_done_again(bench: Bench, change: Callable[[Bench], None]) -> None:
    bench.attempt()
    change(bench)
    outcome = bench.attempt()
    assert isinstance(outcome, Done)
    assert outcome.outputs.prefix == f"{ROOT}t2/"
    assert bench.done == [f"{ROOT}t1/", f"{ROOT}t2/"]


def test_what_a_row_refers_to_is_not_condemned(bench: Bench) -> None:
    bench.attempt()
    condemned(bench)
    bench.kept = frozenset({f"{ROOT}t1/"})
    bench.attempt()
    assert bench.done == [f"{ROOT}t1/"]


def test_another_kind_of_task_is_another_thing(bench: Bench) -> None:
    bench.attempt()
    bench.attempt(kind=TaskKind.POSTER)
    assert len(bench.done) == 2


def test_a_failure_is_not_remembered(bench: Bench) -> None:
    def fails(work: Work) -> Outcome:
        raise Permanent("No.", code="no")

    with pytest.raises(Permanent):
        bench.attempt(remembering(fails, bench.media))
    assert not bench.media.objects
