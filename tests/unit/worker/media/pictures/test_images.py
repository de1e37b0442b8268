"""Image uploads: every usual format, upright, on white, without metadata; and what is no image is never opened."""

import base64
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from reelworks.errors import Permanent
from reelworks.runtime.cancellation import Cancellation
from tests.media.samples import Samples, playlists
from tests.unit.worker.media.pictures import pngs
from tests.unit.worker.media.pictures.conftest import Looked
from tests.unit.worker.media.pictures.looking import Seen, near
from worker.media.engine import MediaEngine
from worker.media.pictures import images

RED, BLUE, WHITE = (255, 0, 0), (0, 0, 255), (255, 255, 255)
WEBP = base64.b64decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
"""One transparent pixel, lossless."""

Resized = Callable[[Path], dict[int, Seen]]


@pytest.fixture
def resized(engine: MediaEngine, cancellation: Cancellation, looked: Looked, tmp_path: Path) -> Resized:
    def resize(source: Path) -> dict[int, Seen]:
        wanted = {tmp_path / f"{longest}.jpg": longest for longest in (1600, 640, 160)}
        images.resize(source, wanted, engine=engine, cancellation=cancellation)
        return {longest: looked(path) for path, longest in wanted.items()}

    return resize


def sides(samples: Samples, name: str, size: tuple[int, int] = (400, 200), *options: str) -> Path:
    """Left half red, right half blue."""
    width, height = size
    source = ("-f", "lavfi", "-i", f"color=red:s={width}x{height}")
    half = f"drawbox=x={width // 2}:w={width}:c=blue:t=fill"
    return samples.encoded(name, *source, "-vf", half, "-frames:v", "1", *options)


def with_exif(jpeg: bytes, orientation: int) -> bytes:
    """Orientation, and a latitude (Exif 2.3, big endian)."""
    directory = struct.pack(">HHHIHHHHIII", 2, 0x0112, 3, 1, orientation, 0, 0x8825, 4, 1, 38, 0)
    place = struct.pack(">HHHI4sI", 1, 1, 2, 2, b"N\0\0\0", 0) + b"GPS-SECRET"
    body = b"Exif\0\0MM\0*" + struct.pack(">I", 8) + directory + place
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + jpeg[2:]


@pytest.mark.parametrize("extension", ["jpg", "gif", "bmp", "tiff"])
def test_every_usual_format_is_read(resized: Resized, samples: Samples, extension: str) -> None:
    raw = ("-compression_algo", "raw") if extension == "tiff" else ()
    for seen in resized(sides(samples, f"sides.{extension}", (400, 200), *raw)).values():
        assert near(seen.at(0.25, 0.5), RED)
        assert near(seen.at(0.75, 0.5), BLUE)


def test_large_images_shrink_and_small_ones_are_never_enlarged(resized: Resized, samples: Samples) -> None:
    large = resized(sides(samples, "large.jpg", (2000, 1000)))
    small = resized(sides(samples, "small.jpg", (300, 100)))

    assert {n: (seen.width, seen.height) for n, seen in large.items()} == {
        1600: (1600, 800),
        640: (640, 320),
        160: (160, 80),
    }
    assert [(seen.width, seen.height) for seen in small.values()] == [(300, 100), (300, 100), (160, 53)]


@pytest.mark.parametrize(("width", "height"), [(1, 1), (1, 999), (3000, 2), (7, 5)])
def test_any_shape_is_possible(resized: Resized, samples: Samples, width: int, height: int) -> None:
    seen = resized(
        samples.encoded(
            f"{width}x{height}.bmp", "-f", "lavfi", "-i", f"color=red:s={width}x{height}", "-frames:v", "1"
        )
    )

    assert all(1 <= one.width <= width and 1 <= one.height <= height for one in seen.values())


@pytest.mark.parametrize(
    ("orientation", "x", "y"),
    [(1, 0.25, 0.5), (2, 0.75, 0.5), (3, 0.75, 0.5), (6, 0.5, 0.25), (8, 0.5, 0.75)],
)
def test_photos_are_turned_as_the_camera_says(
    resized: Resized, samples: Samples, orientation: int, x: float, y: float
) -> None:
    photo = with_exif(sides(samples, "photo.jpg").read_bytes(), orientation)
    seen = resized(samples.written(f"photo-{orientation}.jpg", photo))[1600]

    assert (seen.width, seen.height) == ((200, 400) if orientation > 4 else (400, 200))
    assert near(seen.at(x, y), RED)


def test_where_a_photo_was_taken_stays_with_its_owner(
    resized: Resized, samples: Samples, tmp_path: Path
) -> None:
    resized(samples.written("gps.jpg", with_exif(sides(samples, "photo.jpg").read_bytes(), 6)))

    for path in tmp_path.glob("*.jpg"):
        content = path.read_bytes()
        assert not any(mark in content for mark in (b"Exif", b"GPS", b"http://ns.adobe.com"))


def test_transparency_becomes_white(resized: Resized, samples: Samples) -> None:
    assert near(resized(samples.written("clear.webp", WEBP))[1600].at(0, 0), WHITE)


def test_of_an_animation_the_first_picture(resized: Resized, samples: Samples) -> None:
    assert resized(samples.animation())[160].width == 160


@pytest.mark.parametrize("mode", ["rgb", "rgba", "grey", "palette", "sixteen"])
@pytest.mark.parametrize("filtered", range(5))
def test_png_is_read_whatever_ffmpeg_was_built_with(
    resized: Resized, samples: Samples, mode: str, filtered: int
) -> None:
    seen = resized(samples.written(f"{mode}-{filtered}.png", pngs.written(mode, filtered)))[1600]

    assert (seen.width, seen.height) == (pngs.WIDTH, pngs.HEIGHT)
    for x, y in ((0.1, 0.1), (0.5, 0.9), (0.9, 0.4)):
        assert near(seen.at(x, y), pngs.expected(mode, x, y))


def test_a_bomb_is_refused_before_it_is_decoded(resized: Resized, samples: Samples) -> None:
    samples.bomb()
    with pytest.raises(Permanent) as refused:
        resized(samples.encoded("huge.jpg"))
    assert refused.value.code == "too_many_pixels"


def test_a_photo_without_a_picture_is_refused(resized: Resized, samples: Samples) -> None:
    whole = samples.picture().read_bytes()
    with pytest.raises(Permanent) as refused:
        resized(samples.written("cut.jpg", whole[:200]))
    assert refused.value.code == "undecodable_picture"


def test_a_photo_that_was_cut_off_is_shown_as_far_as_it_goes(resized: Resized, samples: Samples) -> None:
    assert resized(samples.cut("cut-late.jpg", samples.picture(), 0.7))[1600].width == 320


@pytest.mark.parametrize("kind", list(playlists("x")))
def test_playlists_are_never_followed(resized: Resized, samples: Samples, tmp_path: Path, kind: str) -> None:
    canary = sides(samples, "canary.jpg")
    with pytest.raises(Permanent):
        resized(samples.written(f"{kind}.jpg", playlists(str(canary))[kind]))
    assert not list(tmp_path.glob("*.jpg"))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b'<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>',
        b"\0\0\0\x18ftypheic\0\0\0\0",
        b"push graphic-context\nimage over 0,0 0,0 'http://localhost/'\n",
    ],
)
def test_what_is_no_known_image_is_refused_with_a_sentence(
    resized: Resized, samples: Samples, content: bytes
) -> None:
    with pytest.raises(Permanent, match=r"\.$"):
        resized(samples.written(f"no-{len(content)}.png", content))
