"""A table at the end: what became of each format, and what it took."""

import resource
from collections import Counter, defaultdict

import pytest

from tests.media.fixtures import samples, tools

__all__ = ["samples", "tools"]

FUZZ = "fuzz"
"""The property of a test: `(format, ending)`."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> object:
    """The largest process that was ever waited for, so far."""
    item.user_properties.append(("kilobytes", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
    return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    endings: dict[str, Counter[str]] = defaultdict(Counter)
    longest, largest = 0.0, 0
    for reports in terminalreporter.stats.values():
        for report in reports:
            known = dict(getattr(report, "user_properties", ()))
            if FUZZ in known and getattr(report, "when", None) == "call":
                form, ending = known[FUZZ]
                endings[form][ending] += 1
                longest = max(longest, report.duration)
            if FUZZ in known:
                largest = max(largest, known.get("kilobytes", 0))
    if not endings:
        return
    terminalreporter.section("damaged files")
    total = sum(endings.values(), Counter[str]())
    for ending, times in total.most_common():
        found = "  ".join(
            f"{form} {endings[form][ending]}" for form in sorted(endings) if endings[form][ending]
        )
        terminalreporter.write_line(f"{ending:<20} {times:5}  {found}")
    summary = f"{total.total()} files, the longest {longest:.1f} s, the largest process {largest // 1024} MB"
    terminalreporter.write_line(summary)
