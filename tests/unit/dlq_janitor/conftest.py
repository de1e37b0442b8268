"""A whole installation in memory, on a clock that is moved by hand."""

from tests.unit.memory import clock, world

__all__ = ["clock", "world"]
