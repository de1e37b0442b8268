"""The filters that turn a decoded frame into the picture people should see: upright, square pixels, SDR, opaque.

Turned as the report says, with ffmpeg's own autorotation off: that does not know the `rotate` tag of old phones.
"""

from reelworks.domain.geometry import Size
from worker.media.display import upright
from worker.media.report import VideoStream

JPEG_COLOURS = "out_color_matrix=bt601:out_range=full"
"""JFIF knows nothing else: full-range BT.601, whatever the video used."""
HD_LINES = 720
"""From here on unlabelled pictures are BT.709, as players assume; swscale would take them for BT.601."""


def picture(stream: VideoStream, size: Size) -> str:
    """A chain from the decoder's frame to full-range 4:2:0 of that size."""
    turns = upright(rotation=stream.rotation, flipped=stream.flipped)
    steps = [*_deinterlaced(stream), *turns, *_tagged(stream), *_opaque(stream)]
    shape = f"w={size.width}:h={size.height}:flags=area+accurate_rnd"
    if stream.hdr:
        # Scaled down first: tone-mapping costs floating point per pixel. Without zscale.
        steps.append(f"scale={shape}:out_transfer=linear:out_primaries=bt709,format=gbrpf32le")
        steps.append("tonemap=hable,scale=out_transfer=bt709:out_color_matrix=bt709")
        shape = ""
    steps.append(f"scale={shape + ':' if shape else ''}{JPEG_COLOURS},format=yuv420p,setsar=1,{ANONYMOUS}")
    return ",".join(steps)


ANONYMOUS = "sidedata=mode=delete"
"""Forgets what came with the frame, such as EXIF: where a phone was is nobody's business."""


def _deinterlaced(stream: VideoStream) -> list[str]:
    """From the fields of one frame alone: the keyframes around it are seconds away, which bwdif takes for motion."""
    return ["estdif=mode=frame:deint=all"] if stream.interlaced else []


def _tagged(stream: VideoStream) -> list[str]:
    untagged = stream.color_space in (None, "unknown", "unspecified", "reserved")
    rgb = (stream.pixel_format or "").startswith(("rgb", "bgr", "gbr", "pal", "argb", "abgr"))
    large = min(stream.width, stream.height) >= HD_LINES
    return ["setparams=colorspace=bt709"] if untagged and not rgb and large else []


def _opaque(stream: VideoStream) -> list[str]:
    return [ON_WHITE] if stream.alpha else []


ON_WHITE = (
    "format=rgba,split[over][under];"
    "[under]drawbox=color=white:thickness=fill:replace=1[white];"
    "[white][over]overlay=format=rgb:alpha=straight"
)
"""What is transparent becomes white, as in a browser without a style sheet; just dropping alpha shows leftovers."""
