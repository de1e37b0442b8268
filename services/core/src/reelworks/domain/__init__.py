"""What Reelworks knows and decides: pure functions over frozen structs, no I/O, no clock of its own.

Instants are integers: milliseconds since the Unix epoch (`Millis`). Durations carry their unit in the name.
"""
