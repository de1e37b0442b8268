"""How pictures are shown and at which rate, one recipe per case; and what the plan is told."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from reelworks.domain.plan import MediaSummary, MediaType
from reelworks.runtime.cancellation import Cancellation
from tests.media.samples import PICTURE, Samples
from worker.bootstrap import summary
from worker.media.engine import MediaEngine
from worker.media.probe import probe
from worker.media.report import MediaReport, VideoStream

Probe = Callable[[Path], MediaReport]
Look = Callable[[Path], VideoStream]
Sum = Callable[[Path], MediaSummary]


@pytest.fixture
def report_of(engine: MediaEngine, cancellation: Cancellation) -> Probe:
    return lambda path: probe(path, engine=engine, cancellation=cancellation)


@pytest.fixture
def picture_of(report_of: Probe) -> Look:
    def look(path: Path) -> VideoStream:
        picture = report_of(path).picture
        assert picture
        return picture

    return look


@pytest.fixture
def summary_of(report_of: Probe) -> Sum:
    return lambda path: summary(report_of(path))


@pytest.mark.parametrize(
    ("orientation", "rotation", "flipped", "size"),
    [
        (("-display_rotation", "-90"), 90, False, (180, 320)),
        (("-display_rotation", "90"), 270, False, (180, 320)),
        (("-display_rotation", "270"), 90, False, (180, 320)),
        (("-display_rotation", "180"), 180, False, (320, 180)),
        (("-display_rotation", "45"), 0, False, (320, 180)),
        (("-display_hflip",), 0, True, (320, 180)),
        (("-display_vflip",), 180, True, (320, 180)),
        (("-display_rotation", "90", "-display_hflip"), 90, True, (180, 320)),
    ],
)
def test_the_display_matrix_turns_and_mirrors(
    picture_of: Look,
    samples: Samples,
    orientation: tuple[str, ...],
    rotation: int,
    flipped: bool,
    size: tuple[int, int],
) -> None:
    picture = picture_of(samples.turned(*orientation, name=f"turned{''.join(orientation)}.mp4"))

    assert (picture.rotation, picture.flipped) == (rotation, flipped)
    assert (picture.display_width, picture.display_height) == size
    assert (picture.width, picture.height) == (320, 180)


def test_a_phone_video_is_portrait_in_the_summary_too(summary_of: Sum, samples: Samples) -> None:
    media = summary_of(samples.turned("-display_rotation", "-90", name="phone.mkv"))

    assert (media.type, media.width, media.height) == (MediaType.VIDEO, 180, 320)


def test_without_a_matrix_the_tag_turns(picture_of: Look, samples: Samples) -> None:
    tagged = samples.encoded("tagged.mkv", "-i", samples.video(), "-metadata:s:v", "rotate=90", "-c", "copy")
    picture = picture_of(tagged)

    assert (picture.rotation, picture.display_width, picture.display_height) == (90, 180, 320)


def test_wide_pixels_are_squared(picture_of: Look, samples: Samples) -> None:
    picture = picture_of(samples.anamorphic())

    assert (picture.sar, picture.display_width, picture.display_height) == ("64:45", 1024, 576)


def test_odd_sizes_and_full_chroma_are_reported_as_they_are(picture_of: Look, samples: Samples) -> None:
    picture = picture_of(samples.odd())

    assert (picture.display_width, picture.display_height) == (641, 361)
    assert picture.pixel_format == "yuv444p"


@pytest.mark.parametrize("transfer", ["smpte2084", "arib-std-b67"])
def test_hdr_is_recognised_by_its_transfer(picture_of: Look, samples: Samples, transfer: str) -> None:
    picture = picture_of(samples.hdr(transfer))

    assert picture.hdr
    assert (picture.bits, picture.color_primaries, picture.color_space) == (10, "bt2020", "bt2020nc")
    assert picture.color_range == "tv"


def test_what_the_file_does_not_say_about_colour_stays_open(picture_of: Look, samples: Samples) -> None:
    picture = picture_of(samples.video())

    assert (picture.hdr, picture.bits, picture.alpha) == (False, 8, False)
    assert (picture.color_primaries, picture.color_transfer, picture.color_space) == (None, None, None)


@pytest.mark.parametrize("extension", ["mp4", "ts"])
def test_fields_are_told_from_frames(picture_of: Look, samples: Samples, extension: str) -> None:
    picture = picture_of(samples.interlaced(extension))

    assert picture.interlaced
    assert (picture.field_order, picture.constant_rate, picture.variable) == ("tt", "25/1", False)


def test_progressive_video_has_no_field_order(picture_of: Look, samples: Samples) -> None:
    picture = picture_of(samples.video())

    assert (picture.field_order, picture.interlaced) == (None, False)


@pytest.mark.parametrize(
    ("rate", "constant"),
    [
        ("24000/1001", "24000/1001"),
        ("30000/1001", "30000/1001"),
        ("2", "2/1"),
        ("25/2", "25/2"),
        ("60", "60/1"),
        ("120", "60/1"),
        ("1000", "30/1"),
    ],
)
def test_the_constant_rate_is_the_sane_one(
    picture_of: Look, samples: Samples, rate: str, constant: str
) -> None:
    picture = picture_of(samples.at_rate(rate, 2))

    assert picture.constant_rate == constant
    assert not picture.variable


def test_uneven_frames_get_the_grid_they_lie_on(picture_of: Look, samples: Samples) -> None:
    picture = picture_of(samples.variable_rate())

    assert picture.variable
    assert picture.constant_rate == "30/1"
    assert picture.frames == 80


def test_an_avi_that_counts_wrongly_has_its_real_rate(picture_of: Look, samples: Samples) -> None:
    picture = picture_of(samples.counted_twice())

    assert (picture.constant_rate, picture.frame_rate, picture.frames) == ("25/1", None, None)


def test_fragments_do_not_change_the_rate(picture_of: Look, samples: Samples) -> None:
    assert picture_of(samples.fragmented()).constant_rate == "25/1"


def test_frames_are_counted_where_the_count_is_of_what_is_shown(picture_of: Look, samples: Samples) -> None:
    assert picture_of(samples.video()).frames == 100
    assert picture_of(samples.edit_list()).frames is None


def test_a_picture_that_starts_later_says_so(picture_of: Look, samples: Samples) -> None:
    late = samples.encoded(
        "late-picture.mp4",
        *("-itsoffset", "1.5", "-i", samples.video(), "-i", samples.video()),
        *("-map", "0:v", "-map", "1:a", "-c", "copy"),
    )
    picture = picture_of(late)

    assert picture.start_ms == pytest.approx(1500, abs=30)
    assert picture.end_ms == pytest.approx(5500, abs=60)


@pytest.mark.parametrize("extension", ["webm", "mov"])
def test_transparency_is_seen(picture_of: Look, samples: Samples, extension: str) -> None:
    assert picture_of(samples.transparent(extension)).alpha


def test_a_group_of_pictures_may_last_a_minute(picture_of: Look, samples: Samples) -> None:
    picture = picture_of(samples.one_keyframe())

    assert (picture.duration_ms, picture.frames, picture.constant_rate) == (60_000, 120, "2/1")


@pytest.mark.parametrize("extension", ["mp4", "mkv"])
def test_one_frame_beside_a_song_is_a_cover(summary_of: Sum, samples: Samples, extension: str) -> None:
    media = summary_of(samples.still_with_sound(extension))

    assert (media.type, media.has_video, media.has_audio) == (MediaType.AUDIO, False, True)
    assert media.duration_ms == pytest.approx(10_000, abs=100)


def test_a_still_repeated_for_as_long_as_the_sound_is_a_slow_video(summary_of: Sum, samples: Samples) -> None:
    media = summary_of(samples.slides())

    assert (media.type, media.frame_rate) == (MediaType.VIDEO, "2/1")
    assert media.picture_ms == pytest.approx(60_000, abs=1_000)


@pytest.mark.parametrize("extension", ["mp3", "m4a", "flac"])
def test_cover_art_never_makes_a_file_a_video(summary_of: Sum, samples: Samples, extension: str) -> None:
    media = summary_of(samples.audio_with_cover(extension))

    assert (media.type, media.has_video, media.width, media.frame_rate) == (MediaType.AUDIO, False, 0, None)


def test_a_gif_that_moves_is_a_video_and_one_that_does_not_an_image(
    summary_of: Sum, samples: Samples
) -> None:
    moving, still = summary_of(samples.animation()), summary_of(samples.animation_of_one())

    assert (moving.type, moving.frame_rate, moving.duration_ms) == (MediaType.VIDEO, "25/1", 1_000)
    assert (still.type, still.has_video, still.width) == (MediaType.IMAGE, False, 320)


def test_one_frame_without_sound_is_a_short_video(summary_of: Sum, samples: Samples) -> None:
    media = summary_of(samples.one_frame())

    assert (media.type, media.picture_ms, media.frame_rate) == (MediaType.VIDEO, 40, "25/1")


@pytest.mark.parametrize("extension", ["mp4", "mkv", "mov", "avi", "flv", "ts"])
def test_the_same_video_is_the_same_in_every_container(
    summary_of: Sum, samples: Samples, extension: str
) -> None:
    source = samples.encoded(f"container.{extension}", "-i", samples.video(), "-c", "copy")
    media = summary_of(source)

    assert (media.type, media.width, media.height, media.frame_rate) == (MediaType.VIDEO, 320, 180, "25/1")
    assert media.duration_ms == pytest.approx(4_000, abs=60)
    assert media.picture_ms is None or media.picture_ms == pytest.approx(4_000, abs=60)


def test_a_moving_picture_always_has_a_rate_in_bounds(picture_of: Look, samples: Samples) -> None:
    for name in ("twelve.mkv", "twelve.webm"):
        codec = "libx264" if name.endswith("mkv") else "libvpx-vp9"
        source = samples.drawn(name, f"{PICTURE}:d=1,fps=12,format=yuv420p", "-c:v", codec)
        assert 2 <= Fraction(picture_of(source).constant_rate or "0") <= 60
