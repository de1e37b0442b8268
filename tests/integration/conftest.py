"""Servers and installations for the integration tests."""

from pathlib import Path

import pytest

from tests.media.fixtures import samples, tools
from tests.servers import ministack, moto
from tests.world import World, make_world

__all__ = ["ministack", "moto", "samples", "tools"]


@pytest.fixture(params=["ministack", "moto"])
def endpoint(request: pytest.FixtureRequest) -> str:
    """Each emulator in turn."""
    found: str = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def world(endpoint: str, tmp_path: Path) -> World:
    """A fresh installation on it."""
    return make_world(endpoint, tmp_path / "scratch")
