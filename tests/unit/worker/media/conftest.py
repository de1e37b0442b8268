from tests.media.fixtures import cancellation, engine, samples, tools

__all__ = ["cancellation", "engine", "samples", "tools"]
