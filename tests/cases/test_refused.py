"""What cannot be processed ends at the first attempt, with a sentence that helps; what breaks ffmpeg ends too."""

import stat
from pathlib import Path

import pytest

from reelworks.domain.task import TaskStatus
from reelworks.domain.upload import UploadStatus
from tests.cases.conftest import Staged
from tests.cases.stage import Stage, children
from tests.media.samples import Samples, playlists


@pytest.mark.parametrize(
    ("make", "code"),
    [
        ("without_index", "truncated"),
        ("text", "not_media"),
        ("noise_bytes", "not_media"),
        ("archive", "not_media"),
        ("subtitles", "not_media"),
        ("picture_as_video", "image"),
    ],
)
def test_not_a_video(stage: Stage, samples: Samples, make: str, code: str) -> None:
    """Something else under the name of an MP4: refused at once, in words a person understands."""
    file: Path = getattr(samples, make)()
    shown = stage.published(file)
    sentence = shown.refused(code)
    assert "ffmpeg" not in sentence.lower()
    assert "/" not in sentence.replace("and/or", "")


def test_zero_bytes(stage: Stage, samples: Samples) -> None:
    """An empty object is not the file that was announced."""
    assert stage.published(samples.empty()).refused("empty_file")


def test_cut_off_in_the_middle(stage: Stage, samples: Samples) -> None:
    """ffmpeg would be content with half of it; the duration in its header tells."""
    assert stage.published(samples.cut_in_the_middle()).refused("truncated")


@pytest.mark.parametrize("kind", playlists("x"))
def test_playlist(stage: Stage, samples: Samples, kind: str) -> None:
    """A text that names other files is not media, whatever it is called."""
    file = samples.written(f"case-{kind.replace(' ', '-')}.mp4", playlists("http://127.0.0.1:9/x.ts")[kind])
    shown = stage.published(file)
    assert shown.snapshot.upload.status is UploadStatus.FAILED
    assert shown.view.error is not None
    assert shown.view.error.code in {"playlist", "not_media"}


@pytest.mark.parametrize("make", ["bomb", "picture_bomb"])
def test_decompression_bomb(stage: Stage, samples: Samples, make: str) -> None:
    """1.5 MB that would be 16000 x 16000 pixels."""
    assert stage.published(getattr(samples, make)()).refused("too_many_pixels")


HANGS = {
    "waits": "cat >/dev/null <&0; sleep 600",
    "floods": "while :; do echo 'error error error error error error error error' >&2; done",
    "ignores": "trap '' TERM INT; while :; do sleep 1; done",
}


@pytest.mark.parametrize("how", HANGS)
def test_ffmpeg_that_hangs(staged: Staged, samples: Samples, tmp_path: Path, how: str) -> None:
    """It is stopped and reaped, whatever it does; the task is tried again."""
    program = tmp_path / "hanging-ffmpeg"
    program.write_text(f"#!/bin/bash\n{HANGS[how]}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    stage = staged(ffmpeg=str(program), stall_s=1.0)
    shown = stage.published(samples.audio("wav"), profile="audio")

    task = shown.snapshot.tasks["audio"]
    assert (task.status, task.attempts) == (TaskStatus.READY, 1)
    assert task.last_error is not None
    assert task.last_error.code == "media_stalled"
    assert children() == set()
    assert list((tmp_path / "scratch").rglob("source")) == []


@pytest.mark.parametrize("seed", range(8))
def test_flipped_bits(stage: Stage, samples: Samples, seed: int) -> None:
    """One bit in 2,000: a stream of what can be decoded, or a reason; never a crash."""
    shown = stage.published(samples.flipped(seed))
    upload = shown.snapshot.upload
    assert upload.status in (UploadStatus.COMPLETED, UploadStatus.FAILED)
    if upload.status is UploadStatus.COMPLETED:
        shown.completed()
    else:
        assert upload.failure is not None
        assert all(task.attempts <= 1 for task in shown.snapshot.tasks.values())
