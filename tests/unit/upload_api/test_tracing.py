"""W3C Trace Context: a valid header is taken over, anything else begins a new trace."""

import pytest

from upload_api.tracing import traceparent

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
FRESH = f"00-{'a' * 32}-{'a' * 16}-01"


def fake_hex(size: int) -> str:
    return "a" * size * 2


@pytest.mark.parametrize(
    ("header", "stored"),
    [
        (f"00-{TRACE}-{SPAN}-01", f"00-{TRACE}-{SPAN}-01"),
        (f"00-{TRACE}-{SPAN}-00", f"00-{TRACE}-{SPAN}-00"),
        (f"  00-{TRACE}-{SPAN}-ff ", f"00-{TRACE}-{SPAN}-01"),
        (f"cc-{TRACE}-{SPAN}-01-what-comes-later", f"00-{TRACE}-{SPAN}-01"),
    ],
)
def test_a_valid_header_is_taken_over(header: str, stored: str) -> None:
    assert traceparent(header, fake_hex) == stored


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "nonsense",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE[:-1]}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-0g",
        "٠" * 55,
    ],
)
def test_anything_else_begins_a_new_trace(header: str | None) -> None:
    assert traceparent(header, fake_hex) == FRESH
