"""Durations against reality: cut files are refused, lying headers corrected, missing ones measured."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from reelworks.errors import Permanent
from reelworks.runtime.cancellation import Cancellation
from tests.media.samples import Samples
from worker.bootstrap import summary
from worker.media.engine import MediaEngine, MediaLimits
from worker.media.probe import probe
from worker.media.report import MediaReport

Probe = Callable[[Path], MediaReport]


@pytest.fixture
def report_of(engine: MediaEngine, cancellation: Cancellation) -> Probe:
    return lambda path: probe(path, engine=engine, cancellation=cancellation)


@pytest.mark.parametrize("extension", ["mkv", "flv"])
@pytest.mark.parametrize("seconds", [3_600, 0.5])
def test_a_header_that_lies_about_the_length_is_corrected(
    report_of: Probe, samples: Samples, extension: str, seconds: float
) -> None:
    report = report_of(samples.declared(seconds, extension))

    assert report.duration_ms == pytest.approx(4_000, abs=100)
    assert summary(report).duration_ms == report.duration_ms


@pytest.mark.parametrize("extension", ["mp4", "mkv"])
def test_half_a_file_is_refused_at_once_with_both_lengths(
    report_of: Probe, samples: Samples, extension: str
) -> None:
    with pytest.raises(Permanent, match=r"should last 0:12\.0 but ends after 0:0\d\.\d") as refused:
        report_of(samples.cut_in_the_middle(extension))

    assert refused.value.code == "truncated"


def test_a_recording_without_a_length_is_measured(report_of: Probe, samples: Samples) -> None:
    assert report_of(samples.without_length()).duration_ms == pytest.approx(4_023, abs=40)


def test_a_recording_without_a_length_that_was_cut_is_what_is_left(
    report_of: Probe, samples: Samples
) -> None:
    half = samples.cut("half-live.mkv", samples.without_length(), 0.5)

    assert report_of(half).duration_ms == pytest.approx(2_000, abs=500)


def test_a_measured_length_is_limited_too(
    engine: MediaEngine, cancellation: Cancellation, samples: Samples
) -> None:
    short = msgspec.structs.replace(engine, limits=MediaLimits(max_duration_ms=3_000))

    for path in (samples.without_length(), samples.declared(0.5, "mkv")):
        with pytest.raises(Permanent) as refused:
            probe(path, engine=short, cancellation=cancellation)
        assert refused.value.code == "too_long"


@pytest.mark.parametrize("extension", ["mp4", "mkv", "flac", "mp3", "wav", "ts"])
def test_an_honest_length_stays_as_it_is(report_of: Probe, samples: Samples, extension: str) -> None:
    silent = extension in ("flac", "mp3", "wav")
    source = samples.encoded(
        f"honest-length.{extension}", "-i", samples.video(), *(("-vn",) if silent else ())
    )

    assert report_of(source).duration_ms == pytest.approx(4_000, abs=100)


def test_a_check_that_cannot_be_done_changes_nothing(
    engine: MediaEngine, cancellation: Cancellation, samples: Samples, tmp_path: Path
) -> None:
    """An ffprobe that dies when it is asked for packets, and no ffmpeg at all to measure with."""
    picky = tmp_path / "ffprobe"
    picky.write_text(
        f'#!/bin/sh\ncase "$*" in *packet=*) kill -SEGV $$;; esac\nexec {engine.tools.ffprobe} "$@"\n'
    )
    picky.chmod(0o755)
    tools = msgspec.structs.replace(engine.tools, ffprobe=str(picky), ffmpeg="/bin/false")
    broken = msgspec.structs.replace(engine, tools=tools)

    assert probe(samples.video(), engine=broken, cancellation=cancellation).duration_ms == 4_000
