"""Servers for the end-to-end tests."""

from pathlib import Path

import pytest

from tests.servers import ministack
from tests.world import World, make_world

__all__ = ["ministack"]


@pytest.fixture
def world(ministack: str, tmp_path: Path) -> World:
    """A fresh installation on MiniStack."""
    return make_world(ministack, tmp_path / "own-scratch")
