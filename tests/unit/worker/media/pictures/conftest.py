"""Sources as the tasks make them, without buckets."""

from collections.abc import Callable
from pathlib import Path

import pytest

from reelworks.runtime.cancellation import Cancellation
from tests.unit.worker.media.pictures.looking import Seen, look
from worker.media.audio import MediaFile
from worker.media.engine import MediaEngine
from worker.media.pictures.sampling import Source
from worker.media.probe import probe
from worker.media.tools import Tools

Opened = Callable[[Path], Source]
Looked = Callable[[Path], Seen]


@pytest.fixture
def opened(engine: MediaEngine, cancellation: Cancellation, tmp_path: Path) -> Opened:
    def open_file(path: Path) -> Source:
        report = probe(path, engine=engine, cancellation=cancellation)
        assert report.picture
        return Source(
            file=MediaFile(path=path, report=report),
            stream=report.picture,
            engine=engine,
            cancellation=cancellation,
            scratch=tmp_path,
        )

    return open_file


@pytest.fixture
def looked(tools: Tools) -> Looked:
    return lambda path: look(path, tools)
