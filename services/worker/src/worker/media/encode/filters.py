"""The filter graph of a ladder: one decoded stream in, one output of right size and colour for each rung.

Everything costly happens once: the source is brought onto the frame grid, scaled to the highest rung and converted to
8-bit BT.709 before the split; the lower rungs are scaled from there. It is turned and flipped as the report says.
"""

from collections.abc import Iterator

from reelworks.domain.plan import Rung, VideoPlan
from worker.media.display import upright
from worker.media.encode.cut import Cut
from worker.media.report import VideoStream

TONE_MAP = (
    # Light is only linear in a linear transfer; Hable's curve keeps highlights. zscale is not in every build,
    # swscale does the same from ffmpeg 7.1 on.
    "scale=out_transfer=linear:out_primaries=bt709",
    "format=gbrpf32le",
    "tonemap=hable",
    "scale=out_transfer=bt709:out_color_matrix=bt709:out_range=tv",
)
HD_LINES = 720
"""From here on unlabelled pictures are BT.709, below BT.601, as players assume. swscale would always take 601."""


def graph(plan: VideoPlan, picture: VideoStream, cut: Cut) -> str:
    """For `-filter_complex`; its outputs are `[v0]`, `[v1]` … in the order of the rungs."""
    top = max(plan.rungs, key=lambda rung: rung.width * rung.height)
    shared = ",".join((*_timing(plan, picture, cut), *shown(picture, top)))
    feeds = "".join(f"[{'v' if rung is top else 'r'}{n}]" for n, rung in enumerate(plan.rungs))
    branches = (_branch(number, rung) for number, rung in enumerate(plan.rungs) if rung is not top)
    return ";".join((f"[0:{picture.index}]{shared},split={len(plan.rungs)}{feeds}", *branches))


def shown(picture: VideoStream, top: Rung) -> Iterator[str]:
    """Upright, in the size of the highest rung, in 8-bit BT.709."""
    yield from _upright(picture)
    yield from _picture(picture, top)


def _timing(plan: VideoPlan, picture: VideoStream, cut: Cut) -> Iterator[str]:
    yield from whole_frames(picture)
    if cut.delay_ms is not None:
        yield f"setpts=PTS-STARTPTS+{cut.delay_ms / 1000:.3f}/TB"
    if cut.hold_ms:
        yield f"tpad=stop_mode=clone:stop_duration={cut.hold_ms / 1000:.3f}"
    # One constant grid for every chunk and rung. `start_time` cuts off what is before the chunk, and
    # fills a gap at its beginning with its first picture.
    yield f"fps={plan.grid.frame_rate}:start_time={float(cut.skip):.6f}:round=near"
    yield f"trim=end_frame={cut.frames}"
    if cut.skip:
        yield "setpts=PTS-STARTPTS"


def whole_frames(picture: VideoStream) -> Iterator[str]:
    """Nothing, unless the picture consists of fields."""
    if picture.interlaced:
        # One frame per frame, not per field: the rate stays. Frames that are not marked as fields are left alone.
        yield "bwdif=mode=send_frame:parity=auto:deint=interlaced"


def _upright(picture: VideoStream) -> Iterator[str]:
    yield from upright(rotation=picture.rotation, flipped=picture.flipped)
    # Else the muxer writes the source's matrix into a stream that is upright by now.
    yield "sidedata=mode=delete:type=DISPLAYMATRIX"


def _picture(picture: VideoStream, top: Rung) -> Iterator[str]:
    size = f"scale={top.width}:{top.height}:flags=bicubic"
    if picture.hdr:
        # Scaled before it is tone-mapped: floating-point pictures of the source's size would be slow and large.
        yield size
        yield from TONE_MAP
    else:
        yield f"{size}:in_color_matrix={_matrix(picture)}:out_color_matrix=bt709:out_range=tv"
    # 4:2:0 of 8 bit, whatever came in: web players decode neither High 10 nor 4:4:4.
    yield "format=yuv420p"
    # Rungs are sized by the display aspect, so their pixels are square.
    yield "setsar=1"
    yield "setparams=field_mode=prog:range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709"


def _matrix(picture: VideoStream) -> str:
    if picture.color_space not in (None, "unknown", "unspecified", "reserved"):
        return "auto"
    return "bt709" if min(picture.width, picture.height) >= HD_LINES else "bt601"


def _branch(number: int, rung: Rung) -> str:
    return f"[r{number}]scale={rung.width}:{rung.height}:flags=bicubic,setsar=1[v{number}]"
