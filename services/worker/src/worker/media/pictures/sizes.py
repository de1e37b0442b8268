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
    factor = min(1.0, longest / max(size.width, size.height))
    return Size(width=max(1, round(size.width * factor)), height=max(1, round(size.height * factor)))


def fit_even(size: Size, longest: int) -> Size:
    """As `fit`, for raw 4:2:0 frames, whose planes must be whole; at least 4x4, or filters refuse it."""
    fitting = fit(size, longest)
    return Size(width=max(4, even(fitting.width)), height=max(4, even(fitting.height)))
