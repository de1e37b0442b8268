"""The Retry-After header (RFC 9110, section 10.2.3): seconds, or a date."""

from datetime import UTC
from email.utils import parsedate_to_datetime

MAX_MS = 3_600_000
"""An hour: a server that asks for more is misconfigured, and the attempts of a task are counted anyway."""


def retry_after_ms(header: str | None, *, now_ms: int) -> int | None:
    """Milliseconds to wait, 0 to one hour; None if the header is missing or makes no sense."""
    if header is None:
        return None
    text = header.strip()
    wanted = int(text[:9]) * 1000 if text.isascii() and text.isdigit() else _until(text, now_ms)
    return None if wanted is None else max(0, min(MAX_MS, wanted))


def _until(date: str, now_ms: int) -> int | None:
    try:
        instant = parsedate_to_datetime(date)
    except ValueError:
        return None
    # RFC 5322 says `-0000` for "UTC, zone unknown", which comes back without a zone.
    aware = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1000) - now_ms
