"""Picture files: only of the kinds that are processed, only by their first bytes, and only pictures."""

from collections.abc import Callable
from pathlib import Path

import pytest

from reelworks.domain.plan import MediaType
from reelworks.errors import Permanent
from reelworks.runtime.cancellation import Cancellation
from tests.media.samples import Samples
from worker.bootstrap import summary
from worker.media import hostile
from worker.media.engine import MediaEngine
from worker.media.probe import probe
from worker.media.report import MediaReport
from worker.media.sniff import picture_demuxer

Probe = Callable[[Path], MediaReport]


@pytest.fixture
def report_of(engine: MediaEngine, cancellation: Cancellation) -> Probe:
    return lambda path: probe(path, engine=engine, cancellation=cancellation)


def test_a_jpeg_is_an_image_under_any_name(report_of: Probe, samples: Samples) -> None:
    for path in (samples.picture(), samples.picture_as_video()):
        report = report_of(path)
        media = summary(report)

        assert report.image
        assert (media.type, media.has_video, media.has_audio) == (MediaType.IMAGE, False, False)
        assert (media.width, media.height, media.duration_ms, media.frame_rate) == (320, 180, None, None)


def test_a_png_is_described_even_by_an_ffmpeg_that_cannot_decode_it(
    report_of: Probe, samples: Samples
) -> None:
    media = summary(report_of(samples.png()))

    assert (media.type, media.format, media.width, media.height) == (MediaType.IMAGE, "png_pipe", 64, 32)


def test_a_png_that_claims_too_many_pixels_is_refused(report_of: Probe, samples: Samples) -> None:
    with pytest.raises(Permanent) as refused:
        report_of(samples.png(height=16_000, declared=16_000))

    assert refused.value.code == "too_many_pixels"


@pytest.mark.parametrize(
    ("orientation", "rotation", "flipped", "size"),
    [
        (1, 0, False, (320, 180)),
        (2, 0, True, (320, 180)),
        (3, 180, False, (320, 180)),
        (4, 180, True, (320, 180)),
        (6, 90, False, (180, 320)),
        (8, 270, False, (180, 320)),
    ],
)
def test_exif_turns_a_photo(
    report_of: Probe,
    samples: Samples,
    orientation: int,
    rotation: int,
    flipped: bool,
    size: tuple[int, int],
) -> None:
    picture = report_of(samples.photo(orientation)).picture

    assert picture
    assert (picture.rotation, picture.flipped) == (rotation, flipped)
    assert (picture.display_width, picture.display_height) == size


def test_a_picture_bomb_is_refused(report_of: Probe, samples: Samples) -> None:
    with pytest.raises(Permanent) as refused:
        report_of(samples.picture_bomb())

    assert refused.value.code == "too_many_pixels"


@pytest.mark.parametrize("head", [b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"RIFF\0\0\0\0WEBPVP8 "])
def test_a_picture_that_cannot_be_decoded_is_refused(report_of: Probe, tmp_path: Path, head: bytes) -> None:
    broken = tmp_path / "source"
    broken.write_bytes(head + bytes(range(256)) * 8)

    with pytest.raises(Permanent, match=r"picture of this file \((JPEG|PNG|WEBP)\)") as refused:
        report_of(broken)

    assert refused.value.code == "undecodable_picture"


@pytest.mark.parametrize(
    "head", [b"\0\0\0\x18ftypheic", b"\0\0\0\x18ftypavif", b"II*\0", b"8BPS", b"<svg ", b"\0\0\0\x0cjP  "]
)
def test_other_kinds_of_pictures_stay_out(report_of: Probe, tmp_path: Path, head: bytes) -> None:
    (tmp_path / "source").write_bytes(head + bytes(100))

    with pytest.raises(Permanent, match="JPEG, PNG or WebP") as refused:
        report_of(tmp_path / "source")

    assert refused.value.code == "image"


@pytest.mark.parametrize("mark", [b"", b"<?xml version='1.0'?>\n", b"\xef\xbb\xbf", b"<!-- -->\n"])
def test_an_svg_is_refused_whatever_comes_before_it(
    report_of: Probe, samples: Samples, tmp_path: Path, mark: bytes
) -> None:
    svg = tmp_path / "picture.jpg"
    svg.write_bytes(mark + samples.vector_picture("file:///etc/hostname"))

    with pytest.raises(Permanent) as refused:
        report_of(svg)

    assert refused.value.code in ("image", "not_media")


def test_only_recognised_pictures_name_a_demuxer(samples: Samples) -> None:
    assert picture_demuxer(samples.picture_as_video()) == "jpeg_pipe"
    assert picture_demuxer(samples.video()) is None
    assert picture_demuxer(samples.animation()) is None
    assert picture_demuxer(samples.empty()) is None


def test_picture_demuxers_are_admitted_one_at_a_time_and_forced() -> None:
    options = hostile.options_for(("png_pipe",))

    assert options[options.index("-format_whitelist") + 1] == "png_pipe"
    assert options[-2:] == ("-f", "png_pipe")
    assert not set(hostile.PICTURE_DEMUXERS) & set(hostile.DEMUXERS)
    assert hostile.options_for(("mov", "mp4")) == hostile.input_options()
