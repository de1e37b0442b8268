"""Segments and what names them: reading fMP4, media playlists, master, DASH, and whether they are complete."""
