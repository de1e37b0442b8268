"""A whole installation in memory, on a clock that is moved by hand: fixtures for the conftest of a service."""

from pathlib import Path
from typing import cast

import pytest

from reelworks.adapters.wiring import Adapters
from reelworks.runtime.settings import Settings
from reelworks.testing import FakeClock, InMemory
from tests.world import World
from worker.scratch import Scratch


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def world(clock: FakeClock, tmp_path: Path) -> World:
    """The in-memory ports have the fields of the real ones."""
    memory = cast("Adapters", InMemory.make(clock))
    return World(adapters=memory, settings=Settings(), scratch=Scratch(str(tmp_path)))
