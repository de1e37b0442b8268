"""Sizes of rungs, for any picture."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelworks.domain import geometry
from reelworks.domain.geometry import Size
from reelworks.domain.profile import HEIGHTS

SIDES = st.integers(2, 8192)
SIZES = st.builds(Size, width=SIDES, height=SIDES)
LADDERS = st.sets(st.sampled_from(HEIGHTS), min_size=1).map(lambda heights: tuple(sorted(heights)))


def sizes(source: tuple[int, int], heights: tuple[int, ...] = (360, 720, 1080)) -> list[tuple[int, int]]:
    rungs = geometry.ladder(Size(width=source[0], height=source[1]), heights)
    return [(rung.width, rung.height) for rung in rungs]


@pytest.mark.parametrize(
    ("source", "rungs"),
    [
        ((1920, 1080), [(640, 360), (1280, 720), (1920, 1080)]),
        ((1080, 1920), [(360, 640), (720, 1280), (1080, 1920)]),
        ((3840, 2160), [(640, 360), (1280, 720), (1920, 1080)]),
        ((1280, 720), [(640, 360), (1280, 720)]),
        ((1024, 576), [(640, 360), (1024, 576)]),
        ((640, 361), [(638, 360)]),
        ((361, 643), [(360, 642)]),
        ((320, 180), [(320, 180)]),
        ((321, 181), [(320, 180)]),
        ((720, 720), [(360, 360), (720, 720)]),
        ((4000, 2), [(4000, 2)]),
    ],
)
def test_rungs_of_known_sources(source: tuple[int, int], rungs: list[tuple[int, int]]) -> None:
    assert sizes(source) == rungs


@given(source=SIZES, heights=LADDERS)
def test_no_rung_is_larger_than_its_source(source: Size, heights: tuple[int, ...]) -> None:
    for rung in geometry.ladder(source, heights):
        assert rung.width <= source.width
        assert rung.height <= source.height
        assert rung.short <= max(heights)


@given(source=SIZES, heights=LADDERS)
def test_sides_are_even_and_never_nothing(source: Size, heights: tuple[int, ...]) -> None:
    for rung in geometry.ladder(source, heights):
        assert rung.width % 2 == rung.height % 2 == 0
        assert rung.short >= 2


@given(source=SIZES, heights=LADDERS)
def test_the_aspect_stays_within_a_pixel_or_two(source: Size, heights: tuple[int, ...]) -> None:
    for rung in geometry.ladder(source, heights):
        long, short = max(rung.width, rung.height), rung.short
        exact = short * max(source.width, source.height) / source.short
        # Two for the long side itself; the source's odd pixel counts as often as the sides differ in length.
        assert abs(long - exact) <= 2 + long / short


@given(source=SIZES, heights=LADDERS)
def test_portrait_stays_portrait(source: Size, heights: tuple[int, ...]) -> None:
    turned = geometry.ladder(Size(width=source.height, height=source.width), heights)
    assert [(rung.height, rung.width) for rung in turned] == [
        (rung.width, rung.height) for rung in geometry.ladder(source, heights)
    ]


@given(source=SIZES, heights=LADDERS)
def test_rungs_climb(source: Size, heights: tuple[int, ...]) -> None:
    shorts = [rung.short for rung in geometry.ladder(source, heights)]
    assert shorts
    assert shorts == sorted(set(shorts))
