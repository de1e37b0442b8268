"""The stage, and a table of all cases at the end."""

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from tests.cases.stage import Stage
from tests.integration.pipeline import Pipeline
from tests.media.fixtures import samples, tools
from tests.servers import ministack
from tests.world import make_world

__all__ = ["ministack", "samples", "tools"]

CHUNK_S = 4
Staged = Callable[..., Stage]


@pytest.fixture
def staged(ministack: str, tmp_path: Path) -> Staged:
    """A stage whose media settings are changed: `staged(stall_s=1)`; chunks are short, so that there are seams."""

    def make(**media: object) -> Stage:
        world = make_world(ministack, tmp_path / "scratch")
        changed = structs.replace(
            world.settings.media, **{"chunk_above_s": CHUNK_S, "chunk_s": CHUNK_S, **media}
        )
        settings = structs.replace(world.settings, media=changed)
        return Stage(Pipeline(dataclasses.replace(world, settings=settings)), tmp_path)

    return make


@pytest.fixture
def stage(staged: Staged) -> Stage:
    return staged()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """CASE=turned: only cases whose name has it."""
    wanted = os.environ.get("CASE", "")
    items[:] = [item for item in items if wanted in item.name or "tests/cases" not in str(item.path)]


@pytest.hookimpl(trylast=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """The case's own sentence goes into the table."""
    said = (getattr(item, "function", None).__doc__ or "").strip().splitlines()
    item.user_properties.append(("case", said[0] if said else ""))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line a case: how it ended, how long it took, and what was to be seen."""
    rows = []
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            sentence = dict(report.user_properties).get("case")
            if report.when == "call" and sentence is not None:
                name = report.nodeid.rpartition("::test_")[2]
                rows.append(f"{outcome:<7} {report.duration:5.1f} s  {name:<42} {sentence}")
    if rows:
        terminalreporter.section("cases")
        terminalreporter.write_line("\n".join(sorted(rows, key=lambda row: row[17:])))
