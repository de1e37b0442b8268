"""What the ranking wants to know about a frame, measured.

numpy is no dependency of the worker, and a loop over pixels in Python takes 0.1 s a frame. So ffmpeg computes what
needs neighbours (the Laplacian, as a second picture below the first), and what is left follows from histograms, which
`Counter` makes of bytes in C: about 4 ms a frame. blurdetect and signalstats would give other measures, at full size,
and only as text.
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, pairwise

from msgspec import Struct

from reelworks.domain.geometry import Size
from reelworks.domain.ranking import Features
from worker.media.pictures import filters, sizes
from worker.media.pictures.sampling import Frame, Layout
from worker.media.report import VideoStream

LONGEST = 320
"""Blur that people see in a poster is still there at this size, the noise of the sensor is not."""
BLOCKS = 8
"""A frame's look is summed up by so many means in each direction."""
EDGE = 0.1
"""Share of the video at either end in which logos and credits are expected."""
SHARPEST, MOST_COLOURFUL = 3_000.0, 80.0
"""Where the scales end: test patterns and posters lie above, footage below."""
ONE_TONE = 24
"""Width of a band of luma that looks like one tone; black with film grain fits in."""

Histogram = Sequence[int]
Look = tuple[float, ...]


class Measured(Struct, frozen=True, kw_only=True):
    """A frame with what was found; `look` to compare it with others."""

    time_ms: int
    key: bool
    features: Features
    look: Look


def size_for(stream: VideoStream) -> Size:
    """Of the frames that `measure` wants."""
    return sizes.whole_planes(sizes.fit(sizes.displayed(stream), LONGEST))


def layout(stream: VideoStream) -> Layout:
    """The picture, and below it its Laplacian around 128, as 4:2:0."""
    size = size_for(stream)
    laplacian = "convolution=0m=0 1 0 1 -4 1 0 1 0:0rdiv=1:0bias=128"
    graph = f"{filters.picture(stream, size)},split[a][b];[b]{laplacian}[c];[a][c]vstack"
    return Layout(filters=graph, frame_bytes=size.width * size.height * 3)


def measure(frames: Sequence[Frame], size: Size, duration_ms: int) -> tuple[Measured, ...]:
    """One for each frame, in the same order. `duration_ms` 0: unknown, the last frame stands for the end."""
    length = max(duration_ms, frames[-1].time_ms if frames else 0, 1)
    looks = [_look(frame.pixels, size) for frame in frames]
    changes = _changes(looks)
    return tuple(
        Measured(
            time_ms=frame.time_ms,
            key=frame.key,
            features=_features(frame.pixels, size, frame.time_ms / length, change),
            look=look,
        )
        for frame, look, change in zip(frames, looks, changes, strict=True)
    )


def distance(one: Look, other: Look) -> float:
    """From 0, the same, to 1, black against white."""
    return math.dist(one, other) / math.sqrt(len(one)) / 255


def _features(pixels: bytes, size: Size, position: float, change: float) -> Features:
    plane = size.width * size.height
    luma, laplacian = _histogram(pixels[:plane]), _histogram(pixels[plane : 2 * plane])
    chroma = plane // 4
    blue, red = (_histogram(pixels[start : start + chroma]) for start in (2 * plane, 2 * plane + 2 * chroma))
    mean = _mean(luma) / 255
    return Features(
        sharpness=_logarithmic(_variance(laplacian), SHARPEST),
        exposure=1 - abs(2 * mean - 1),
        contrast=(_percentile(luma, 0.95) - _percentile(luma, 0.05)) / 255,
        colour=min(1.0, _colourfulness(blue, red) / MOST_COLOURFUL),
        content=1 - _one_tone(luma),
        inside=min(1.0, position / EDGE, (1 - position) / EDGE) if position < 1 else 0.0,
        position=position,
        change=change,
    )


def _histogram(plane: bytes) -> Histogram:
    counted = Counter(plane)
    return [counted[value] for value in range(256)]


def _mean(histogram: Histogram) -> float:
    return sum(value * count for value, count in enumerate(histogram)) / max(1, sum(histogram))


def _variance(histogram: Histogram) -> float:
    mean = _mean(histogram)
    return sum(count * (value - mean) ** 2 for value, count in enumerate(histogram)) / max(1, sum(histogram))


def _percentile(histogram: Histogram, share: float) -> int:
    wanted = share * sum(histogram)
    return next((value for value, below in enumerate(accumulate(histogram)) if below >= wanted), 255)


def _logarithmic(value: float, full: float) -> float:
    return min(1.0, math.log1p(value) / math.log1p(full))


def _colourfulness(blue: Histogram, red: Histogram) -> float:
    """Hasler and Süsstrunk (2003) with the opponent axes that the video has anyway."""
    spread = math.sqrt(_variance(blue) + _variance(red))
    return spread + 0.3 * math.hypot(_mean(blue) - 128, _mean(red) - 128)


def _one_tone(luma: Histogram) -> float:
    """The largest share of the picture whose luma lies within one narrow band."""
    below = [0, *accumulate(luma)]
    return max(below[low + ONE_TONE] - below[low] for low in range(257 - ONE_TONE)) / max(1, below[-1])


def _look(pixels: bytes, size: Size) -> Look:
    """Mean luma of blocks, and of coarser ones the two colours."""
    plane, half = size.width * size.height, Size(width=size.width // 2, height=size.height // 2)
    chroma = plane // 4
    planes = (pixels[start : start + chroma] for start in (2 * plane, 2 * plane + 2 * chroma))
    luma = _blocks(pixels[:plane], size, BLOCKS)
    return (*luma, *(mean for colour in planes for mean in _blocks(colour, half, BLOCKS // 2)))


def _blocks(plane: bytes, size: Size, count: int) -> list[float]:
    """Means of `count` by `count` blocks; fewer, where the picture has fewer rows or columns."""
    columns, rows = _cuts(size.width, count), _cuts(size.height, count)
    return [
        sum(sum(plane[y * size.width + left : y * size.width + right]) for y in range(top, bottom))
        / ((right - left) * (bottom - top))
        for top, bottom in rows
        for left, right in columns
    ]


def _cuts(length: int, count: int) -> list[tuple[int, int]]:
    parts = min(length, count)
    return list(pairwise(length * n // parts for n in range(parts + 1)))


def _changes(looks: Sequence[Look]) -> list[float]:
    """How far each is from its neighbours, on average; a distance of a fifth is another scene altogether."""
    steps = [distance(one, other) for one, other in pairwise(looks)]
    around = [steps[max(0, n - 1) : n + 1] for n in range(len(looks))]
    return [min(1.0, 5 * sum(near) / len(near)) if near else 0.0 for near in around]
