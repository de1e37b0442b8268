"""Probing real files: what is in them, and what is said about those that are refused."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from reelworks.errors import Permanent, Temporary
from reelworks.runtime.cancellation import Cancellation
from tests.media.samples import Samples
from worker.media.engine import MediaEngine, MediaLimits
from worker.media.probe import probe
from worker.media.report import MediaReport
from worker.media.runner import Runner

Probe = Callable[[Path], MediaReport]
Refusal = Callable[[Path], Permanent]


@pytest.fixture
def report_of(engine: MediaEngine, cancellation: Cancellation) -> Probe:
    return lambda path: probe(path, engine=engine, cancellation=cancellation)


@pytest.fixture
def refusal_of(report_of: Probe) -> Refusal:
    def refuse(path: Path) -> Permanent:
        with pytest.raises(Permanent) as refused:
            report_of(path)
        assert str(path.parent) not in refused.value.message, "scratch paths are nobody's business"
        return refused.value

    return refuse


def limited(engine: MediaEngine, limits: MediaLimits) -> MediaEngine:
    return msgspec.structs.replace(engine, limits=limits)


def test_a_video_is_described(report_of: Probe, samples: Samples) -> None:
    report = report_of(samples.video())

    assert "mp4" in report.formats
    assert report.duration_ms == 4000
    assert report.size_bytes == samples.video().stat().st_size
    assert report.picture
    assert (report.picture.codec, report.picture.width, report.picture.height) == ("h264", 320, 180)
    assert report.picture.frame_rate == "25/1"
    assert report.speech
    assert (report.speech.codec, report.speech.channels, report.speech.sample_rate) == ("aac", 1, 44100)


@pytest.mark.parametrize("extension", ["mp3", "m4a", "wav", "flac", "ogg", "webm", "aac", "aiff"])
def test_audio_alone_has_no_picture(report_of: Probe, samples: Samples, extension: str) -> None:
    report = report_of(samples.audio(extension))

    assert report.picture is None
    assert report.speech
    assert report.duration_ms == pytest.approx(4000, abs=150)


@pytest.mark.parametrize("extension", ["mp3", "m4a", "flac"])
def test_cover_art_is_no_picture(report_of: Probe, samples: Samples, extension: str) -> None:
    report = report_of(samples.audio_with_cover(extension))

    assert report.picture is None
    assert [video.attached_pic for video in report.video] == [True]


def test_the_default_track_is_the_one_people_hear(report_of: Probe, samples: Samples) -> None:
    report = report_of(samples.two_languages())

    assert [track.language for track in report.audio] == ["fre", "eng"]
    assert report.speech == report.audio[1]


def test_a_video_may_be_mute(report_of: Probe, samples: Samples) -> None:
    report = report_of(samples.video_without_sound())

    assert report.speech is None
    assert report.picture


def test_six_channels_are_counted(report_of: Probe, samples: Samples) -> None:
    speech = report_of(samples.surround()).speech

    assert speech
    assert speech.channels == 6


@pytest.mark.parametrize("extension", ["mp4", "mkv", "ts"])
def test_sound_that_starts_later_says_so(report_of: Probe, samples: Samples, extension: str) -> None:
    speech = report_of(samples.late_sound(extension)).speech

    assert speech
    # 23 ms of encoder delay come before the sound in some containers.
    assert speech.start_ms == pytest.approx(1500, abs=30)
    assert speech.duration_ms == pytest.approx(4000, abs=150)


def test_other_streams_are_only_counted(report_of: Probe, samples: Samples) -> None:
    assert report_of(samples.many_kinds_of_streams()).other_streams == 2
    assert report_of(samples.timecode()).other_streams == 1


def test_a_moving_gif_is_a_video(report_of: Probe, samples: Samples) -> None:
    assert report_of(samples.animation()).picture


def test_one_frame_is_a_video(report_of: Probe, samples: Samples) -> None:
    assert report_of(samples.one_frame()).duration_ms == 40


@pytest.mark.parametrize(
    ("sample", "code", "words"),
    [
        (Samples.empty, "empty_file", "empty"),
        (Samples.text, "not_media", "text file"),
        (Samples.noise_bytes, "not_media", "not audio or video"),
        (Samples.archive, "not_media", "Unpack it"),
        (Samples.subtitles, "not_media", "subtitle"),
        (Samples.without_index, "truncated", "incomplete"),
        (Samples.bomb, "too_many_pixels", "megapixels"),
        (Samples.only_subtitles, "no_streams", "neither sound nor"),
    ],
)
def test_what_cannot_be_processed_is_refused_in_words(
    refusal_of: Refusal, samples: Samples, sample: Callable[[Samples], Path], code: str, words: str
) -> None:
    refusal = refusal_of(sample(samples))

    assert refusal.code == code
    assert words in refusal.message


def test_a_name_without_extension_changes_nothing(
    refusal_of: Refusal, samples: Samples, tmp_path: Path
) -> None:
    for sample in (samples.text(), samples.noise_bytes(), samples.subtitles()):
        (tmp_path / "source").write_bytes(sample.read_bytes())

        assert refusal_of(tmp_path / "source").code == "not_media"


def test_a_strange_name_is_only_a_name(report_of: Probe, samples: Samples, tmp_path: Path) -> None:
    for name in ("-i.mp4", "http:x", "a%03d.mp4", "concat:a|b"):
        strange = tmp_path / name
        strange.write_bytes(samples.video().read_bytes())

        assert report_of(strange).duration_ms == 4000


def test_tracks_are_limited(engine: MediaEngine, cancellation: Cancellation, samples: Samples) -> None:
    with pytest.raises(Permanent, match="65 tracks, at most 64") as refused:
        probe(samples.many_tracks(65), engine=engine, cancellation=cancellation)

    assert refused.value.code == "too_many_streams"


def test_length_is_limited(engine: MediaEngine, cancellation: Cancellation, samples: Samples) -> None:
    short = limited(engine, MediaLimits(max_duration_ms=3_000))

    with pytest.raises(Permanent, match=r"lasts 0:04\.0; at most 0:03\.0") as refused:
        probe(samples.video(), engine=short, cancellation=cancellation)

    assert refused.value.code == "too_long"


def test_the_size_of_the_picture_is_limited(
    engine: MediaEngine, cancellation: Cancellation, samples: Samples
) -> None:
    small = limited(engine, MediaLimits(max_pixels=320 * 179))

    with pytest.raises(Permanent) as refused:
        probe(samples.video(), engine=small, cancellation=cancellation)

    assert refused.value.code == "too_many_pixels"


@pytest.mark.parametrize("seed", range(25))
def test_bit_flips_are_survived(report_of: Probe, samples: Samples, seed: int) -> None:
    reported = None
    with contextlib.suppress(Permanent):
        reported = report_of(samples.flipped(seed))

    assert reported is None or reported.speech or reported.picture


@pytest.mark.parametrize(
    ("body", "code"),
    [("kill -SEGV $$", "probe_crashed"), ("sleep 300", "media_timeout")],
)
def test_an_ffprobe_that_crashes_or_hangs_is_worth_another_try(
    engine: MediaEngine, cancellation: Cancellation, samples: Samples, tmp_path: Path, body: str, code: str
) -> None:
    fake = tmp_path / "ffprobe"
    fake.write_text(f"#!/bin/sh\n{body}\n")
    fake.chmod(0o755)
    tools = msgspec.structs.replace(engine.tools, ffprobe=str(fake))
    broken = MediaEngine(tools=tools, runner=Runner(grace_s=0.1), limits=MediaLimits(probe_timeout_s=0.5))

    with pytest.raises(Temporary) as failed:
        probe(samples.video(), engine=broken, cancellation=cancellation)

    assert failed.value.code == code


def test_a_vanished_file_is_worth_another_try(
    engine: MediaEngine, cancellation: Cancellation, samples: Samples, tmp_path: Path
) -> None:
    fake = tmp_path / "ffprobe"
    fake.write_text("#!/bin/sh\necho 'file:x: No such file or directory' >&2; exit 1\n")
    fake.chmod(0o755)
    tools = msgspec.structs.replace(engine.tools, ffprobe=str(fake))

    with pytest.raises(Temporary):
        probe(samples.video(), engine=msgspec.structs.replace(engine, tools=tools), cancellation=cancellation)
