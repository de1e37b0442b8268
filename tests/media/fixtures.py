"""Fixtures for every suite that touches media: import them in its conftest."""

import pytest

from reelworks.runtime.cancellation import Cancellation
from tests.media.samples import Samples
from worker.media.engine import MediaEngine
from worker.media.runner import Runner
from worker.media.tools import Tools, find_tools


@pytest.fixture(scope="session")
def tools() -> Tools:
    return find_tools()


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory, tools: Tools) -> Samples:
    return Samples(tmp_path_factory.mktemp("samples"), tools)


@pytest.fixture
def engine(tools: Tools) -> MediaEngine:
    return MediaEngine(tools=tools, runner=Runner())


@pytest.fixture
def cancellation() -> Cancellation:
    return Cancellation()
