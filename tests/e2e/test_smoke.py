"""`make smoke` as its caller sees it: an exit code, one JSON object, and nothing left."""

from pathlib import Path

import pytest

from reelworks.embedded.workshop import CLIP
from tests.e2e.embedded import left_behind, smoke, started
from tests.servers import moto

__all__ = ["moto"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

SPOKEN = CLIP.with_suffix(".txt").read_text(encoding="utf-8").split()
PROCESSES = {"ministack", "resources", "upload-api", "worker", "dlq-janitor"}
UNFRIENDLY = {
    # A shell on a developer's machine: none of it may matter.
    "AWS_PROFILE": "production",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "http_proxy": "http://127.0.0.1:9",
    "SERVICES": "lambda",
    "AUTH": "true",
}


def test_the_transcript_has_the_words_of_the_clip_and_no_process_stays(tmp_path: Path) -> None:
    report, ended = smoke(tmp_path, **UNFRIENDLY)
    assert ended.returncode == 0, ended.stderr
    assert set(report) == {"status", "transcript", "attempts", "seconds"}
    assert report["status"] == "COMPLETED"
    assert report["attempts"] == 1
    assert set(SPOKEN) <= set(report["transcript"].split())
    pids = started(ended.stderr)
    assert set(pids) == PROCESSES
    assert left_behind(pids) == []
    assert list(tmp_path.iterdir()) == []


def test_the_seconds_add_up(tmp_path: Path) -> None:
    report, _ = smoke(tmp_path, REELWORKS_SPEECH_PROVIDER="fake")
    seconds = report["seconds"]
    assert set(seconds) == {"upload", "queue", "process", "total"}
    assert all(value >= 0 for value in seconds.values())
    parts = seconds["upload"] + seconds["queue"] + seconds["process"]
    assert parts == pytest.approx(seconds["total"], abs=0.01)


def test_a_text_that_pretends_to_be_a_video_fails_with_a_sentence(tmp_path: Path) -> None:
    clip = tmp_path / "letter.mp4"
    clip.write_text("Dear Sir or Madam, this is not a video.\n")
    report, ended = smoke(tmp_path, "--clip", str(clip))
    assert ended.returncode == 1
    assert report["status"] == "FAILED"
    assert report["error"].endswith(".")
    assert len(report["error"].split()) > 3
    assert left_behind(started(ended.stderr)) == []


def test_a_file_of_a_type_that_is_not_taken_fails_with_the_sentence_of_the_api(tmp_path: Path) -> None:
    clip = tmp_path / "letter.txt"
    clip.write_text("Dear Sir or Madam")
    report, ended = smoke(tmp_path, "--clip", str(clip))
    assert ended.returncode == 1
    assert report["status"] == "FAILED"
    assert "400" in report["error"]
    assert "contentType" in report["error"]


def test_a_service_that_cannot_start_is_named_and_its_log_is_shown(tmp_path: Path) -> None:
    report, ended = smoke(tmp_path, REELWORKS_WORKER_LANES="nowhere")
    assert ended.returncode == 1
    assert report["status"] == "FAILED"
    assert "worker" in report["error"]
    assert "REELWORKS_WORKER_LANES names ['nowhere']" in ended.stderr
    assert left_behind(started(ended.stderr)) == []


def test_a_misspelt_variable_is_named_before_anything_starts(tmp_path: Path) -> None:
    report, ended = smoke(tmp_path, REELWORKS_SPEACH_PROVIDER="fake")
    assert ended.returncode == 1
    assert "Did you mean REELWORKS_SPEECH_PROVIDER?" in report["error"]
    assert started(ended.stderr) == {}


def test_an_endpoint_where_nobody_is_gets_a_sentence(tmp_path: Path) -> None:
    report, ended = smoke(tmp_path, "--endpoint", "http://127.0.0.1:9")
    assert ended.returncode == 1
    assert "Nothing answers at http://127.0.0.1:9" in report["error"]


def test_it_runs_on_an_emulator_that_somebody_else_started(tmp_path: Path, moto: str) -> None:
    report, ended = smoke(tmp_path, "--endpoint", moto)
    assert ended.returncode == 0, ended.stderr
    assert report["status"] == "COMPLETED"
    assert set(started(ended.stderr)) == PROCESSES - {"ministack"}
