"""Whole streams from real clips: encoded in chunks, packaged, and read back as a player would."""

import re
import wave
from array import array
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

from reelworks.domain.outcome import Outputs
from reelworks.errors import Permanent, Temporary
from reelworks.runtime.cancellation import Cancellation
from tests.media.samples import Samples
from tests.media.studio import Studio
from worker.media.audio import MediaFile
from worker.media.encode.sound import SoundOptions, encode_sound
from worker.media.encode.transcoder import Transcoding
from worker.media.engine import MediaEngine
from worker.media.runner import Runner
from worker.media.tools import Tools

Open = Callable[[Path], Studio]

RATES = {
    "25": ("25", 10),
    "29.97": ("30000/1001", 12),
    "23.976": ("24000/1001", 8),
    "59.94": ("60000/1001", 24),
}


@pytest.fixture
def opened(tools: Tools, tmp_path: Path) -> Open:
    engine = MediaEngine(tools=tools, runner=Runner())
    return lambda source: Studio(source, tmp_path / "studio", engine)


def clip(samples: Samples, rate: str, seconds: int = 4) -> Path:
    """Pictures at that rate with keyframes far apart, and a tone."""
    name = f"rate-{rate.replace('/', '-')}-{seconds}.mp4"
    sources = ("-f", "lavfi", "-i", f"testsrc=s=320x180:r={rate}:d={seconds}")
    sound = ("-f", "lavfi", "-i", f"sine=d={seconds}", "-c:a", "aac")
    return samples.encoded(name, *sources, *sound, "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "250")


def uneven(samples: Samples) -> Path:
    """Frames are missing here and there, one pause is longer than a second."""
    chosen = "select='not(eq(mod(n,7),3))*not(between(n,40,72))'"
    options = ("-vf", chosen, "-fps_mode", "vfr", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "copy")
    return samples.encoded("uneven.mkv", "-i", samples.video(), *options)


def gaps(studio: Studio, name: str) -> set[Fraction]:
    return {b.pts - a.pts for a, b in pairwise(studio.frames(studio.path(f"{name}/playlist")))}


def psnr(studio: Studio, name: str) -> float:
    """Of a rung as large as the source against it, in dB."""
    compared = "[0:v]settb=1/1000,setpts=N[a];[1:v]settb=1/1000,setpts=N[b];[a][b]psnr"
    said = studio.ffmpeg(
        "-i", studio.path(f"{name}/playlist"), "-i", studio.source, "-lavfi", compared, "-f", "null", "-"
    )
    found = re.search(r"average:([\d.]+|inf)", said)
    assert found
    return float(found[1])


def loud_from_s(studio: Studio, path: Path) -> float:
    """When the first sound is heard."""
    out = studio.directory / "heard.wav"
    studio.ffmpeg("-v", "error", "-i", path, "-map", "0:a:0", "-ac", "1", "-ar", "16000", out)
    with wave.open(str(out)) as wav:
        heard = array("h", wav.readframes(wav.getnframes()))
    return next(at for at, sample in enumerate(heard) if abs(sample) > 500) / 16_000


# Chunks


@pytest.mark.parametrize("rate", RATES)
def test_no_frame_is_lost_or_doubled_at_a_seam(opened: Open, samples: Samples, rate: str) -> None:
    exact, gop = RATES[rate]
    source = clip(samples, exact)
    studio = opened(source)
    studio.stream(studio.plan(gop=gop, segment=gop * 2, chunk=gop * 4))

    expected = len(studio.frames(source))
    for name in ("90", "180"):
        shown = studio.frames(studio.path(f"{name}/playlist"))
        assert len(shown) == expected
        assert shown[0].pts == 1
        assert gaps(studio, name) == {1 / Fraction(exact)}
    assert studio.decodes_cleanly(studio.path("master"))


def test_a_tail_shorter_than_a_segment_belongs_to_the_chunk_before_it(opened: Open, samples: Samples) -> None:
    studio = opened(samples.video())
    studio.stream(studio.plan(gop=12, segment=24, chunk=48))

    assert [name for name in studio.inputs if name.startswith("video-")] == ["video-000", "video-001"]
    assert len(studio.frames(studio.path("180/playlist"))) == 100
    assert gaps(studio, "180") == {Fraction(1, 25)}


def test_a_chunked_picture_is_frame_by_frame_the_source(opened: Open, samples: Samples) -> None:
    studio = opened(clip(samples, "30000/1001", 8))
    studio.stream(studio.plan(gop=30, segment=60, chunk=120, crf=28, preset="fast"))
    chunked = psnr(studio, "180")
    studio.stream(studio.plan(gop=30, segment=60, crf=28, preset="fast"))

    assert chunked > 35
    assert chunked == pytest.approx(psnr(studio, "180"), abs=0.3)


def test_an_uneven_source_comes_out_even(opened: Open, samples: Samples) -> None:
    studio = opened(uneven(samples))
    studio.stream(studio.plan(rate="25", chunk=20))
    seams = studio.gray(studio.path("180/playlist"))
    count = len(seams)

    assert gaps(studio, "180") == {Fraction(1, 25)}
    studio.stream(studio.plan(rate="25"))
    whole = studio.gray(studio.path("180/playlist"))
    assert count == len(whole)
    assert all(_alike(a, b) for a, b in zip(seams, whole, strict=True))


def _alike(one: bytes, other: bytes, most: int = 6) -> bool:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / len(one) < most


def test_keyframes_are_the_same_in_every_rung_and_chunk(opened: Open, samples: Samples) -> None:
    studio = opened(samples.video())
    studio.stream(studio.plan(chunk=40))

    keys = [
        [frame.pts for frame in studio.frames(studio.path(f"{name}/playlist")) if frame.key]
        for name in ("90", "180")
    ]
    assert keys[0] == keys[1] == [1 + Fraction(n * 10, 25) for n in range(10)]


def test_all_chunks_share_one_init_segment(opened: Open, samples: Samples) -> None:
    studio = opened(samples.video())
    studio.stream(studio.plan(chunk=20))

    assert studio.text("180/playlist").count("#EXT-X-MAP") == 1
    assert "DISCONTINUITY" not in studio.text("180/playlist")


def test_a_source_that_cannot_seek_to_keyframes_has_no_seam_either(opened: Open, samples: Samples) -> None:
    source = samples.encoded("long-gop.ts", "-i", clip(samples, "25"), "-c", "copy", "-an")
    studio = opened(source)
    studio.stream(studio.plan(chunk=40))

    assert len(studio.frames(studio.path("180/playlist"))) == 100
    assert gaps(studio, "180") == {Fraction(1, 25)}
    assert psnr(studio, "180") > 30


def test_a_seek_into_the_middle_of_a_group_starts_early_enough(opened: Open, samples: Samples) -> None:
    """The chunk begins at 12.8 s, the keyframes are at 0 and 10 s, and MPEG-TS has no index of them."""
    source = samples.encoded("far.ts", "-i", clip(samples, "25", 16), "-c", "copy", "-an")
    studio = opened(source)
    studio.stream(studio.plan(heights=(180,), chunk=320))

    assert len(studio.frames(studio.path("180/playlist"))) == 400
    assert gaps(studio, "180") == {Fraction(1, 25)}
    assert psnr(studio, "180") > 30


# Time


@pytest.mark.parametrize("extension", ["mp4", "mkv", "ts"])
def test_sound_that_starts_later_still_does(opened: Open, samples: Samples, extension: str) -> None:
    studio = opened(samples.late_sound(extension)).stream()

    assert studio.frames(studio.path("180/playlist"))[0].pts == 1
    assert studio.frames(studio.path("audio/playlist"), "a:0")[0].pts == pytest.approx(1, abs=0.03)
    assert loud_from_s(studio, studio.path("audio/playlist")) == pytest.approx(1.5, abs=0.04)


@pytest.mark.parametrize("extension", ["mkv", "ts"])
def test_pictures_that_start_later_are_preceded_by_the_first(
    opened: Open, samples: Samples, extension: str
) -> None:
    inputs = ("-i", samples.video(), "-itsoffset", "0.8", "-i", samples.video())
    source = samples.encoded(f"late-picture.{extension}", *inputs, "-map", "1:v", "-map", "0:a", "-c", "copy")
    studio = opened(source).stream()

    frames = studio.frames(studio.path("180/playlist"))
    assert frames[0].pts == 1
    assert len(frames) == pytest.approx(120, abs=1)


def test_an_edit_list_is_obeyed(opened: Open, samples: Samples) -> None:
    source = samples.edit_list()
    studio = opened(source)
    studio.stream(studio.plan(chunk=40))

    shown = studio.frames(studio.path("180/playlist"))
    assert len(shown) == pytest.approx(len(studio.gray(source)), abs=1)
    assert psnr(studio, "180") > 30


def test_a_picture_shorter_than_its_sound_is_held(opened: Open, samples: Samples) -> None:
    inputs = ("-i", samples.audio("wav"), "-t", "1", "-i", samples.video())
    source = samples.encoded("shorter.mp4", *inputs, "-map", "1:v", "-map", "0:a", "-c:v", "copy")
    studio = opened(source)
    studio.stream(studio.plan(chunk=20))

    assert len(studio.frames(studio.path("180/playlist"))) == pytest.approx(100, abs=2)
    assert gaps(studio, "180") == {Fraction(1, 25)}
    assert studio.decodes_cleanly(studio.path("master"))


@pytest.mark.parametrize("rate", ["2", "50"])
def test_unusual_rates_are_kept(opened: Open, samples: Samples, rate: str) -> None:
    studio = opened(clip(samples, rate, seconds=2))
    studio.stream(studio.plan(gop=2 * int(rate), segment=2 * int(rate)))

    assert len(studio.frames(studio.path("180/playlist"))) == 2 * int(rate)


def test_one_frame_is_a_stream(opened: Open, samples: Samples) -> None:
    studio = opened(samples.one_frame()).stream()

    assert len(studio.frames(studio.path("180/playlist"))) == 1


# Pictures


@pytest.mark.parametrize("turn", ["-90", "90", "180"])
def test_turned_pictures_are_upright(opened: Open, samples: Samples, turn: str) -> None:
    source = samples.encoded(
        f"turned{turn}.mp4", "-display_rotation", turn, "-i", samples.video(), "-c", "copy"
    )
    studio = opened(source).stream()

    size = "320x180" if turn == "180" else "180x320"
    playlist = studio.path("180/playlist")
    assert f"RESOLUTION={size}" in studio.text("master")
    assert "side_data_list" not in studio.facts(playlist)
    assert _alike(studio.gray(playlist, "18x18")[0], studio.gray(source, "18x18")[0])


def test_pictures_with_a_rotate_tag_only_are_upright_too(opened: Open, samples: Samples) -> None:
    """As old phones and recorders write it into Matroska; ffmpeg's own autorotation does not know it."""
    source = samples.encoded("tagged.mkv", "-i", samples.video(), "-c", "copy", "-metadata:s:v", "rotate=90")
    turned = samples.encoded("really-turned.mp4", "-i", samples.video(), "-vf", "transpose=clock", "-an")
    studio = opened(source).stream()

    playlist = studio.path("180/playlist")
    assert "RESOLUTION=180x320" in studio.text("master")
    assert _alike(studio.gray(playlist, "18x18")[0], studio.gray(turned, "18x18")[0])


@pytest.mark.parametrize(
    ("name", "source", "size"),
    [
        ("anamorphic", "testsrc=s=144x112:r=25:d=1,setsar=64/45", (204, 112)),
        ("odd", "testsrc=s=321x181:r=25:d=1,format=yuv444p", (320, 180)),
        ("alpha", "testsrc=s=320x180:r=25:d=1,format=yuva444p", (320, 180)),
    ],
)
def test_sizes_are_even_and_pixels_square(
    opened: Open, samples: Samples, name: str, source: str, size: tuple[int, int]
) -> None:
    made = samples.encoded(f"{name}.mkv", "-f", "lavfi", "-i", source, "-c:v", "ffv1")
    studio = opened(made)
    studio.stream(studio.plan(heights=(112,) if name == "anamorphic" else (180,)))

    name = str(min(size))
    facts = studio.facts(studio.path(f"{name}/playlist"))
    assert (facts["width"], facts["height"], facts["pix_fmt"]) == (*size, "yuv420p")
    assert facts["sample_aspect_ratio"] == "1:1"


def test_every_picture_is_labelled_bt709(opened: Open, samples: Samples) -> None:
    studio = opened(samples.video()).stream()

    for name in ("90", "180"):
        facts = studio.facts(studio.path(f"{name}/playlist"))
        colors = [facts[f"color_{part}"] for part in ("space", "transfer", "primaries", "range")]
        assert colors == ["bt709", "bt709", "bt709", "tv"]


@pytest.mark.parametrize("transfer", ["smpte2084", "arib-std-b67"])
def test_hdr_becomes_sdr(opened: Open, samples: Samples, transfer: str) -> None:
    labels = f"setparams=color_primaries=bt2020:color_trc={transfer}:colorspace=bt2020nc"
    source = ("-f", "lavfi", "-i", f"testsrc=s=320x180:r=25:d=1,format=yuv420p10le,{labels}")
    studio = opened(samples.encoded(f"{transfer}.mp4", *source, "-preset", "ultrafast")).stream()

    facts = studio.facts(studio.path("180/playlist"))
    assert facts["pix_fmt"] == "yuv420p"
    assert "High 10" not in str(facts["profile"])
    assert (facts["color_transfer"], facts["color_space"]) == ("bt709", "bt709")
    picture = studio.gray(studio.path("180/playlist"))[0]
    assert max(picture) - min(picture) > 60


def test_fields_become_frames(opened: Open, samples: Samples) -> None:
    """Combed pictures differ from line to line; after deinterlacing a moving edge is smooth again."""
    moving = "testsrc2=s=320x180:r=50:d=2,tinterlace=interleave_top,setfield=tff"
    options = ("-flags", "+ildct+ilme", "-c:v", "mpeg2video", "-q:v", "2")
    studio = opened(samples.encoded("fields.mpg", "-f", "lavfi", "-i", moving, *options)).stream()

    shown = studio.path("180/playlist")
    assert len(studio.frames(shown)) == pytest.approx(50, abs=1)
    assert _combing(studio, shown) < _combing(studio, studio.source) / 2


def _combing(studio: Studio, path: Path) -> float:
    """How often a line differs from both its neighbours in the same direction."""
    width, height = 320, 180
    picture = studio.gray(path, f"{width}x{height}")[20]
    lines = [picture[at : at + width] for at in range(0, width * height, width)]
    found = 0
    for above, line, below in zip(lines, lines[1:], lines[2:], strict=False):
        found += sum((b - a > 30 and b - c > 30) for a, b, c in zip(above, line, below, strict=True))
    return found


# Sound


def test_surround_becomes_stereo(opened: Open, samples: Samples) -> None:
    studio = opened(samples.surround()).stream()

    assert studio.facts(studio.path("audio/playlist"), "a:0")["channels"] == 2


def test_a_file_without_sound_has_no_audio_group(opened: Open, samples: Samples) -> None:
    studio = opened(samples.video_without_sound()).stream()

    assert "AUDIO" not in studio.text("master")
    assert 'CODECS="avc1.' in studio.text("master")
    assert "mp4a" not in studio.text("master")


def test_sound_alone_has_a_master_of_its_own(opened: Open, samples: Samples) -> None:
    studio = opened(samples.audio("mp3")).stream()

    master = studio.text("master")
    assert 'CODECS="mp4a.40.2"' in master
    assert "RESOLUTION" not in master
    assert "EXT-X-MEDIA" not in master
    assert studio.decodes_cleanly(studio.path("master"))


def test_loudness_is_brought_to_the_target(opened: Open, samples: Samples) -> None:
    """A very quiet tone gets louder if the profile asks for it, and else stays as it is."""

    quiet = samples.encoded("quiet.wav", "-f", "lavfi", "-i", "sine=d=6", "-af", "volume=-30dB")
    studio = opened(quiet)
    studio.directory.mkdir()
    job = Transcoding(
        file=MediaFile(path=quiet, report=studio.report),
        directory=studio.directory,
        engine=studio.engine,
        cancellation=Cancellation(),
    )
    assert studio.report.speech
    options = SoundOptions(segment_s=Fraction(2), loudness_lufs=-16)
    made = encode_sound(job, studio.report.speech, options) / "playlist.m3u8"

    def lufs(path: Path) -> float:
        said = studio.ffmpeg("-i", path, "-af", "ebur128", "-f", "null", "-")
        return float(re.findall(r"I:\s+(-?[\d.]+) LUFS", said)[-1])

    assert lufs(quiet) < -40
    assert lufs(made) == pytest.approx(-16, abs=2)


# Downloads


def test_a_download_is_the_stream_in_one_file(opened: Open, samples: Samples) -> None:
    studio = opened(samples.late_sound("mp4"))
    studio.encode(studio.plan(chunk=40))
    studio.run("mp4-180")
    path = studio.save().path("mp4", "mp4-180")

    frames = studio.frames(path)
    assert frames[0].pts == 0
    assert len(frames) == pytest.approx(137, abs=1)
    assert {b.pts - a.pts for a, b in pairwise(frames)} == {Fraction(1, 25)}
    assert loud_from_s(studio, path) == pytest.approx(1.5, abs=0.04)
    assert studio.decodes_cleanly(path)
    data = path.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")


def test_a_preview_is_the_first_ten_seconds(opened: Open, samples: Samples) -> None:
    studio = opened(samples.video(12, name="twelve.mp4"))
    studio.encode(studio.plan(gop=50, segment=100))
    studio.run("preview")
    path = studio.save().path("preview", "preview")

    assert float(str(studio.facts(path)["duration"])) == pytest.approx(10, abs=0.1)
    assert float(str(studio.facts(path, "a:0")["duration"])) == pytest.approx(10, abs=0.1)
    assert studio.decodes_cleanly(path)


# Captions


def test_captions_are_part_of_the_stream(opened: Open, samples: Samples) -> None:
    studio = opened(samples.video()).encode()
    vtt = b"WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nhello\n"
    studio.media.put("t/transcript.vtt", vtt, "text/vtt")
    studio.inputs["transcribe"] = Outputs(prefix="t/", files={"vtt": "t/transcript.vtt"}, language="en")
    studio.run("package")

    assert 'SUBTITLES="captions"' in studio.text("master")
    assert "MPEGTS:90000" in studio.text("captions")
    assert "#EXTINF:4.0" in studio.text("captions/playlist")
    assert "transcript.vtt" in studio.text("dash")


# What must not be published


def test_a_segment_that_is_missing_stops_the_package(opened: Open, samples: Samples) -> None:
    studio = opened(samples.video()).encode()
    del studio.media.objects[next(key for key in studio.media.objects if key.endswith("180/00002.m4s"))]
    before = set(studio.media.objects)

    with pytest.raises(Temporary, match="00002") as caught:
        studio.run("package")
    assert caught.value.code == "stream_incomplete"
    assert set(studio.media.objects) == before


def test_a_chunk_behind_the_end_is_done_and_empty(opened: Open, samples: Samples) -> None:
    """The container promised a little more than there is."""
    studio = opened(samples.video_without_sound())
    studio.stream(studio.plan(chunk=20, more=21))

    assert "video-005" in studio.inputs
    assert len(studio.frames(studio.path("180/playlist"))) == 100


def test_everything_is_cached_for_as_long_as_it_is_true(opened: Open, samples: Samples) -> None:
    studio = opened(samples.video()).stream()

    kinds = {
        (key.rpartition(".")[2], "audio" in key, found.content_type, found.cache_control)
        for key, found in studio.media.objects.items()
        if not key.endswith(".json")
    }
    forever, briefly = "public, max-age=31536000, immutable", "public, max-age=60"
    assert kinds == {
        ("m4s", False, "video/iso.segment", forever),
        ("mp4", False, "video/mp4", forever),
        ("m4s", True, "audio/mp4", forever),
        ("mp4", True, "audio/mp4", forever),
        ("m3u8", False, "application/vnd.apple.mpegurl", briefly),
        ("m3u8", True, "application/vnd.apple.mpegurl", briefly),
        ("mpd", False, "application/dash+xml", briefly),
    }


def test_half_a_source_is_refused(opened: Open, samples: Samples) -> None:
    """The ingest would have seen it; this is the object that broke later, or a cut it cannot see."""
    whole = samples.video(12, name="whole.mp4", faststart=True)
    studio = opened(whole)
    studio.use(studio.plan(chunk=100))
    studio.arrived(samples.cut_in_the_middle())

    studio.run("video-000")
    with pytest.raises(Permanent) as caught:
        studio.run("video-001")
    assert caught.value.code == "truncated"


@pytest.mark.parametrize("seed", range(6))
def test_a_damaged_file_is_a_stream_or_a_reason(opened: Open, samples: Samples, seed: int) -> None:
    try:
        studio = opened(samples.flipped(seed))
        studio.stream(studio.plan(chunk=40))
    except Permanent:
        return
    assert gaps(studio, "180") == {Fraction(1, 25)}


def test_progress_only_ever_grows(opened: Open, samples: Samples) -> None:
    studio = opened(samples.video(12, name="twelve.mp4"))
    studio.use(studio.plan())
    studio.run("video-000")

    assert studio.progress == sorted(studio.progress)
    assert studio.progress[-1] <= 1
