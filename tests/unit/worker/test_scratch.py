"""Scratch directories are there for one attempt and gone afterwards, whatever happened."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reelworks.errors import InvalidSettings
from worker.scratch import GATE, Scratch


def test_attempt_has_an_empty_directory_that_is_gone_afterwards(tmp_path: Path) -> None:
    scratch = Scratch(str(tmp_path))
    with scratch.attempt() as path:
        assert list(path.iterdir()) == []
        (path / "deep").mkdir()
        (path / "deep" / "file").write_text("x")
    assert not path.exists()


def test_attempt_that_fails_leaves_nothing_either(tmp_path: Path) -> None:
    scratch = Scratch(str(tmp_path))
    seen: list[Path] = []

    def fail() -> None:
        with scratch.attempt() as path:
            seen.append(path)
            (path / "file").write_text("x")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not seen[0].exists()


def test_directory_of_a_dead_process_is_removed_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    alive, dead = Scratch(str(tmp_path)), Scratch(str(tmp_path))
    dead._lock.close()  # as the kernel does when a process ends
    third = Scratch(str(tmp_path))
    assert alive.path.exists()
    assert third.path.exists()
    assert not dead.path.exists()


def test_many_that_start_at_once_do_not_take_each_other_for_dead(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: Scratch(str(tmp_path)), range(100)))
    assert all(scratch.path.exists() for scratch in made)


def test_foreign_directories_are_none_of_its_business(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    Scratch(str(tmp_path))
    assert (tmp_path / "other").exists()


def test_directory_that_somebody_took_is_made_again(tmp_path: Path) -> None:
    scratch = Scratch(str(tmp_path))
    shutil.rmtree(scratch.path)
    with scratch.attempt() as path:
        assert path.is_dir()


def test_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidSettings, match="SCRATCH_DIR"):
        Scratch(str(tmp_path / "file"))


def test_closed_scratch_leaves_nothing(tmp_path: Path) -> None:
    Scratch(str(tmp_path)).close()
    assert [path.name for path in tmp_path.iterdir()] == [GATE]
