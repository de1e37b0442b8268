import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.speech.retry_after import MAX_MS, retry_after_ms

NOON = 1_796_126_400_000
"""2026-12-01T12:00:00Z"""


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("0", 0),
        (" 30 ", 30_000),
        ("99999999999999999999", MAX_MS),
        ("Tue, 01 Dec 2026 12:00:20 GMT", 20_000),
        ("Tue, 01 Dec 2026 13:00:20 +0100", 20_000),
        ("Tue, 01 Dec 2026 12:00:20 -0000", 20_000),
        ("Tue, 01 Dec 2026 11:00:00 GMT", 0),
        ("Sat, 01 Dec 2040 11:00:00 GMT", MAX_MS),
    ],
)
def test_seconds_and_dates_are_understood(header: str | None, expected: int | None) -> None:
    assert retry_after_ms(header, now_ms=NOON) == expected


@given(st.text(max_size=50))
def test_any_header_is_survived(header: str) -> None:
    wait = retry_after_ms(header, now_ms=NOON)

    assert wait is None or 0 <= wait <= MAX_MS
