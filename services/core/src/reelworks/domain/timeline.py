"""Where groups of pictures, segments and chunks begin: on one grid of frames, exact, whatever the frame rate.

At 29.97 frames a second a group of "2 s" is 60 frames, that is 2.002 s. Everything is counted in frames and only
turned into seconds at the end, as fractions, so that a chunk begins exactly on a frame.
"""

from fractions import Fraction

from msgspec import Struct

OFFSET_S = 1
"""All media times are later by this. Encoders with B-frames start below zero, where a muxer would shift a chunk's
timestamps on its own and two frames per seam were lost; with it, every chunk keeps its place."""
GOP_S = 2
"""Keyframe distance: players switch renditions and seek at these."""
CHUNK_S = 60
"""Long enough that starting ffmpeg and reading the source costs little, short enough to share out."""
CHUNK_ABOVE_S = 120
"""A shorter video is one task: there is nothing to gain from splitting it."""
MAX_CHUNKS = 60
"""So that all tasks of an upload fit one DynamoDB transaction; of longer videos the chunks get longer."""


class Chunking(Struct, frozen=True, kw_only=True):
    """Seconds: videos above `above_s` are split into chunks of about `length_s`."""

    above_s: int = CHUNK_ABOVE_S
    length_s: int = CHUNK_S


CHUNKING = Chunking()


class Grid(Struct, frozen=True, kw_only=True):
    """`frame_rate`: exact, like "30000/1001". Lengths in frames; `chunk_frames` is a multiple of `segment_frames`,
    which is one of `gop_frames`. `frames`: expected in all, from the probed duration (the last chunk has the rest).
    `folds_tail`: a rest shorter than a segment is no chunk of its own, the one before it is longer; False in grids
    stored before there was the rule, whose tasks are planned already.
    """

    frame_rate: str
    gop_frames: int
    segment_frames: int
    chunk_frames: int
    frames: int
    folds_tail: bool = False

    @property
    def fps(self) -> Fraction:
        """Frames a second."""
        return Fraction(self.frame_rate)

    @property
    def chunks(self) -> int:
        """How many chunk tasks there are; at least one."""
        whole, tail = divmod(self.frames, self.chunk_frames)
        least = self.segment_frames if self.folds_tail else 1
        return max(1, whole + (tail >= least))

    @property
    def segments_per_chunk(self) -> int:
        """Segments of every chunk but the last."""
        return self.chunk_frames // self.segment_frames

    def start(self, chunk: int) -> Fraction:
        """Seconds at which a chunk begins."""
        return chunk * self.chunk_frames / self.fps

    def length(self, chunk: int) -> Fraction | None:
        """Seconds that a chunk lasts; None for the last: to the end, whatever the container said."""
        return None if chunk == self.chunks - 1 else self.chunk_frames / self.fps


def grid(frame_rate: str, duration_ms: int, segment_s: int, chunking: Chunking = CHUNKING) -> Grid:
    """The grid of a video."""
    fps = Fraction(frame_rate)
    gop = max(1, round(GOP_S * fps))
    segment = gop * max(1, round(segment_s / GOP_S))
    frames = max(1, round(duration_ms * fps / 1000))
    return Grid(
        frame_rate=frame_rate,
        gop_frames=gop,
        segment_frames=segment,
        chunk_frames=_chunk(frames, segment, fps, chunking),
        frames=frames,
        folds_tail=True,
    )


def _chunk(frames: int, segment: int, fps: Fraction, chunking: Chunking) -> int:
    """Whole segments; one chunk for everything that is not longer than `above_s`."""
    if frames <= chunking.above_s * fps:
        return segment * max(1, -(-frames // segment))
    wanted = max(chunking.length_s * fps, Fraction(frames, MAX_CHUNKS))
    return segment * max(1, -(-wanted.__ceil__() // segment))
