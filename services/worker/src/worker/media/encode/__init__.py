"""Turning an uploaded file into segments: filter graphs, encoder settings, and the ffmpeg runs made of them."""
