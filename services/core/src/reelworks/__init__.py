"""Reelworks core: the domain, the ports and adapters, and the runtime that the three services share."""

__version__ = "0.1.0"
