"""A studio for each test, and files to look at."""

from collections.abc import Callable
from pathlib import Path

import pytest

from reelworks.runtime.cancellation import Cancellation
from tests.media.fixtures import cancellation, engine, samples, tools
from tests.unit.worker.media.pictures.looking import Seen, look
from tests.unit.worker.tasks.picturing import Studio
from worker.media.engine import MediaEngine
from worker.media.probe import probe
from worker.media.report import MediaReport
from worker.media.tools import Tools

__all__ = ["cancellation", "engine", "samples", "tools"]

Probed = Callable[[Path], MediaReport]
Stored = Callable[[str], Seen]


@pytest.fixture
def studio(engine: MediaEngine, tmp_path: Path) -> Studio:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return Studio(scratch, engine)


@pytest.fixture
def probed(engine: MediaEngine, cancellation: Cancellation) -> Probed:
    return lambda path: probe(path, engine=engine, cancellation=cancellation)


@pytest.fixture
def stored(studio: Studio, tools: Tools, tmp_path: Path) -> Stored:
    """An object of the media bucket, looked at."""
    return lambda key: look(studio.saved(key, tmp_path), tools)
