"""Sheets and their index: every instant has its tile, every tile is on its sheet."""

import itertools
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelworks.domain.geometry import Size
from tests.media.samples import Samples
from tests.unit.worker.media.pictures import clips
from tests.unit.worker.media.pictures.conftest import Looked, Opened
from worker.media.pictures import sprites
from worker.media.pictures.sprites import MAX_TILES, Sprites, placed, tiles_for, webvtt

TILE = Size(width=160, height=90)


@pytest.mark.parametrize(
    ("duration_ms", "tiles"),
    [(0, 1), (300, 1), (10_000, 10), (200_000, 200), (201_000, 101), (3_600_000, 120), (6 * 3_600_000, 180)],
)
def test_the_interval_grows_with_the_length(duration_ms: int, tiles: int) -> None:
    assert tiles_for(duration_ms) == tiles


@given(st.integers(0, 10**9))
def test_there_are_never_too_many_tiles(duration_ms: int) -> None:
    assert 1 <= tiles_for(duration_ms) <= MAX_TILES


@given(st.sets(st.integers(0, 10**7), min_size=1, max_size=60), st.integers(0, 10**7))
def test_the_whole_length_is_covered_without_gap_or_overlap(times: set[int], length_ms: int) -> None:
    tiles = placed(sorted(times), TILE, length_ms)

    assert tiles[0].start_ms == 0
    assert tiles[-1].end_ms >= length_ms
    assert all(tile.start_ms < tile.end_ms for tile in tiles)
    assert all(one.end_ms == next_.start_ms for one, next_ in itertools.pairwise(tiles))
    assert len({(tile.sheet, tile.x, tile.y) for tile in tiles}) == len(tiles)


def test_the_index_is_webvtt_with_relative_fragments() -> None:
    made = Sprites(
        sheets=(Path("/x/storyboard-0.jpg"),), tile=TILE, tiles=placed([0, 2_000], TILE, 3_725_500)
    )

    assert webvtt(made) == (
        "WEBVTT\n\n"
        "00:00:00.000 --> 00:00:02.000\nstoryboard-0.jpg#xywh=0,0,160,90\n\n"
        "00:00:02.000 --> 01:02:05.500\nstoryboard-0.jpg#xywh=160,0,160,90\n"
    )


def test_tiles_are_where_the_index_says(opened: Opened, looked: Looked, samples: Samples) -> None:
    made = sprites.make(opened(clips.black_intro(samples)))

    assert [tile.start_ms for tile in made.tiles] == list(range(0, 10_000, 1_000))
    sheet = looked(made.sheets[0])
    assert (sheet.width, sheet.height) == (5 * 160, 2 * 90)
    for tile in made.tiles:
        middle = sheet.at((tile.x + 20) / sheet.width, (tile.y + 45) / sheet.height)
        assert (max(middle) < 16) == (tile.start_ms < 4_000)


def test_more_than_a_sheet_is_several(opened: Opened, looked: Looked, samples: Samples) -> None:
    made = sprites.make(opened(clips.clip(samples, "thirty.mp4", seconds=30)))

    assert [looked(sheet).height for sheet in made.sheets] == [450, 90]
    assert made.tiles[25].sheet == 1
    assert len(re.findall(r"storyboard-1\.jpg", webvtt(made))) == 5


def test_portrait_tiles_stand_upright(opened: Opened, samples: Samples) -> None:
    made = sprites.make(opened(clips.portrait(samples)))

    assert made.tile == Size(width=136, height=240)


@pytest.mark.parametrize("which", ["one_frame", "animation"])
def test_shorter_than_an_interval_is_one_tile(opened: Opened, samples: Samples, which: str) -> None:
    made = sprites.make(opened(getattr(samples, which)()))

    assert len(made.tiles) == 1
    assert made.tiles[0].start_ms == 0


def test_one_keyframe_still_gives_many_tiles(opened: Opened, samples: Samples) -> None:
    assert len(sprites.make(opened(clips.one_keyframe(samples))).tiles) == 6


def test_the_last_tile_lasts_as_long_as_the_sound(opened: Opened, samples: Samples) -> None:
    tone = ("-f", "lavfi", "-i", "sine=d=20")
    path = samples.encoded(
        "long-tone.mp4", "-i", clips.clip(samples, "plain.mp4"), *tone, "-c:v", "copy", "-c:a", "aac"
    )

    assert sprites.make(opened(path)).tiles[-1].end_ms == pytest.approx(20_000, abs=100)
