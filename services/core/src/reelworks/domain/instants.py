"""Instants and durations as integers of milliseconds: exact in DynamoDB, JSON and comparisons."""

from datetime import UTC, datetime

Millis = int
"""Milliseconds since the Unix epoch, UTC."""

SECOND_MS = 1_000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS


def iso8601(instant: Millis) -> str:
    """`2026-12-01T04:05:06.789Z`: RFC 3339, always UTC, always three decimals."""
    whole, rest = divmod(instant, SECOND_MS)
    return datetime.fromtimestamp(whole, UTC).strftime("%Y-%m-%dT%H:%M:%S") + f".{rest:03d}Z"
