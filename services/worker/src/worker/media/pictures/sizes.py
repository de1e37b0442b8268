"""How large pictures become: the shape that people see, never larger than the source."""

from reelworks.domain.geometry import Size, even
from worker.media.report import VideoStream


def displayed(stream: VideoStream) -> Size:
    """As players show it. The coded size, where the probe could not tell the shape of a pixel."""
    return Size(
        width=stream.display_width or stream.width or 2,
        height=stream.display_height or stream.height or 2,
    )


def fit(size: Size, longest: int) -> Size:
    """The same shape with its longer side at most `longest`; any whole number of pixels from 1."""
    return within(size, Size(width=longest, height=longest))


def within(size: Size, box: Size) -> Size:
    """The same shape, not larger than itself nor than the box."""
    factor = min(1.0, box.width / size.width, box.height / size.height)
    return Size(width=max(1, round(size.width * factor)), height=max(1, round(size.height * factor)))


def whole_planes(size: Size) -> Size:
    """For raw 4:2:0 frames, whose planes of colour have half the size; at least 4x4, or filters refuse it."""
    return Size(width=max(4, even(size.width)), height=max(4, even(size.height)))
