"""Prints how many crash points a run has tried, by scenario and fault."""

import pytest

from tests.reports import recorded

SHARE = "crash points"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Collects what the tests recorded, from every worker process."""
    lines = [str(value) for _, value in recorded(terminalreporter, SHARE)]
    if not lines:
        return
    terminalreporter.section(SHARE)
    for line in sorted(lines):
        terminalreporter.line(line)
    terminalreporter.line(f"in all: {sum(int(line.split()[0]) for line in lines)}")
