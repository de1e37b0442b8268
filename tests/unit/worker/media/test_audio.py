"""Speech audio out of real files: which track, on which timeline, and what happens to broken ones."""

import wave
from array import array
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from reelworks.errors import LeaseLost, Permanent, Temporary
from reelworks.runtime.cancellation import Cancellation
from tests.media.samples import Samples
from worker.media.audio import AudioClip, MediaFile, extract_speech_audio, refuse_truncated
from worker.media.compress import compress_speech
from worker.media.engine import MediaEngine, MediaLimits
from worker.media.probe import probe
from worker.media.report import AudioStream, MediaReport, VideoStream
from worker.media.runner import Runner

Extract = Callable[[Path], AudioClip | None]


@pytest.fixture
def extracted(engine: MediaEngine, cancellation: Cancellation, tmp_path: Path) -> Extract:
    def extract(source: Path) -> AudioClip | None:
        report = probe(source, engine=engine, cancellation=cancellation)
        file = MediaFile(path=source, report=report)
        return extract_speech_audio(file, tmp_path / "speech.wav", engine=engine, cancellation=cancellation)

    return extract


def loud_ms(clip: AudioClip | None) -> list[int]:
    """The 10 ms steps in which there is sound."""
    assert clip
    with wave.open(str(clip.path)) as wav:
        samples = array("h", wav.readframes(wav.getnframes()))
    return [at * 10 for at in range(len(samples) // 160) if max(samples[at * 160 : at * 160 + 160]) > 500]


def test_the_sound_is_16_khz_mono(extracted: Extract, samples: Samples) -> None:
    clip = extracted(samples.surround())

    assert clip
    with wave.open(str(clip.path)) as wav:
        assert (wav.getframerate(), wav.getnchannels(), wav.getsampwidth()) == (16_000, 1, 2)
    assert clip.duration_ms == pytest.approx(4000, abs=50)


@pytest.mark.parametrize("extension", ["mp3", "m4a", "wav", "flac", "ogg", "webm", "aac"])
def test_every_usual_format_is_heard(extracted: Extract, samples: Samples, extension: str) -> None:
    assert len(loud_ms(extracted(samples.audio(extension)))) > 380


def test_cover_art_is_not_in_the_way(extracted: Extract, samples: Samples) -> None:
    assert extracted(samples.audio_with_cover())


def test_a_mute_video_has_no_clip(extracted: Extract, samples: Samples) -> None:
    assert extracted(samples.video_without_sound()) is None


def test_a_silent_track_is_a_silent_clip(extracted: Extract, samples: Samples) -> None:
    assert loud_ms(extracted(samples.video_with_silence())) == []


def test_the_default_track_is_taken(extracted: Extract, samples: Samples) -> None:
    # The other one is silent.
    assert loud_ms(extracted(samples.two_languages()))


@pytest.mark.parametrize("extension", ["mp4", "mkv", "ts"])
def test_sound_that_starts_later_keeps_its_place(
    extracted: Extract, samples: Samples, extension: str
) -> None:
    loud = loud_ms(extracted(samples.late_sound(extension)))

    assert loud[0] == pytest.approx(1500, abs=40)
    assert loud[-1] == pytest.approx(5500, abs=60)


def test_an_edit_list_is_obeyed(extracted: Extract, samples: Samples) -> None:
    clip = extracted(samples.edit_list())

    assert clip
    assert clip.duration_ms == pytest.approx(5700, abs=60)


def test_other_streams_are_not_in_the_way(extracted: Extract, samples: Samples) -> None:
    assert extracted(samples.many_kinds_of_streams())
    assert extracted(samples.timecode())


def test_the_same_file_gives_the_same_bytes(extracted: Extract, samples: Samples) -> None:
    first = extracted(samples.video())
    assert first
    before = first.path.read_bytes()
    extracted(samples.video())

    assert first.path.read_bytes() == before


@pytest.mark.parametrize("extension", ["mp4", "mkv", "flac"])
def test_half_a_file_is_refused_with_both_lengths(
    extracted: Extract, samples: Samples, extension: str
) -> None:
    if extension == "flac":
        half = samples.cut("half.flac", samples.audio("flac"), 0.5)
    else:
        half = samples.cut_in_the_middle(extension)

    with pytest.raises(Permanent, match=r"should last 0:\d\d\.\d but ends after 0:0\d\.\d") as refused:
        extracted(half)

    assert refused.value.code == "truncated"


@pytest.mark.parametrize("extension", ["mp3", "aac", "wav"])
def test_formats_that_only_estimate_their_length_are_believed(
    extracted: Extract, samples: Samples, extension: str
) -> None:
    assert extracted(samples.cut(f"cut.{extension}", samples.audio(extension), 0.5))


@pytest.mark.parametrize("seed", range(15))
def test_bit_flips_end_in_a_clip_or_a_sentence(extracted: Extract, samples: Samples, seed: int) -> None:
    try:
        clip = extracted(samples.flipped(seed))
    except Permanent as refused:
        message = refused.message
    else:
        message = "" if clip is None else str(clip.duration_ms)

    assert "/" not in message


def test_a_clip_that_is_longer_than_it_said_is_refused(
    engine: MediaEngine, cancellation: Cancellation, samples: Samples, tmp_path: Path
) -> None:
    """A file without a declared length passes the probe; decoding stops a second after the limit."""
    strict = msgspec.structs.replace(engine, limits=MediaLimits(max_duration_ms=2_000))
    report = MediaReport(
        formats=("aac",),
        size_bytes=1,
        audio=(AudioStream(index=0, codec="aac", channels=1, sample_rate=44100),),
    )

    with pytest.raises(Permanent) as refused:
        extract_speech_audio(
            MediaFile(path=samples.audio("aac"), report=report),
            tmp_path / "out.wav",
            engine=strict,
            cancellation=cancellation,
        )

    assert refused.value.code == "too_long"
    assert (tmp_path / "out.wav").stat().st_size < 3_100 * 32


def test_progress_goes_from_little_to_all(
    engine: MediaEngine, cancellation: Cancellation, samples: Samples, tmp_path: Path
) -> None:
    source = samples.video()
    file = MediaFile(path=source, report=probe(source, engine=engine, cancellation=cancellation))
    heard: list[float] = []

    extract_speech_audio(
        file, tmp_path / "out.wav", engine=engine, cancellation=cancellation, progress=heard.append
    )

    assert heard == sorted(heard)
    assert heard[-1] == 1.0


def test_a_lost_lease_stops_the_decoding(
    engine: MediaEngine, cancellation: Cancellation, samples: Samples, tmp_path: Path
) -> None:
    source = samples.silence(7_200)
    file = MediaFile(path=source, report=probe(source, engine=engine, cancellation=cancellation))

    with pytest.raises(LeaseLost):
        extract_speech_audio(
            file,
            tmp_path / "out.wav",
            engine=engine,
            cancellation=cancellation,
            progress=lambda _: cancellation.cancel(LeaseLost("taken")),
        )


@pytest.mark.parametrize(
    ("body", "error", "code"),
    [
        ("kill -SEGV $$", Temporary, "decode_crashed"),
        (
            "echo 'av_interleaved_write_frame(): No space left on device' >&2; exit 1",
            Temporary,
            "scratch_full",
        ),
        ("echo 'Decoder not found' >&2; exit 1", Permanent, "undecodable_audio"),
        ("exit 0", Permanent, "undecodable_audio"),
    ],
)
def test_failures_of_ffmpeg_are_told_apart(
    engine: MediaEngine,
    cancellation: Cancellation,
    samples: Samples,
    tmp_path: Path,
    body: str,
    error: type[Exception],
    code: str,
) -> None:
    fake = tmp_path / "ffmpeg"
    fake.write_text(f"#!/bin/sh\n{body}\n")
    fake.chmod(0o755)
    source = samples.video()
    file = MediaFile(path=source, report=probe(source, engine=engine, cancellation=cancellation))
    tools = msgspec.structs.replace(engine.tools, ffmpeg=str(fake))

    with pytest.raises(error) as failed:
        extract_speech_audio(
            file,
            tmp_path / "out.wav",
            engine=MediaEngine(tools=tools, runner=Runner()),
            cancellation=cancellation,
        )

    assert getattr(failed.value, "code", None) == code


SOUND = AudioStream(index=0, codec="aac", channels=1, sample_rate=48000, start_ms=0, duration_ms=100_000)
PICTURE = VideoStream(index=1, codec="h264", width=2, height=2)


@pytest.mark.parametrize(
    ("formats", "sound", "decoded_ms", "refused"),
    [
        (("mov", "mp4"), SOUND, 98_001, False),
        (("mov", "mp4"), SOUND, 97_999, True),
        (("mp3",), SOUND, 10_000, False),
        # The declared end includes a late start, as the clip does.
        (("matroska",), msgspec.structs.replace(SOUND, start_ms=50_000), 140_000, True),
        (("matroska",), msgspec.structs.replace(SOUND, start_ms=50_000), 149_000, False),
        # A second is always forgiven.
        (("mov",), msgspec.structs.replace(SOUND, duration_ms=2_000), 1_000, False),
        # Beside a picture, the file's length says nothing about its sound.
        (("matroska",), msgspec.structs.replace(SOUND, duration_ms=None), 10_000, False),
    ],
)
def test_only_clearly_missing_sound_is_a_truncation(
    formats: tuple[str, ...], sound: AudioStream, decoded_ms: int, *, refused: bool
) -> None:
    report = MediaReport(formats=formats, size_bytes=1, duration_ms=200_000, audio=(sound,), video=(PICTURE,))
    if not refused:
        refuse_truncated(report, sound, decoded_ms)
        return
    with pytest.raises(Permanent):
        refuse_truncated(report, sound, decoded_ms)


def test_a_compressed_clip_is_much_smaller(
    engine: MediaEngine, cancellation: Cancellation, samples: Samples, extracted: Extract
) -> None:
    clip = extracted(samples.audio("flac"))
    assert clip

    small = compress_speech(clip, engine=engine, cancellation=cancellation)

    assert small.path.suffix == ".mp3"
    assert small.duration_ms == clip.duration_ms
    assert small.path.stat().st_size * 6 < clip.path.stat().st_size
    assert probe(small.path, engine=engine, cancellation=cancellation).speech
