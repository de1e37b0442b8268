"""Pictures of every kind: turned, odd, anamorphic, in high dynamic range, in fields, at uneven rates."""

import re
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec import structs

from reelworks.domain.options import Options
from tests.cases.conftest import Staged
from tests.cases.stage import QUICK, Stage
from tests.media.samples import Samples

BT709 = ["bt709", "bt709", "bt709", "tv"]
TWO_RUNGS = structs.replace(QUICK, heights=(360, 480), segment_seconds=2)


def alike(one: bytes, other: bytes, most: int = 8) -> bool:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / len(one) < most


def clip(samples: Samples, rate: str, seconds: int = 12, size: str = "854x480") -> Path:
    """Three chunks, two renditions, keyframes far apart, and a tone."""
    name = f"case-{rate.replace('/', '-')}-{seconds}-{size}.mp4"
    sources = ("-f", "lavfi", "-i", f"testsrc=s={size}:r={rate}:d={seconds}")
    sound = ("-f", "lavfi", "-i", f"sine=d={seconds}", "-c:a", "aac")
    return samples.encoded(name, *sources, *sound, "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "250")


@pytest.mark.parametrize("turn", ["-90", "90", "180", "hflip"])
def test_turned_by_a_display_matrix(stage: Stage, samples: Samples, turn: str) -> None:
    """Phone video: upright, sides swapped where the matrix says so, nothing left for players to turn."""
    matrix = ("-display_hflip",) if turn == "hflip" else ("-display_rotation", turn)
    source = samples.turned(*matrix, name=f"case-turned-{turn}.mp4")
    shown = stage.published(source).completed()

    wanted = (180, 320) if turn in ("-90", "90") else (320, 180)
    assert shown.size(shown.top) == wanted
    assert "side_data_list" not in shown.facts(shown.top)
    assert alike(shown.gray(shown.top, "18x18")[0], shown.player.gray(source, "18x18")[0])
    poster = shown.player.facts(shown.files["poster.jpg"])
    assert (poster["width"], poster["height"]) == wanted


def test_turned_by_a_tag(stage: Stage, samples: Samples) -> None:
    """The rotate tag of old phones turns the picture too."""
    source = samples.encoded(
        "case-tagged.mkv", "-i", samples.video(), "-c", "copy", "-metadata:s:v", "rotate=90"
    )
    shown = stage.published(source).completed()
    assert shown.size(shown.top) == (180, 320)


def test_odd_sides(stage: Stage, samples: Samples) -> None:
    """641x361 in 4:4:4 becomes even and 4:2:0, with the same aspect."""
    shown = stage.published(samples.odd()).completed()
    for name in shown.tracks:
        width, height = map(int, map(str, shown.size(name)))
        assert (width % 2, height % 2) == (0, 0)
        assert width / height == pytest.approx(641 / 361, abs=0.02)
        assert shown.facts(name)["pix_fmt"] == "yuv420p"


def test_pixels_that_are_not_square(stage: Stage, samples: Samples) -> None:
    """Anamorphic 720x576 is shown as 1024x576, by the stream and the poster alike."""
    shown = stage.published(samples.anamorphic()).completed()
    assert shown.size(shown.top) == (1024, 576)
    assert {shown.facts(name)["sample_aspect_ratio"] for name in shown.player.renditions()} == {"1:1"}
    poster = shown.player.facts(shown.files["poster.jpg"])
    assert int(str(poster["width"])) / int(str(poster["height"])) == pytest.approx(1024 / 576, abs=0.02)


@pytest.mark.parametrize("transfer", ["smpte2084", "arib-std-b67"])
def test_high_dynamic_range(stage: Stage, samples: Samples, transfer: str) -> None:
    """PQ and HLG are tone-mapped: 8 bit, labelled and shown as BT.709, neither washed out nor dark."""
    # Each ffmpeg that maps tones needs two seconds to begin with, so the many pictures are made of one of them only.
    options = structs.replace(QUICK, pictures=transfer == "smpte2084", preview=False)
    shown = stage.published(samples.hdr(transfer), options=options).completed()
    facts = shown.facts(shown.top)
    assert [facts[f"color_{part}"] for part in ("space", "transfer", "primaries", "range")] == BT709
    assert facts["pix_fmt"] == "yuv420p"
    assert "10" not in str(facts["profile"])
    picture = shown.gray(shown.top)[0]
    assert max(picture) - min(picture) > 60


@pytest.mark.parametrize("extension", ["mp4", "mpg"])
def test_interlaced(stage: Stage, samples: Samples, extension: str) -> None:
    """Fields become frames: as many as before, without combs."""
    shown = stage.published(samples.interlaced(extension)).completed()
    assert len(shown.frames(shown.top)) == pytest.approx(25, abs=1)
    assert shown.facts(shown.top).get("field_order", "progressive") == "progressive"


def test_uneven_frame_rate(stage: Stage, staged: Staged, samples: Samples) -> None:
    """Chunks of a variable rate have together as many frames as one encode, each one frame apart."""
    thinned = "testsrc=s=320x180:d=12:r=30,select='if(lt(t,5),1,not(mod(n,3)))',format=yuv420p"
    source = samples.h264("case-uneven.mp4", thinned, "-fps_mode", "vfr")
    chunked = stage.published(source).completed()
    whole = staged(chunk_above_s=100).published(source).completed()

    assert len([name for name in chunked.snapshot.tasks if name.startswith("video-")]) > 1
    assert len(chunked.frames(chunked.top)) == len(whole.frames(whole.top))
    assert len(chunked.steps(chunked.top)) == 1
    assert chunked.steps(chunked.top) == whole.steps(whole.top)


@pytest.mark.parametrize("rate", ["25", "30000/1001", "24000/1001"])
def test_seams_of_chunks(stage: Stage, staged: Staged, samples: Samples, rate: str) -> None:
    """Every rendition: all frames, gaps of one frame, keyframes at the same times, durations as measured."""
    source = clip(samples, rate)
    shown = stage.published(source, options=TWO_RUNGS).completed()
    whole = staged(chunk_above_s=100).published(source, options=TWO_RUNGS).completed()

    assert len([name for name in shown.snapshot.tasks if name.startswith("video-")]) == 3
    names = shown.player.renditions()
    assert names == ["360", "480"]
    expected = len(whole.frames("480"))
    assert expected == pytest.approx(12 * float(Fraction(rate)), abs=1)
    for name in names:
        frames = shown.frames(name)
        assert len(frames) == expected
        assert shown.steps(name) == {1 / Fraction(rate)}
        keys = [frame.pts for frame in frames if frame.key]
        assert keys == [frame.pts for frame in shown.frames("360") if frame.key]
        assert {b - a for a, b in pairwise(keys)} == {round(2 * Fraction(rate)) / Fraction(rate)}
        _durations_are_measured(shown.playlist(name), Fraction(rate), len(frames))


def _durations_are_measured(text: str, rate: Fraction, frames: int) -> None:
    said = [Fraction(found) for found in re.findall(r"#EXTINF:([\d.]+)", text)]
    exact = round(2 * rate) / rate
    assert all(abs(one - exact) < Fraction(1, 100_000) for one in said[:-1])
    assert abs(sum(said) - frames / rate) < Fraction(1, 1_000)


def test_sound_over_seams(stage: Stage, samples: Samples) -> None:
    """Sound is encoded once: no click, no drift, not one packet out of step where chunks of pictures join."""
    shown = stage.published(clip(samples, "25"), options=TWO_RUNGS).completed()
    assert shown.steps("audio") == {Fraction(1024, 44_100)}
    assert shown.frames("audio")[-1].pts == pytest.approx(1 + 12, abs=0.05)


@pytest.mark.parametrize("extension", ["mp4", "mkv", "ts"])
def test_sound_that_starts_later(stage: Stage, samples: Samples, extension: str) -> None:
    """What was apart in the source stays as far apart, within a frame."""
    shown = stage.published(samples.late_sound(extension)).completed()
    assert shown.frames(shown.top)[0].pts == 1
    assert float(shown.frames("audio")[0].pts) == pytest.approx(1, abs=0.03)
    assert shown.player.heard_from_s(shown.path("audio")) == pytest.approx(1.5, abs=0.04)


def test_edit_list(stage: Stage, samples: Samples) -> None:
    """A cut without re-encoding hides what comes before it, and so do we."""
    source = samples.edit_list()
    shown = stage.published(source).completed()
    wanted = shown.player.gray(source, "18x18")
    frames = shown.gray(shown.top, "18x18")
    assert len(frames) == pytest.approx(len(wanted), abs=1)
    assert alike(frames[0], wanted[0])


def test_very_short(stage: Stage, samples: Samples) -> None:
    """A fifth of a second: a stream of one short segment, poster and storyboard of what there is."""
    source = samples.h264("case-short.mp4", "testsrc=s=320x180:r=25:d=0.2,format=yuv420p")
    shown = stage.published(source).completed()
    assert len(shown.frames(shown.top)) == 5
    assert shown.view.poster is not None


def test_one_frame(stage: Stage, samples: Samples) -> None:
    """A picture that is asked for past the end is the last one there is."""
    shown = stage.published(samples.one_frame()).completed()
    assert len(shown.frames(shown.top)) == 1
    assert shown.files["poster.jpg"].stat().st_size > 1_000
    assert "#xywh=" in shown._page("storyboard.vtt")


def test_still_with_a_long_sound(stage: Stage, samples: Samples) -> None:
    """One picture and ten seconds of sound: it is held to the end."""
    shown = stage.published(samples.still_with_sound()).completed()
    frames = shown.frames(shown.top)
    assert float(frames[-1].pts - frames[0].pts) == pytest.approx(10, abs=1.1)
    assert float(shown.frames("audio")[-1].pts) == pytest.approx(11, abs=0.1)


def test_slides_of_a_minute(stage: Stage, samples: Samples) -> None:
    """One frame a second, a minute of sound: all of it, in chunks without a seam."""
    shown = stage.published(samples.slides()).completed()
    frames = shown.frames(shown.top)
    assert frames[0].pts == 1
    assert len(frames) == pytest.approx(120, abs=2)
    assert shown.steps(shown.top) == {Fraction(1, 2)}


def test_one_keyframe_a_minute(stage: Stage, samples: Samples) -> None:
    """Chunks begin where the source cannot be entered, and still have every frame."""
    shown = stage.published(samples.one_keyframe()).completed()
    assert len(shown.frames(shown.top)) == 120
    assert shown.steps(shown.top) == {Fraction(1, 2)}


@pytest.mark.parametrize("extension", ["webm", "mov"])
def test_transparent(stage: Stage, samples: Samples, extension: str) -> None:
    """An alpha channel is no reason to fail."""
    shown = stage.published(samples.transparent(extension)).completed()
    assert shown.facts(shown.top)["pix_fmt"] == "yuv420p"
    assert len(shown.frames(shown.top)) == 25


def test_animated_gif(stage: Stage, samples: Samples) -> None:
    """It is a video without sound."""
    shown = stage.published(samples.animation()).completed()
    assert len(shown.frames(shown.top)) == pytest.approx(25, abs=1)
    assert "audio" not in shown.tracks


@pytest.mark.parametrize("rate", ["2", "120"])
def test_unusual_rate(stage: Stage, samples: Samples, rate: str) -> None:
    """2 and 120 frames a second are kept as far as players go."""
    shown = stage.published(samples.at_rate(rate, seconds=4)).completed()
    (step,) = shown.steps(shown.top)
    assert 1 / step == min(int(rate), 60)
    assert len(shown.frames(shown.top)) == 4 * min(int(rate), 60)


def test_no_sound(stage: Stage, samples: Samples) -> None:
    """No audio rendition, no audio group, an empty transcript, no error."""
    shown = stage.published(samples.video_without_sound()).completed()
    assert "audio" not in shown.tracks
    assert "AUDIO" not in shown.master
    assert shown.view.transcript == ""


def test_streams_of_other_kinds(stage: Stage, samples: Samples) -> None:
    """Subtitles and attachments in a Matroska are left aside."""
    shown = stage.published(samples.many_kinds_of_streams()).completed()
    # Matroska has no edit lists: the pictures begin 21 ms after the sound, which is half a frame.
    assert len(shown.frames(shown.top)) == pytest.approx(100, abs=1)


def test_timecode(stage: Stage, samples: Samples) -> None:
    """A camera's timecode track is left aside."""
    shown = stage.published(samples.timecode()).completed()
    assert len(shown.frames(shown.top)) == 100


def test_captions_and_options(stage: Stage, samples: Samples) -> None:
    """What a request asks for is what is published."""
    chosen = Options(preset="ultrafast", per_title=False, heights=(360,), segment_seconds=2, mp4=(360,))
    shown = stage.published(clip(samples, "25", 4, "640x360"), options=chosen).completed()
    assert 'SUBTITLES="captions"' in shown.master
    assert shown.playlist("360").count("#EXTINF") == 2
    assert len(shown.player.frames(shown.files["mp4-360.mp4"])) == 100
