"""Many small pictures of a video on a few sheets, for players to show while someone drags the cursor."""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from reelworks.domain.geometry import Size
from worker.media.command import Command
from worker.media.hostile import file_url
from worker.media.pictures import filters, jpeg, sizes
from worker.media.pictures.sampling import Frame, Layout, Source, refuse_crash, sample
from worker.media.pictures.stills import MAX_JPEG_BYTES, STILL_TIMEOUT_S, jpeg_output, undecodable

TILE = Size(width=160, height=240)
"""Largest tile: landscape is 160 wide, a portrait video may be taller."""
SIDE = 5
"""Tiles in a row and rows in a sheet: about 100 KB, so the first sheet is there soon."""
MAX_TILES = 200
INTERVALS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300)
"""Round numbers, the last one for the longest recordings."""
KEYFRAMES_ENOUGH = 10
"""Keyframes do, if they are at least a tenth of the tiles: a tile every ten seconds of a clip of one minute."""
RAW_NAME = "tiles.yuv"


class Tile(Struct, frozen=True, kw_only=True):
    """What to show from `start_ms` until `end_ms`: a rectangle of a sheet, both counted from 0."""

    start_ms: int
    end_ms: int
    sheet: int
    x: int
    y: int


class Sprites(Struct, frozen=True, kw_only=True):
    """The sheets in order, the size of each tile, and when each is shown; the whole length is covered."""

    sheets: tuple[Path, ...]
    tile: Size
    tiles: tuple[Tile, ...]


def make(source: Source, progress: Callable[[float], None] = lambda _: None) -> Sprites:
    """Write the sheets into the scratch directory. Raises `Permanent` (`undecodable_video`) without a frame."""
    size = sizes.whole_planes(sizes.within(sizes.displayed(source.stream), TILE))
    pixels = size.width * size.height
    layout = Layout(filters=filters.picture(source.stream, size), frame_bytes=pixels * 3 // 2)
    count = tiles_for(source.length_ms)
    enough = max(min(count, SIDE), count // KEYFRAMES_ENOUGH)
    frames = sample(source, layout, count, enough=enough, progress=progress)
    if not frames:
        raise undecodable(source)
    tiles = placed([frame.time_ms for frame in frames], size, source.length_ms)
    return Sprites(sheets=_sheets(source, frames, size), tile=size, tiles=tiles)


def tiles_for(duration_ms: int) -> int:
    """How many tiles a video of that length gets."""
    longest = INTERVALS_S[-1]
    interval = next((s for s in INTERVALS_S if duration_ms <= s * 1000 * MAX_TILES), longest)
    return max(1, min(MAX_TILES, -(-duration_ms // (interval * 1000))))


def placed(times_ms: Sequence[int], size: Size, length_ms: int) -> tuple[Tile, ...]:
    """Each tile from its own time until the next; the first from 0, the last to the end."""
    starts = [0, *times_ms[1:]]
    ends = [*times_ms[1:], max(length_ms, times_ms[-1] + 1)]
    return tuple(
        Tile(
            start_ms=start,
            end_ms=end,
            sheet=number // SIDE**2,
            x=number % SIDE * size.width,
            y=number // SIDE % SIDE * size.height,
        )
        for number, (start, end) in enumerate(zip(starts, ends, strict=True))
    )


def _sheets(source: Source, frames: Sequence[Frame], size: Size) -> tuple[Path, ...]:
    """25 tiles on each; a single sheet is no larger than its tiles need."""
    raw = source.scratch / RAW_NAME
    sheets = []
    for number, first in enumerate(range(0, len(frames), SIDE**2)):
        part = frames[first : first + SIDE**2]
        raw.write_bytes(b"".join(frame.pixels for frame in part))
        sheets.append(source.scratch / f"storyboard-{number}.jpg")
        _write(source, raw, sheets[-1], size, len(part))
    raw.unlink()
    return tuple(sheets)


def _write(source: Source, raw: Path, sheet: Path, size: Size, count: int) -> None:
    columns, rows = min(count, SIDE), -(-count // SIDE)
    tools = source.engine.tools
    command = Command(
        argv=(
            *(tools.ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-y", "-v", "error", "-threads", "1"),
            # Our own pixels, so the whitelist for uploads does not apply.
            *("-protocol_whitelist", "file", "-f", "rawvideo", "-pixel_format", "yuv420p"),
            *("-video_size", f"{size.width}x{size.height}", "-i", file_url(raw)),
            *("-vf", f"setparams=range=full:colorspace=smpte170m,tile={columns}x{rows}", "-frames:v", "1"),
            *jpeg_output(sheet, tools.threads),
        ),
        timeout_s=STILL_TIMEOUT_S,
        max_file_bytes=MAX_JPEG_BYTES,
    )
    refuse_crash(source.engine.runner.run(command, cancellation=source.cancellation))
    if jpeg.size_of(sheet) != Size(width=columns * size.width, height=rows * size.height):
        raise undecodable(source)


def webvtt(sprites: Sprites) -> str:
    """The index as players read it: relative URLs with media fragments (W3C, `#xywh=`)."""
    cues = (
        f"{_clock(tile.start_ms)} --> {_clock(tile.end_ms)}\n"
        f"{sprites.sheets[tile.sheet].name}#xywh={tile.x},{tile.y},{sprites.tile.width},{sprites.tile.height}\n"
        for tile in sprites.tiles
    )
    return "\n".join(("WEBVTT\n", *cues))


def _clock(ms: int) -> str:
    """`01:02:03.456`."""
    seconds, rest = divmod(ms, 1000)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{rest:03d}"
