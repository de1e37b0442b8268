"""Prints how many crash points a run has tried, by scenario and fault."""

import pytest

SHARE = "crash points"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Collects what the tests recorded, from every worker process."""
    lines = [
        str(value)
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, value in report.user_properties
        if name == SHARE
    ]
    if not lines:
        return
    terminalreporter.section(SHARE)
    for line in sorted(lines):
        terminalreporter.line(line)
    terminalreporter.line(f"in all: {sum(int(line.split()[0]) for line in lines)}")
