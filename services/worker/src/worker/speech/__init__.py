"""Turning sound into a transcript, by whichever engine is configured, and writing it down."""
