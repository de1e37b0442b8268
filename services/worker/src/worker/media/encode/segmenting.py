"""Options that make ffmpeg cut an output into fMP4 segments which join those of other runs without a seam."""

from fractions import Fraction
from pathlib import Path

from msgspec import Struct

from reelworks.domain.timeline import OFFSET_S

INIT_NAME = "init.mp4"
PLAYLIST_NAME = "playlist.m3u8"
SEGMENT_SUFFIX = ".m4s"
SEGMENT_PATTERN = f"%05d{SEGMENT_SUFFIX}"
MICROSECOND = 1_000_000


class Segments(Struct, frozen=True, kw_only=True):
    """`start`: seconds at which this run begins in the whole. `length`: of a segment, in seconds."""

    start: Fraction
    length: Fraction
    first_number: int = 0


def output(segments: Segments, directory: Path) -> tuple[str, ...]:
    """The end of a command: offset, muxer and file names below `directory`, which must exist."""
    return (
        # Where it comes from, when and by whom it was shot is nobody's business; and a file is a function of its input.
        *("-map_metadata", "-1", "-map_chapters", "-1", "-bitexact"),
        *("-output_ts_offset", f"{float(segments.start + OFFSET_S):.6f}"),
        *("-f", "hls", "-hls_segment_type", "fmp4", "-hls_playlist_type", "vod"),
        # Rounded down: a microsecond too much would put a whole group of pictures into the segment before.
        *("-hls_time", f"{int(segments.length * MICROSECOND) / MICROSECOND:.6f}"),
        *("-hls_flags", "independent_segments"),
        # Without it timestamps would restart at 0 in each chunk.
        *("-hls_segment_options", "movflags=+frag_discont"),
        *("-start_number", str(segments.first_number)),
        # Relative to the playlist.
        *("-hls_fmp4_init_filename", INIT_NAME),
        *("-hls_segment_filename", f"{directory}/{SEGMENT_PATTERN}"),
        f"{directory}/{PLAYLIST_NAME}",
    )
