"""PNG by hand: pixels as the specification says, and what hostile headers ask for is not given."""

import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reelworks.errors import Permanent
from tests.unit.worker.media.pictures import pngs
from worker.media.pictures import png

HEADER_AT, DATA_AT = 8, 33
"""Where IHDR is, and what comes after it."""


def unpacked(tmp_path: Path, content: bytes, max_pixels: int = 10_000) -> tuple[png.Header, bytes]:
    source, pixels = tmp_path / "source", tmp_path / "pixels"
    source.write_bytes(content)
    header = png.unpack(source, pixels, max_pixels=max_pixels, check=lambda: None)
    return header, pixels.read_bytes()


def small(width: int, height: int, *, depth: int, kind: int, rows: bytes, palette: bytes = b"") -> bytes:
    header = pngs.chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0))
    data = pngs.chunk(b"IDAT", zlib.compress(rows)) + pngs.chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + header + palette + data


def test_few_bits_of_grey_reach_from_black_to_white(tmp_path: Path) -> None:
    header, pixels = unpacked(tmp_path, small(5, 2, depth=1, kind=0, rows=b"\0\xa8\0\x50"))

    assert header.pixel_format == "gray"
    assert list(pixels) == [255, 0, 255, 0, 255, 0, 255, 0, 255, 0]


def test_a_palette_may_be_transparent_and_short(tmp_path: Path) -> None:
    palette = pngs.chunk(b"PLTE", bytes([9, 8, 7, 6, 5, 4])) + pngs.chunk(b"tRNS", b"\0")
    header, pixels = unpacked(tmp_path, small(3, 1, depth=2, kind=3, rows=b"\0\x18", palette=palette))

    assert header.pixel_format == "rgba"
    assert list(pixels) == [9, 8, 7, 0, 6, 5, 4, 255, 0, 0, 0, 255]


@pytest.mark.parametrize("mode", ["rgb", "grey"])
def test_every_filter_gives_the_same_pixels(tmp_path: Path, mode: str) -> None:
    pictures = {unpacked(tmp_path, pngs.written(mode, kind))[1] for kind in range(5)}

    assert len(pictures) == 1


@pytest.mark.parametrize(("width", "height"), [(101, 100), (70_000, 1), (2**32 - 1, 2**32 - 1)])
def test_too_many_pixels_are_refused_by_the_header(tmp_path: Path, width: int, height: int) -> None:
    with pytest.raises(Permanent) as refused:
        unpacked(
            tmp_path, small(width, height, depth=8, kind=2, rows=b""), 100_000 if height == 1 else 10_000
        )
    assert refused.value.code == "too_many_pixels"


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x1a\n",
        b"\x89PNG\r\n\x1a\n" + pngs.chunk(b"IHDR", b"short"),
        small(0, 5, depth=8, kind=2, rows=b""),
        small(5, 5, depth=3, kind=2, rows=b""),
        small(5, 5, depth=8, kind=9, rows=b""),
        small(5, 5, depth=8, kind=0, rows=b"\0" * 29),
        small(5, 1, depth=8, kind=0, rows=b"\x07" * 6),
        pngs.written("rgb", 0)[:-200],
        pngs.written("rgb", 0)[:DATA_AT] + pngs.chunk(b"IDAT", b"no zlib"),
    ],
)
def test_damage_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(Permanent) as refused:
        unpacked(tmp_path, content)
    assert refused.value.code == "undecodable_picture"


def test_interlaced_files_are_refused_with_advice(tmp_path: Path) -> None:
    header = pngs.chunk(b"IHDR", struct.pack(">IIBBBBB", 5, 5, 8, 2, 0, 0, 1))
    with pytest.raises(Permanent, match="without interlacing"):
        unpacked(tmp_path, b"\x89PNG\r\n\x1a\n" + header)


def test_more_data_than_the_header_promises_is_never_unpacked(tmp_path: Path) -> None:
    bomb = small(10, 10, depth=8, kind=0, rows=b"\0" * 50_000_000)

    assert len(unpacked(tmp_path, bomb)[1]) == 100


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(st.integers(HEADER_AT, 400), st.binary(min_size=1, max_size=20))
def test_any_bytes_end_in_pixels_or_a_refusal(tmp_path: Path, at: int, junk: bytes) -> None:
    whole = pngs.written("palette", 4)
    try:
        header, pixels = unpacked(tmp_path, whole[:at] + junk + whole[at + len(junk) :])
    except Permanent:
        return
    assert len(pixels) % (header.width * header.height) == 0
