"""The ladder of an upload is fitted when it is ingested; what cannot be measured stays as it is."""

from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from reelworks.domain import plan as plans
from reelworks.domain.plan import VideoPlan
from reelworks.domain.profile import DEFAULT
from reelworks.domain.timeline import Chunking
from reelworks.errors import Interrupted, Permanent, Temporary
from reelworks.runtime.cancellation import Cancellation
from reelworks.testing import FakeClock, InMemoryBlobStore
from tests.media.samples import Samples
from tests.unit.core.domain.builders import FACTS, make_task, make_upload
from worker.bootstrap import summary
from worker.media.encode import complexity
from worker.media.encode.transcoder import Transcoding
from worker.media.engine import MediaEngine
from worker.media.probe import probe
from worker.tasks.fit import NAME, FitDependencies, fit
from worker.tasks.ingest import Ladder
from worker.work import Work

SOFT = "mandelbrot=size=160x90:rate=12:end_scale=0.05,trim=duration=10,scale=854:480:flags=bicubic"


class Bench:
    def __init__(self, source: Path, scratch: Path, engine: MediaEngine) -> None:
        report = probe(source, engine=engine, cancellation=Cancellation())
        self.media = InMemoryBlobStore(FakeClock())
        self.engine, self.scratch = engine, scratch
        profile = structs.replace(DEFAULT, mp4=())
        plan = plans.make_plan(summary(report), profile, Chunking()).video
        assert plan
        self.ladder = Ladder(source=source, report=msgspec.json.encode(report), plan=plan, keep=frozenset())
        self._attempts = 0

    def fit(self, **changes: object) -> tuple[VideoPlan, str | None]:
        self._attempts += 1
        upload = make_upload(object=FACTS)
        work = Work(
            upload=upload,
            task=make_task(name="ingest"),
            inputs={},
            scratch=self.scratch,
            prefix=f"processed/ada/{upload.upload_id}/tasks/ingest/t{self._attempts}/",
            cancellation=Cancellation(),
            report=lambda _: None,
        )
        needs = FitDependencies(media=self.media, engine=self.engine)
        return fit(work, structs.replace(self.ladder, **changes), needs)


@pytest.fixture
def bench(samples: Samples, tmp_path: Path, engine: MediaEngine) -> Bench:
    return Bench(samples.h264("soft-large.mp4", SOFT, "-crf", "5"), tmp_path, engine)


def names(plan: VideoPlan) -> list[str]:
    return [rung.name for rung in plan.rungs]


def test_what_adds_nothing_is_dropped_and_what_was_measured_is_stored(bench: Bench) -> None:
    assert names(bench.ladder.plan) == ["360", "480"]
    plan, key = bench.fit()
    assert names(plan) == ["360"]
    assert plan.rungs[0].max_kbps
    assert key
    assert key.endswith(f"/t1/{NAME}")
    assert list(bench.media.objects) == [key]
    kept, _ = bench.fit(keep=frozenset({"480"}))
    assert names(kept) == ["360", "480"]


def test_what_was_measured_once_is_not_measured_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = bench.fit()

    def never(job: Transcoding, plan: VideoPlan) -> None:
        raise AssertionError("measured again")

    monkeypatch.setattr(complexity, "measure", never)
    again, key = bench.fit()
    assert again == first
    assert key
    assert key.endswith(f"/t2/{NAME}")
    other = structs.replace(bench.ladder.plan, rungs=bench.ladder.plan.rungs[:1])
    with pytest.raises(AssertionError):
        bench.fit(plan=other)


@pytest.mark.parametrize("error", [Permanent("No."), Temporary("No."), None])
def test_what_cannot_be_measured_stays_as_it_is(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, error: Exception | None
) -> None:
    def fails(job: Transcoding, plan: VideoPlan) -> None:
        if error:
            raise error

    monkeypatch.setattr(complexity, "measure", fails)
    assert bench.fit() == (bench.ladder.plan, None)
    assert not bench.media.objects


def test_a_worker_that_stops_does_not_go_on(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def stops(job: Transcoding, plan: VideoPlan) -> None:
        raise Interrupted("stop")

    monkeypatch.setattr(complexity, "measure", stops)
    with pytest.raises(Interrupted):
        bench.fit()
