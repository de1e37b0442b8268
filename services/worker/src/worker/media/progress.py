"""ffmpeg's `-progress pipe:1` stream, parsed.

ffmpeg writes blocks of `key=value` lines, each closed by `progress=continue` or `progress=end`
(fftools/ffmpeg.c, print_report). Values may be `N/A` until the first packet is out.
"""

from collections.abc import Callable, Mapping

from msgspec import Struct

MAX_LINE_BYTES = 4096
"""ffmpeg's lines are below 100 bytes; anything longer is not progress and is dropped."""


class Progress(Struct, frozen=True, kw_only=True):
    """One report. `out_time_us`: media time written so far; `speed`: multiple of real time."""

    out_time_us: int
    frame: int
    speed: float | None
    total_bytes: int
    finished: bool


class ProgressLines:
    """A sink that turns the stream into `Progress` events."""

    def __init__(self, listener: Callable[[Progress], None]) -> None:
        self._listener = listener
        self._pending = b""
        self._block: dict[str, str] = {}
        self._position: object = None

    @property
    def position(self) -> object:
        """Media time, frames and bytes: ffmpeg keeps reporting while it is stuck, so reports alone are not enough."""
        return self._position

    def feed(self, data: bytes) -> None:
        *lines, rest = (self._pending + data).split(b"\n")
        self._pending = rest[:MAX_LINE_BYTES]
        for line in lines:
            self._line(line.decode("ascii", "replace"))

    def _line(self, line: str) -> None:
        key, _, value = line.strip().partition("=")
        if key != "progress":
            self._block[key] = value.strip()
            return
        event = parse_block(self._block, finished=value.strip() == "end")
        self._block = {}
        self._position = (event.out_time_us, event.frame, event.total_bytes, event.finished)
        self._listener(event)


def parse_block(block: Mapping[str, str], *, finished: bool) -> Progress:
    """Numbers of one block; what is absent or `N/A` counts as nothing done yet."""
    speed = _number(block.get("speed", "").removesuffix("x"))
    return Progress(
        out_time_us=int(_number(block.get("out_time_us", "")) or 0),
        frame=int(_number(block.get("frame", "")) or 0),
        speed=speed,
        total_bytes=int(_number(block.get("total_size", "")) or 0),
        finished=finished,
    )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
