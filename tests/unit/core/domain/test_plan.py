"""The plan of any media with any profile."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from reelworks.domain import plan as plans
from reelworks.domain.plan import MAX_TASKS, MediaSummary, MediaType, Plan, TaskKind
from reelworks.domain.profile import AUDIO, DEFAULT, HEIGHTS, PREVIEW, PROFILES, Profile, VideoOptions
from reelworks.domain.timeline import MAX_CHUNKS
from tests.unit.core.domain.test_timeline import RATES

SIDES = st.integers(0, 8192)
MEDIA = st.builds(
    MediaSummary,
    format=st.just("mov"),
    has_audio=st.booleans(),
    has_video=st.booleans(),
    type=st.sampled_from(MediaType),
    duration_ms=st.none() | st.integers(0, 24 * 3_600_000),
    picture_ms=st.none() | st.integers(0, 24 * 3_600_000),
    width=SIDES,
    height=SIDES,
    frame_rate=st.none() | st.sampled_from(RATES),
)
HEIGHT_SETS = st.sets(st.sampled_from(HEIGHTS), min_size=1).map(tuple)
CUSTOM = st.builds(
    Profile,
    name=st.just("custom"),
    video=st.none() | st.builds(VideoOptions, heights=HEIGHT_SETS, segment_s=st.integers(2, 10)),
    stream_audio=st.booleans(),
    transcribe=st.booleans(),
    pictures=st.booleans(),
    preview=st.booleans(),
    mp4=st.just(()) | HEIGHT_SETS,
)
ANY_PROFILE = st.sampled_from(sorted(PROFILES)).map(PROFILES.__getitem__) | CUSTOM

VIDEO = MediaSummary(
    format="mov",
    has_audio=True,
    has_video=True,
    duration_ms=4_000,
    width=1920,
    height=1080,
    frame_rate="25/1",
)


def names(plan: Plan) -> list[str]:
    return [task.name for task in plan.tasks]


@given(media=MEDIA, profile=ANY_PROFILE)
def test_any_plan_is_one_that_can_be_carried_out(media: MediaSummary, profile: Profile) -> None:
    plan = plans.make_plan(media, profile)
    assert plans.checked(plan) is plan
    assert len(plan.tasks) <= MAX_TASKS
    for task in plan.tasks:
        assert {*task.depends_on, *task.after} <= set(names(plan))


@given(media=MEDIA, profile=ANY_PROFILE)
def test_video_tasks_are_the_chunks_of_the_grid(media: MediaSummary, profile: Profile) -> None:
    plan = plans.make_plan(media, profile)
    chunks = [plans.chunk_number(task.name) for task in plan.tasks if task.kind is TaskKind.VIDEO]
    assert chunks == list(range(plan.video.grid.chunks if plan.video else 0))
    assert len(chunks) <= MAX_CHUNKS


@given(media=MEDIA, profile=ANY_PROFILE)
def test_rungs_are_named_apart_and_downloads_are_of_rungs(media: MediaSummary, profile: Profile) -> None:
    plan = plans.make_plan(media, profile)
    rungs = [rung.name for rung in plan.video.rungs] if plan.video else []
    downloads = [task.name for task in plan.tasks if task.kind is TaskKind.MP4]
    assert len(rungs) == len(set(rungs))
    assert set(downloads) <= {f"mp4-{name}" for name in rungs}


def test_default_plan_of_a_video() -> None:
    assert names(plans.make_plan(VIDEO, DEFAULT)) == [
        "poster",
        "storyboard",
        "audio",
        "video-000",
        "transcribe",
        "package",
        "preview",
        "mp4-720",
    ]


def test_package_needs_the_streams_but_only_the_end_of_the_transcript() -> None:
    package = next(t for t in plans.make_plan(VIDEO, DEFAULT).tasks if t.name == "package")
    assert (package.depends_on, package.after) == (("audio", "video-000"), ("transcribe",))


def test_nothing_waits_for_a_transcript_that_is_not_made() -> None:
    package = next(t for t in plans.make_plan(VIDEO, PREVIEW).tasks if t.name == "package")
    assert package.after == ()


@pytest.mark.parametrize("profile", [AUDIO, DEFAULT])
def test_sound_alone_is_streamed_and_transcribed(profile: Profile) -> None:
    sound = MediaSummary(format="mp3", type=MediaType.AUDIO, has_audio=True, has_video=False)
    assert names(plans.make_plan(sound, profile)) == ["audio", "transcribe", "package"]


def test_image_gets_thumbnails_and_nothing_else() -> None:
    image = MediaSummary(format="jpeg_pipe", type=MediaType.IMAGE, has_audio=False, has_video=False)
    assert names(plans.make_plan(image, DEFAULT)) == ["thumbnails"]


@pytest.mark.parametrize(
    ("duration_ms", "picture_ms", "frames"),
    [
        (10_023, 10_000, 250),
        (60_000, 10_000, 1_500),
        (10_000, 10_520, 263),
        (10_000, None, 250),
        (None, 10_000, 250),
        (None, None, 1),
        (0, 0, 1),
    ],
)
def test_grid_ends_with_the_picture_unless_the_sound_goes_on_for_long(
    duration_ms: int | None, picture_ms: int | None, frames: int
) -> None:
    media = structs.replace(VIDEO, duration_ms=duration_ms, picture_ms=picture_ms)
    video = plans.make_plan(media, DEFAULT).video
    assert video is not None
    assert video.grid.frames == frames


def test_picture_without_a_size_is_not_encoded() -> None:
    unseen = MediaSummary(format="mov", has_audio=True, has_video=True, frame_rate="25/1")
    assert plans.make_plan(unseen, DEFAULT).video is None
