"""The grid of frames, for any rate and length."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from reelworks.domain import timeline
from reelworks.domain.timeline import MAX_CHUNKS, Grid

RATES = [
    "24000/1001",
    "24/1",
    "25/1",
    "30000/1001",
    "30/1",
    "50/1",
    "60000/1001",
    "60/1",
    "1/1",
    "2/1",
    "25/2",
]
GRIDS = st.builds(
    timeline.grid,
    st.sampled_from(RATES) | st.fractions(1, 60, max_denominator=1001).map(str),
    st.integers(1, 24 * 3_600_000),
    st.sampled_from([2, 4, 6, 8, 10]),
    st.builds(
        timeline.Chunking,
        above_s=st.sampled_from([1, 10, timeline.CHUNK_ABOVE_S, 10**6]),
        length_s=st.sampled_from([1, 4, 10, timeline.CHUNK_S, 10**6]),
    ),
)


@given(GRIDS)
def test_groups_segments_and_chunks_nest(grid: Grid) -> None:
    assert grid.gop_frames >= 1
    assert grid.segment_frames % grid.gop_frames == 0
    assert grid.chunk_frames % grid.segment_frames == 0
    assert grid.segments_per_chunk * grid.segment_frames == grid.chunk_frames


@given(GRIDS)
def test_chunks_cover_every_frame_once(grid: Grid) -> None:
    assert 1 <= grid.chunks <= MAX_CHUNKS
    last = grid.frames - (grid.chunks - 1) * grid.chunk_frames
    assert 0 < last < grid.chunk_frames + grid.segment_frames


@given(GRIDS)
def test_no_chunk_is_shorter_than_a_segment_unless_the_video_is(grid: Grid) -> None:
    last = grid.frames - (grid.chunks - 1) * grid.chunk_frames
    assert last >= min(grid.segment_frames, grid.frames)


def test_a_grid_stored_before_tails_were_folded_keeps_its_chunks() -> None:
    folded = timeline.grid("25/1", 120_040, segment_s=4)
    stored = structs.replace(folded, folds_tail=False)
    assert (folded.chunks, stored.chunks) == (2, 3)
    assert (folded.length(1), stored.length(1)) == (None, Fraction(60))


@given(GRIDS)
def test_each_chunk_begins_on_a_frame_where_the_one_before_it_ends(grid: Grid) -> None:
    end = Fraction(0)
    for chunk in range(grid.chunks):
        assert grid.start(chunk) == end
        assert (grid.start(chunk) * grid.fps).denominator == 1
        end += grid.length(chunk) or 0
    assert grid.length(grid.chunks - 1) is None


@pytest.mark.parametrize(
    ("rate", "duration_ms", "gop", "frames", "chunks"),
    [
        ("25/1", 4_000, 50, 100, 1),
        ("30000/1001", 2_002, 60, 60, 1),
        ("24000/1001", 600_600, 48, 14_400, 10),
        ("25/1", 120_000, 50, 3_000, 1),
        ("25/1", 120_040, 50, 3_001, 2),
        ("25/1", 123_960, 50, 3_099, 2),
        ("25/1", 124_000, 50, 3_100, 3),
        ("60/1", 24 * 3_600_000, 120, 5_184_000, 60),
        ("1/1", 3_600_000, 2, 3_600, 60),
        ("25/1", 1, 50, 1, 1),
    ],
)
def test_known_grids(rate: str, duration_ms: int, gop: int, frames: int, chunks: int) -> None:
    grid = timeline.grid(rate, duration_ms, segment_s=4)
    assert (grid.gop_frames, grid.frames, grid.chunks) == (gop, frames, chunks)
