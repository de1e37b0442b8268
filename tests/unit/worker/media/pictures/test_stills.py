"""The JPEG of one frame: upright, in shape, in the right colours, at the right time, whatever the file is like."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from reelworks.domain.geometry import Size
from reelworks.errors import Permanent
from tests.media.samples import Samples
from tests.unit.worker.media.pictures import clips
from tests.unit.worker.media.pictures.conftest import Looked, Opened
from tests.unit.worker.media.pictures.looking import Seen, near
from worker.media.pictures import jpeg, sizes, stills
from worker.media.pictures.sampling import Source

Saved = Callable[[Source, int], Seen]
RED, BLUE, WHITE, BLACK = (255, 0, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0)


@pytest.fixture
def saved(looked: Looked, tmp_path: Path) -> Saved:
    def save(source: Source, time_ms: int) -> Seen:
        path = tmp_path / "still.jpg"
        stills.save(source, time_ms, {path: sizes.fit(sizes.displayed(source.stream), 1280)}, key=False)
        return looked(path)

    return save


def test_colours_and_size_are_those_of_the_video(opened: Opened, saved: Saved, samples: Samples) -> None:
    seen = saved(opened(clips.red_left_blue_right(samples)), 0)

    assert (seen.width, seen.height) == (320, 180)
    assert near(seen.at(0.25, 0.5), RED)
    assert near(seen.at(0.75, 0.5), BLUE)


def test_portrait_is_upright(opened: Opened, saved: Saved, samples: Samples) -> None:
    seen = saved(opened(clips.portrait(samples)), 0)

    assert (seen.width, seen.height) == (180, 320)
    assert near(seen.at(0.5, 0.25), RED)
    assert near(seen.at(0.5, 0.75), BLUE)


@pytest.mark.parametrize(
    ("rotation", "flipped", "x", "y"),
    [
        (0, True, 0.75, 0.5),
        (90, False, 0.5, 0.25),
        (180, False, 0.75, 0.5),
        (270, False, 0.5, 0.75),
        (90, True, 0.5, 0.75),
    ],
)
def test_it_is_turned_as_the_report_says(
    opened: Opened, saved: Saved, samples: Samples, rotation: int, flipped: bool, x: float, y: float
) -> None:
    # Where the red half ends up.
    source = opened(clips.red_left_blue_right(samples))
    turned = structs.replace(source.stream, rotation=rotation, flipped=flipped)

    assert near(saved(structs.replace(source, stream=turned), 0).at(x, y), RED)


def test_wide_pixels_make_a_wide_picture(opened: Opened, saved: Saved, samples: Samples) -> None:
    seen = saved(opened(clips.anamorphic(samples)), 0)

    assert (seen.width, seen.height) == (640, 180)
    assert near(seen.at(0.45, 0.5), RED)


def test_hdr_is_toned_down_to_what_every_screen_shows(opened: Opened, saved: Saved, samples: Samples) -> None:
    source = opened(clips.hdr(samples))
    assert source.stream.hdr

    seen = saved(source, 0)

    assert 60 < seen.at(0.25, 0.5)[1] < 200
    assert near(seen.at(0.25, 0.5), (seen.at(0.25, 0.5)[1],) * 3, 8)
    assert near(seen.at(0.75, 0.5), BLACK)


def test_fields_do_not_comb(opened: Opened, saved: Saved, samples: Samples) -> None:
    source = opened(clips.interlaced(samples))
    assert source.stream.interlaced

    seen = saved(source, 0)

    # Combed, the box would be lines of both colours.
    column = [seen.at(0.1, y / 180)[0] for y in range(60, 120)]
    assert max(column) - min(column) < 60


def test_transparency_becomes_white(opened: Opened, saved: Saved, samples: Samples) -> None:
    source = ("-f", "lavfi", "-i", "color=red:s=320x180:r=10:d=1")
    clear = "format=rgba,geq=r='r(X,Y)':g=0:b=0:a='255*lt(X,160)'"
    seen = saved(opened(samples.encoded("clear.mov", *source, "-vf", clear, "-c:v", "qtrle")), 0)

    assert near(seen.at(0.25, 0.5), RED)
    assert near(seen.at(0.75, 0.5), WHITE)


def test_the_frame_is_the_one_of_that_time(opened: Opened, saved: Saved, samples: Samples) -> None:
    source = opened(clips.black_intro(samples))

    assert saved(source, 3_900).mean < 5
    assert saved(source, 4_000).mean > 50


@pytest.mark.parametrize("time_ms", [10_000, 11_000, 3_600_000])
def test_past_the_end_is_the_last_or_the_first_frame(
    opened: Opened, saved: Saved, samples: Samples, time_ms: int
) -> None:
    assert saved(opened(clips.clip(samples, "plain.mp4")), time_ms).width == 320


def test_one_frame_and_a_gif_have_a_still(opened: Opened, saved: Saved, samples: Samples) -> None:
    assert saved(opened(samples.one_frame()), 0).width == 320
    assert saved(opened(samples.animation()), 500).width == 320


def test_several_sizes_at_once_and_none_enlarged(
    opened: Opened, looked: Looked, samples: Samples, tmp_path: Path
) -> None:
    source = opened(clips.clip(samples, "plain.mp4"))
    shape = sizes.displayed(source.stream)
    wanted = {tmp_path / f"{n}.jpg": sizes.fit(shape, n) for n in (1280, 160, 33)}

    stills.save(source, 0, wanted, key=True)

    assert [looked(path).width for path in wanted] == [320, 160, 33]


def test_what_does_not_decode_is_refused(opened: Opened, samples: Samples, tmp_path: Path) -> None:
    source = opened(samples.one_frame())
    nothing = structs.replace(source.file, path=samples.noise_bytes())

    with pytest.raises(Permanent) as refused:
        stills.save(
            structs.replace(source, file=nothing), 0, {tmp_path / "n.jpg": Size(width=9, height=9)}, key=True
        )
    assert refused.value.code == "undecodable_video"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xd8\xff\xd9",
        b"\xff\xd8\xff\xc0\0\x0b\x08\0\0\0\0\x01\xff\xd9",
        b"GIF89a",
        b"\xff\xd8\xff\xe0\0\0\xff\xd9",
    ],
)
def test_a_file_that_is_no_whole_jpeg_has_no_size(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "some.jpg"
    path.write_bytes(content)

    assert jpeg.size_of(path) is None


def test_a_cut_jpeg_has_no_size(samples: Samples) -> None:
    assert jpeg.size_of(samples.picture()) == Size(width=320, height=180)
    assert jpeg.size_of(samples.cut("cut.jpg", samples.picture(), 0.9)) is None
