"""Where a chunk begins, and how the decoder gets there."""

from fractions import Fraction

import pytest
from msgspec import structs

from reelworks.domain.timeline import Grid
from tests.unit.worker.media.encode.builders import GRID, report, video
from worker.media.encode.cut import Cut, cut, expected_ms

LONGEST_MS = 60_000


def made(chunk: int, grid: Grid = GRID, formats: tuple[str, ...] = ("mov",), start_ms: int = 0) -> Cut:
    picture = video(start_ms=start_ms)
    return cut(grid, chunk, report(picture, formats=formats), picture, longest_ms=LONGEST_MS)


def test_the_first_chunk_is_read_from_the_beginning() -> None:
    first = made(0)

    assert first == Cut(start=Fraction(0), frames=240)


def test_a_later_chunk_begins_exactly_on_a_frame() -> None:
    assert made(1).seek == Fraction(240 * 1001, 30_000)
    assert made(1).skip == 0


def test_the_last_chunk_goes_on_to_the_end_but_not_for_ever() -> None:
    last = made(2)

    assert last.frames > 600 - 2 * 240
    assert last.frames == pytest.approx(60 * 30000 / 1001 - 2 * 240, abs=1)


def test_without_an_index_reading_starts_early_by_whole_frames() -> None:
    grid = structs.replace(GRID, frames=2_400)
    far = made(9, grid, ("mpegts",))

    assert far.seek is not None
    assert far.seek + far.skip == grid.start(9)
    assert (far.skip * grid.fps).denominator == 1
    assert far.skip >= 12


def test_without_an_index_near_the_beginning_all_is_read() -> None:
    near = made(1, formats=("mpegts",), start_ms=800)

    assert (near.seek, near.skip, near.delay_ms) == (None, GRID.start(1), 800)


def test_pictures_are_held_only_if_much_is_missing() -> None:
    assert made(0).hold_ms == 0
    picture = video(duration_ms=5_000)
    held = cut(GRID, 0, report(picture), picture, longest_ms=LONGEST_MS)
    assert held.hold_ms == pytest.approx(15_020, abs=1)
    assert expected_ms(GRID, report(picture), picture) == pytest.approx(20_020, abs=1)


def test_nothing_is_expected_of_a_format_that_only_estimates() -> None:
    assert expected_ms(GRID, report(formats=("mpegts",)), video()) is None
