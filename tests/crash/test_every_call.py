"""Fail the k-th AWS call of a whole run, for every k, in four ways; each run must end the same.

A fault is: the call is never sent, it takes effect but its answer is lost, or the process dies on either side of it.
"""

import io
import wave
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import time_machine
from moto import mock_aws

from reelworks.domain import snapshot as snapshots
from reelworks.domain.failure import FailureKind
from reelworks.domain.keys import upload_prefix
from reelworks.domain.options import Options
from reelworks.domain.outcome import Outcome
from reelworks.domain.snapshot import Snapshot
from reelworks.domain.task import TaskStatus
from reelworks.domain.upload import UploadStatus
from reelworks.errors import Permanent, ReelworksError, Temporary
from reelworks.testing import Fault, FaultInjector, Killed
from tests.crash.conftest import SHARE
from tests.crash.installation import RULES, SETTINGS, Installation, WarpClock
from tests.unit.core.domain.builders import NOW
from upload_api import bootstrap as api
from upload_api.errors import NotReady
from upload_api.reprocess import reprocess
from upload_api.requests import Reprocess
from upload_api.service import Caller, create_upload
from upload_api.validation import Wanted
from worker.work import Handler, Work

Transcribe = Callable[[Handler, Work], Outcome]


def sound() -> bytes:
    """A fifth of a second of nothing, as WAV."""
    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setparams((1, 2, 16_000, 0, "NONE", ""))
        wav.writeframes(bytes(6_400))
    return file.getvalue()


SOUND = sound()


def works(handler: Handler, work: Work) -> Outcome:
    return handler(work)


def works_the_second_time(handler: Handler, work: Work) -> Outcome:
    if work.task.attempts == 1:
        raise Temporary("the engine is out of order", code="engine_down")
    return handler(work)


def never_works(handler: Handler, work: Work) -> Outcome:
    raise Temporary("the engine is out of order", code="engine_down")


def refuses(handler: Handler, work: Work) -> Outcome:
    raise Permanent("This language is not spoken here.", code="unsupported_language")


@contextmanager
def installation(folder: Path, transcribe: Transcribe, injector: FaultInjector) -> Iterator[Installation]:
    with time_machine.travel(NOW / 1_000, tick=False) as traveller, mock_aws():
        yield Installation(
            clock=WarpClock(traveller), scratch=folder, injector=injector, transcribe=transcribe
        )


WANTED = Wanted(
    file_name="a b+c ü.wav",
    content_type="audio/wav",
    size_bytes=len(SOUND),
    user_id="ada",
    project_id=None,
    profile="transcript",
    checksum_sha256=None,
    callback_url=None,
    priority="normal",
)


def client(site: Installation) -> str:
    """A client that does not give up: it asks with the same Idempotency-Key until it is told where the bytes go."""
    for _ in range(3):
        deps = api.dependencies(SETTINGS, site.adapters)
        try:
            upload = create_upload(WANTED, Caller(idempotency_key="once"), deps).upload
        except ReelworksError:
            continue
        except Killed:
            site.start()
            continue
        site.clients.s3.put_object(
            Bucket=SETTINGS.s3.raw_bucket, Key=upload.object_key, Body=SOUND, ContentType="audio/wav"
        )
        return upload.upload_id
    raise AssertionError("the upload could not be created")


def asks_again(site: Installation, upload_id: str) -> None:
    """The same client, once it is over: it asks for another processing until it is told that there is one."""
    for _ in range(3):
        deps = api.dependencies(SETTINGS, site.adapters)
        try:
            reprocess(upload_id, Reprocess(options=Options(language="de")), deps)
        except NotReady:  # the try before this one took effect
            return
        except ReelworksError:
            continue
        except Killed:
            site.start()
            continue
        return
    raise AssertionError("the upload could not be processed again")


def run(
    folder: Path,
    transcribe: Transcribe,
    injector: FaultInjector,
    again: Callable[[], bool] = lambda: False,
) -> Snapshot:
    """`again`: asked once everything is quiet, whether to process it once more."""
    with installation(folder, transcribe, injector) as site:
        snapshot = settled(site, client(site))
        if again():
            site.runs.clear()
            asks_again(site, snapshot.upload.upload_id)
            snapshot = settled(site, snapshot.upload.upload_id)
        return snapshot


def settled(site: Installation, upload_id: str) -> Snapshot:
    snapshot = site.run_until_quiet(upload_id)
    check_work(site, snapshot)
    check_outputs(site, snapshot)
    check_dead_letters(site, snapshot)
    check_nothing_watched(site)
    check_nothing_left_over(site, snapshot)
    return snapshot


def check_nothing_left_over(site: Installation, snapshot: Snapshot) -> None:
    """A sweep came by at the end: whatever is in the bucket or the table belongs to a result."""
    kept = tuple(snapshots.referred(snapshot))
    listed = site.truth.media.list(upload_prefix(snapshot.upload.user_id, snapshot.upload.upload_id))
    assert [one.key for one in listed if not one.key.startswith(kept)] == []
    assert snapshot.spent == ()


def check_work(site: Installation, snapshot: Snapshot) -> None:
    """Each lease that was granted worked at most once, and no lease worked that the row does not know."""
    assert max(site.runs.values()) == 1
    per_task = Counter(name.partition("/")[0] for name in site.runs.elements())
    for name, runs in per_task.items():
        assert runs <= snapshot.tasks[name].leases
    # One fault costs at most one more lease: nothing is worked on twice without a reason.
    assert snapshot.tasks["transcribe"].leases <= RULES.max_attempts + 1


def check_outputs(site: Installation, snapshot: Snapshot) -> None:
    """Every file a DONE task points at is there, below the prefix of a lease of that task."""
    for task in snapshot.tasks.values():
        for key in task.outputs.files.values() if task.outputs else ():
            assert f"/tasks/{task.name}/" in key
            assert site.truth.media.head(key) is not None


def check_dead_letters(site: Installation, snapshot: Snapshot) -> None:
    """Exhausted tasks, and only those, are in the dead-letter queue."""
    failure = snapshot.upload.failure
    exhausted = failure is not None and failure.kind is FailureKind.EXHAUSTED
    assert (site.truth.queue.depths()["dlq"].visible > 0) is exhausted


def check_nothing_watched(site: Installation) -> None:
    page = site.truth.store.due(0, NOW * 2, 10)
    assert page.rows == ()


def completed(snapshot: Snapshot) -> None:
    assert snapshot.upload.status is UploadStatus.COMPLETED
    task = snapshot.tasks["transcribe"]
    assert task.status is TaskStatus.DONE
    assert task.outputs is not None
    assert task.outputs.excerpt == "hello world"
    assert set(task.outputs.files) == {"json", "txt", "srt", "vtt"}


def failed_with(*codes: str) -> Callable[[Snapshot], None]:
    def check(snapshot: Snapshot) -> None:
        assert (snapshot.upload.status, snapshot.upload.open_tasks) == (UploadStatus.FAILED, frozenset())
        assert snapshot.upload.failure is not None
        assert snapshot.upload.failure.code in codes
        assert snapshot.tasks["transcribe"].status is TaskStatus.FAILED

    return check


def completed_again(snapshot: Snapshot) -> None:
    completed(snapshot)
    assert (snapshot.upload.generation, snapshot.upload.options) == (1, Options(language="de"))
    assert snapshot.earlier == {}


AGAIN = "works, and is processed again"
SCENARIOS: dict[str, tuple[Transcribe, Callable[[Snapshot], None]]] = {
    "works": (works, completed),
    "works the second time": (works_the_second_time, completed),
    # A process that dies during the last attempt leaves no other reason behind.
    "never works": (never_works, failed_with("engine_down", "worker_died")),
    "refuses": (refuses, failed_with("unsupported_language")),
    AGAIN: (works, completed_again),
}


def first_of_its_own(scenario: str, folder: Path) -> int:
    """The scenarios differ from the first claim of the transcript on; what comes before is tried in `works`. The one
    that is processed again differs from there on.
    """
    if scenario == "works":
        return 1
    injector, seen = FaultInjector(), list[int]()
    if scenario == AGAIN:

        def over() -> bool:
            seen.append(len(injector.calls))
            return False

        run(folder, works, injector, again=over)
        return seen[0]

    def note(handler: Handler, work: Work) -> Outcome:
        seen.append(len(injector.calls))
        return SCENARIOS[scenario][0](handler, work)

    run(folder, note, injector)
    return seen[0]


CASES = [
    (scenario, fault)
    for scenario in SCENARIOS
    for fault in Fault
    # The longest one: the ways that differ most, a death between two calls and an answer that is lost.
    if scenario != AGAIN or fault in (Fault.KILL_BEFORE, Fault.AFTER)
]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("scenario", "fault"), CASES)
def test_every_call_may_fail_and_the_upload_ends_the_same(
    scenario: str, fault: Fault, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    transcribe, check = SCENARIOS[scenario]
    points: Counter[str] = Counter()
    for at in range(first_of_its_own(scenario, tmp_path), 10_000):
        injector = FaultInjector(at=at, fault=fault)
        try:
            check(run(tmp_path, transcribe, injector, again=lambda: scenario == AGAIN))
        except BaseException as error:
            error.add_note(f"fault {fault.value} at call {at}: {injector.fired}")
            raise
        if injector.fired is None:
            break
        points[f"{injector.fired.service}.{injector.fired.operation}"] += 1
    total = sum(points.values())
    record_property(SHARE, f"{total} {scenario}, {fault.value}: {dict(points)}")
    assert total >= 10
