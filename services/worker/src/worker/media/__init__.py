"""What the worker knows about media files: running ffmpeg, probing and decoding hostile input."""
