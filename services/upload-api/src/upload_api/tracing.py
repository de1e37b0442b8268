"""The traceparent (W3C Trace Context) under which everything that happens to an upload is one trace."""

import re
from collections.abc import Callable

_HEADER = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
SAMPLED = "01"
TRACE_ID_BYTES, SPAN_ID_BYTES = 16, 8


def traceparent(header: str | None, token_hex: Callable[[int], str]) -> str:
    """The caller's own if it is valid, else the beginning of a new trace. Always version 00."""
    return _continued(header or "") or f"00-{token_hex(TRACE_ID_BYTES)}-{token_hex(SPAN_ID_BYTES)}-{SAMPLED}"


def _continued(header: str) -> str | None:
    found = _HEADER.fullmatch(header.strip())
    if found is None:
        return None
    version, trace, span, flags, rest = found.groups()
    # ff is reserved, all zeros mean "none", and only later versions than 00 may have more fields.
    if version == "ff" or (version == "00" and rest) or not int(trace, 16) or not int(span, 16):
        return None
    return f"00-{trace}-{span}-{int(flags, 16) & 1:02x}"
