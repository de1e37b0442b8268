"""Changes of a profile: what they make of it, and which make no sense."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelworks.domain import options
from reelworks.domain.options import ALLOWED, Options, problems, resolved
from reelworks.domain.plan import MediaSummary, make_plan
from reelworks.domain.profile import DEFAULT, HEIGHTS, PRESETS, PROFILES, named
from reelworks.errors import Permanent

MEDIA = MediaSummary(
    format="mp4",
    has_audio=True,
    has_video=True,
    duration_ms=60_000,
    picture_ms=60_000,
    width=3840,
    height=2160,
    frame_rate="25",
)
EACH: dict[str, st.SearchStrategy[Any]] = {
    "heights": st.lists(st.sampled_from(HEIGHTS), unique=True, min_size=1).map(tuple),
    "codec": st.just("h264"),
    "crf": st.integers(10, 40),
    "max_kbps": st.integers(100, 60_000),
    "preset": st.sampled_from(PRESETS),
    "segment_seconds": st.sampled_from([2, 4, 6, 8, 10]),
    "per_title": st.booleans(),
    "mp4": st.lists(st.sampled_from(HEIGHTS), unique=True).map(tuple),
    "preview": st.booleans(),
    "pictures": st.booleans(),
    "captions": st.booleans(),
    "language": st.sampled_from(["en", "de-AT", "zh-Hans-CN"]),
    "loudness_lufs": st.floats(-70, -5),
}
ANY = st.fixed_dictionaries({}, optional=EACH).map(lambda given: Options(**given))


def test_nothing_changed_is_the_profile_itself() -> None:
    assert resolved("default", None) == resolved("default", Options()) == DEFAULT


def test_every_change_arrives() -> None:
    changed = resolved(
        "default",
        Options(
            heights=(1440, 480),
            crf=20,
            max_kbps=4_000,
            preset="slow",
            segment_seconds=6,
            per_title=False,
            mp4=(480,),
            preview=False,
            pictures=False,
            language="de-AT",
            loudness_lufs=-16.0,
        ),
    )
    video = changed.video
    assert video is not None
    assert (video.heights, video.crf, video.max_kbps) == ((480, 1440), 20, 4_000)
    assert (video.preset, video.segment_s, video.per_title) == ("slow", 6, False)
    assert (changed.mp4, changed.preview, changed.pictures) == ((480,), False, False)
    assert (changed.language, changed.loudness_lufs, changed.transcribe) == ("de-AT", -16, True)


def test_without_captions_nothing_is_transcribed() -> None:
    plan = make_plan(MEDIA, resolved("default", Options(captions=False)))
    assert "transcribe" not in {task.name for task in plan.tasks}


def test_downloads_that_the_ladder_lacks_are_left_out_unless_they_were_asked_for() -> None:
    assert resolved("default", Options(heights=(360,))).mp4 == ()
    assert "but the renditions are 360" in problems(DEFAULT, Options(heights=(360,), mp4=(720,)))["mp4"]


def test_the_cap_of_the_highest_rung_makes_lower_ones_for_the_others() -> None:
    plan = make_plan(MEDIA, resolved("default", Options(heights=(360, 720, 1440), max_kbps=8_000)))
    assert plan.video is not None
    caps = [rung.max_kbps for rung in plan.video.rungs]
    assert caps == [1_000, 2_828, 8_000]


@given(chosen=ANY, profile=st.sampled_from(sorted(PROFILES)))
def test_what_is_allowed_can_be_planned_and_comes_back_from_the_table(chosen: Options, profile: str) -> None:
    assert msgspec.convert(msgspec.to_builtins(chosen), Options) == chosen
    wrong = problems(named(profile), chosen)
    assert wrong.keys() <= ALLOWED.keys()
    if wrong:
        with pytest.raises(Permanent) as caught:
            resolved(profile, chosen)
        assert caught.value.code == "invalid_options"
    else:
        assert make_plan(MEDIA, resolved(profile, chosen)).tasks


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("heights", ()),
        ("heights", (720, 720)),
        ("heights", (500,)),
        ("codec", "hevc"),
        ("crf", 9),
        ("crf", 41),
        ("max_kbps", 99),
        ("preset", "placebo"),
        ("segment_seconds", 3),
        ("segment_seconds", 12),
        ("mp4", (720, 720)),
        ("language", "english please"),
        ("loudness_lufs", -71.0),
        ("loudness_lufs", 0.0),
    ],
)
def test_what_is_not_allowed_says_what_is(field: str, value: object) -> None:
    ((name, message),) = problems(DEFAULT, Options(**{field: value})).items()  # type: ignore[arg-type]
    assert message == f"must be {ALLOWED[name]}."


@pytest.mark.parametrize(
    ("profile", "chosen", "field", "sentence"),
    [
        ("audio", Options(heights=(720,)), "heights", "needs a profile with pictures"),
        ("audio", Options(per_title=False), "perTitle", "needs a profile with pictures"),
        ("transcript", Options(loudness_lufs=-16.0), "loudnessLufs", "needs a profile with a stream"),
        ("transcript", Options(captions=False), "captions", "nothing to do"),
        ("default", Options(captions=False, language="en"), "language", "needs captions"),
        ("preview", Options(language="en"), "language", "needs captions"),
    ],
)
def test_what_does_not_go_together_is_told(profile: str, chosen: Options, field: str, sentence: str) -> None:
    assert sentence in problems(named(profile), chosen)[field]


def test_each_option_is_described() -> None:
    assert tuple(ALLOWED) == options.Options.__struct_encode_fields__
    assert set(options.VIDEO) <= ALLOWED.keys()
