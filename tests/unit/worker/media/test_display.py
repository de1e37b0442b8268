"""Matrices, tags, aspects and pixel formats, without a file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.media import display, pixels

ONE = 65536


def matrix(a: int, b: int, c: int, d: int) -> str:
    rows = ((a, b, 0), (c, d, 0), (0, 0, 1 << 30))
    return "\n" + "".join(f"{n:08d}: {r[0]:11d} {r[1]:11d} {r[2]:11d}\n" for n, r in enumerate(rows))


@pytest.mark.parametrize(
    ("numbers", "rotation", "flipped"),
    [
        ((ONE, 0, 0, ONE), 0, False),
        ((0, ONE, -ONE, 0), 90, False),
        ((-ONE, 0, 0, -ONE), 180, False),
        ((0, -ONE, ONE, 0), 270, False),
        ((-ONE, 0, 0, ONE), 0, True),
        ((ONE, 0, 0, -ONE), 180, True),
        ((0, -ONE, -ONE, 0), 90, True),
        ((0, ONE, ONE, 0), 270, True),
        ((2 * ONE, 0, 0, 2 * ONE), 0, False),
        ((46340, 46340, -46340, 46340), 0, False),
        ((0, 0, 0, 0), 0, False),
    ],
)
def test_the_eight_ways_to_hold_a_camera(
    numbers: tuple[int, int, int, int], rotation: int, flipped: bool
) -> None:
    turn = display.orientation(matrix(*numbers), None)
    assert (turn.rotation, turn.flipped) == (rotation, flipped)


@given(st.sampled_from([-ONE, 0, ONE]), st.sampled_from([-ONE, ONE]), st.booleans())
def test_mirroring_and_turning_gives_the_matrix_back(x: int, y: int, swap: bool) -> None:
    a, b, c, d = (0, x or ONE, y, 0) if swap else (x or ONE, 0, 0, y)
    turn = display.orientation(matrix(a, b, c, d), None)
    cos, sin = {0: (1, 0), 90: (0, 1), 180: (-1, 0), 270: (0, -1)}[turn.rotation]
    mirror = -1 if turn.flipped else 1
    assert (a, b, c, d) == (mirror * cos * ONE, mirror * sin * ONE, -sin * ONE, cos * ONE)


@pytest.mark.parametrize(
    ("tag", "rotation"),
    [("90", 90), ("-90", 270), ("270", 270), ("450", 90), ("180", 180), ("x", 0), ("inf", 0), (None, 0)],
)
def test_without_a_matrix_the_tag_counts(tag: str | None, rotation: int) -> None:
    assert display.orientation(None, tag).rotation == rotation


def test_the_matrix_wins_over_the_tag() -> None:
    assert display.orientation(matrix(ONE, 0, 0, ONE), "90").rotation == 0


@given(st.text())
def test_any_text_is_some_orientation(text: str) -> None:
    assert display.orientation(text, text).rotation in (0, 90, 180, 270)


@pytest.mark.parametrize(
    ("sar", "aspect"),
    [
        ("1:1", (1, 1)),
        ("64:45", (64, 45)),
        ("0:1", (1, 1)),
        ("1:0", (1, 1)),
        ("1:400", (1, 1)),
        ("400:1", (1, 1)),
        ("N/A", (1, 1)),
        ("-4:3", (1, 1)),
    ],
)
def test_absurd_pixels_are_square(sar: str, aspect: tuple[int, int]) -> None:
    assert display.pixel_aspect(sar) == aspect


def test_aspect_is_applied_before_the_turn() -> None:
    assert display.display_size(720, 576, (64, 45), 90) == (576, 1024)


@pytest.mark.parametrize(
    ("name", "bits", "alpha"),
    [
        ("yuv420p", 8, False),
        ("yuvj444p", 8, False),
        ("yuv410p", 8, False),
        ("nv12", 8, False),
        ("yuv420p10le", 10, False),
        ("yuv422p9be", 9, False),
        ("yuva444p12le", 12, True),
        ("p010le", 10, False),
        ("p210le", 10, False),
        ("p416le", 16, False),
        ("gray", 8, False),
        ("gray16be", 16, False),
        ("gbrp12le", 12, False),
        ("gbrap", 8, True),
        ("rgb48le", 16, False),
        ("rgba64be", 16, True),
        ("x2rgb10le", 10, False),
        ("y210le", 10, False),
        ("argb", 8, True),
        ("pal8", 8, True),
        ("ya8", 8, True),
        (None, 8, False),
    ],
)
def test_pixel_formats(name: str | None, bits: int, alpha: bool) -> None:
    assert (pixels.bits(name), pixels.alpha(name)) == (bits, alpha)
