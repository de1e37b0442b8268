"""What tests recorded (`record_property`), from every worker process, for the summaries at the end."""

from collections.abc import Iterator

import pytest


def recorded(
    terminalreporter: pytest.TerminalReporter, name: str
) -> Iterator[tuple[pytest.TestReport, object]]:
    """Each value of that name with its test's report, passed or not."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport) and report.when == "call":
                yield from ((report, value) for found, value in report.user_properties if found == name)
