"""Servers for the end-to-end tests."""

from pathlib import Path

import pytest

from tests.reports import recorded
from tests.servers import ministack
from tests.world import World, make_world

__all__ = ["ministack"]


@pytest.fixture
def world(ministack: str, tmp_path: Path) -> World:
    """A fresh installation on MiniStack."""
    return make_world(ministack, tmp_path / "own-scratch")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What kills cost: one JSON object a test."""
    lines = [str(value) for _, value in recorded(terminalreporter, "kills")]
    if lines:
        terminalreporter.section("kills")
        terminalreporter.write_line("\n".join(lines))
