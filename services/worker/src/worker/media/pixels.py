"""What the name of an ffmpeg pixel format says (libavutil/pixdesc.c)."""

import re

_DEPTH = re.compile(r"(?:p[024]?|gray|ya|y2|x2rgb|x2bgr|xyz)(9|1[0246])(?:msb)?(?:le|be)$")
_OTHERS = ((re.compile(r"(rgb|bgr)48|(rgba|bgra|ayuv)64"), 16), (re.compile(r"nv20|v30x|xv30"), 10))
_ALPHA = re.compile(r"yuva|gbrap|rgba|bgra|argb|abgr|ayuv|vuya|uyva|ya\d|pal8")


def bits(pixel_format: str | None) -> int:
    """Bits of one component; 8 where the name says nothing else."""
    name = pixel_format or ""
    if depth := _DEPTH.search(name):
        return int(depth[1])
    return next((depth for pattern, depth in _OTHERS if pattern.match(name)), 8)


def alpha(pixel_format: str | None) -> bool:
    """Whether pixels may be transparent."""
    return _ALPHA.match(pixel_format or "") is not None
