"""What a stream consists of, and the texts that describe it to players: HLS and DASH over the same segments.

The worker writes them when a stream is complete, the API while it is still growing.
"""
