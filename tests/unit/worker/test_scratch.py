"""Scratch directories are there for one attempt and gone afterwards, whatever happened."""

from pathlib import Path

import pytest

from worker.scratch import PREFIX, Scratch, remove_abandoned


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
    assert remove_abandoned(tmp_path) == 1
    assert alive.path.exists()
    assert not dead.path.exists()


def test_directory_that_is_just_being_made_is_not_abandoned(tmp_path: Path) -> None:
    (tmp_path / f"{PREFIX}new").mkdir()
    assert remove_abandoned(tmp_path) == 0


def test_foreign_directories_are_none_of_its_business(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert remove_abandoned(tmp_path) == 0
    assert (tmp_path / "other").exists()


def test_closed_scratch_leaves_nothing(tmp_path: Path) -> None:
    Scratch(str(tmp_path)).close()
    assert list(tmp_path.iterdir()) == []
