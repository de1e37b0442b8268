"""Frames spread over a file: the two ways, and what they agree on."""

from pathlib import Path

import pytest
from msgspec import structs

from tests.media.samples import Samples
from tests.unit.worker.media.pictures import clips
from tests.unit.worker.media.pictures.conftest import Opened
from worker.media.pictures import metrics
from worker.media.pictures.sampling import Frame, sample


def times(opened: Opened, path: Path, count: int, enough: int = 1) -> list[int]:
    source = opened(path)
    return [frame.time_ms for frame in sample(source, metrics.layout(source.stream), count, enough=enough)]


def test_every_keyframe_of_a_short_clip(opened: Opened, samples: Samples) -> None:
    assert times(opened, clips.clip(samples, "plain.mp4"), 40) == list(range(0, 10_000, 1_000))


def test_fewer_than_there_are_keep_their_distance(opened: Opened, samples: Samples) -> None:
    assert times(opened, clips.clip(samples, "plain.mp4"), 3) == [0, 4_000, 8_000]


@pytest.mark.parametrize("extension", ["mp4", "mkv", "ts"])
def test_seeking_finds_the_keyframes_that_reading_finds(
    opened: Opened, samples: Samples, extension: str
) -> None:
    source = opened(clips.clip(samples, f"plain.{extension}"))
    layout = metrics.layout(source.stream)
    read = sample(source, layout, 40, enough=1)

    sought = sample(structs.replace(source, read_through_ms=0), layout, 20, enough=1)

    # MPEG-TS has no index: a seek into the first group of pictures may end at the second.
    assert len(read) == 10
    assert {frame.pixels for frame in sought} <= {frame.pixels for frame in read}
    assert len(sought) >= len(read) - 1
    assert sought[-1].time_ms == pytest.approx(9_000, abs=1)


def test_intra_only_codecs_are_sought_in(opened: Opened, samples: Samples) -> None:
    source = ("-f", "lavfi", "-i", f"{clips.SCENE}:d=10")
    path = samples.encoded("motion.mov", *source, "-c:v", "mjpeg", "-pix_fmt", "yuvj420p")

    assert times(opened, path, 4) == [1_200, 3_700, 6_200, 8_700]


def test_a_clip_of_one_keyframe_gives_other_frames_too(opened: Opened, samples: Samples) -> None:
    assert len(times(opened, clips.one_keyframe(samples), 10, enough=5)) == 10


def test_progress_is_told_while_seeking(opened: Opened, samples: Samples) -> None:
    source = structs.replace(opened(clips.clip(samples, "plain.mp4")), read_through_ms=0)
    told: list[float] = []

    sample(source, metrics.layout(source.stream), 4, enough=1, progress=told.append)

    assert told == [0.25, 0.5, 0.75, 1.0]


def test_the_second_half_of_a_file_may_be_missing(opened: Opened, samples: Samples) -> None:
    whole = samples.encoded(
        "fast.mp4", "-i", clips.clip(samples, "plain.mp4"), "-c", "copy", "-movflags", "+faststart"
    )
    source = opened(whole)
    half = structs.replace(source.file, path=samples.cut("half.mp4", whole, 0.5))

    frames = sample(structs.replace(source, file=half), metrics.layout(source.stream), 40, enough=1)

    assert 3 <= len(frames) <= 7


def test_every_frame_is_measured(opened: Opened, samples: Samples) -> None:
    source = opened(clips.clip(samples, "plain.mp4"))
    frame = sample(source, metrics.layout(source.stream), 1, enough=1)[0]
    frames = [Frame(time_ms=n, pixels=frame.pixels) for n in range(40)]

    measured = metrics.measure(frames, metrics.size_for(source.stream), 40)

    assert len(measured) == 40


def test_of_a_large_video_without_keyframes_less_is_decoded(opened: Opened, samples: Samples) -> None:
    source = opened(clips.one_keyframe(samples))
    huge = structs.replace(source, stream=structs.replace(source.stream, width=1280 * 720, height=300))

    # Two seconds.
    assert 1 <= len(sample(huge, metrics.layout(source.stream), 6, enough=5)) <= 3
