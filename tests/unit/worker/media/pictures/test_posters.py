"""Which frames are offered, out of clips whose best moment is known."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from reelworks.domain.geometry import Size
from reelworks.domain.ranking import DEFAULTS, NAMES, Weights
from reelworks.errors import LeaseLost, Permanent, ReelworksError
from tests.media.samples import Samples, playlists
from tests.unit.worker.media.pictures import clips
from tests.unit.worker.media.pictures.conftest import Opened
from worker.media.pictures import posters, stills
from worker.media.pictures.posters import Candidate
from worker.media.report import VideoStream


def best(opened: Opened, path: Path) -> Candidate:
    return posters.candidates(opened(path), Weights())[0]


def test_black_intro_is_not_the_poster(opened: Opened, samples: Samples) -> None:
    assert best(opened, clips.black_intro(samples)).time_ms >= 4_000


@pytest.mark.parametrize("make", [clips.mostly_blurred, clips.mostly_overexposed])
def test_the_one_good_second_is_found(
    opened: Opened, samples: Samples, make: Callable[[Samples], Path]
) -> None:
    assert best(opened, make(samples)).time_ms == 6_000


def test_different_scenes_are_offered_once_each(opened: Opened, samples: Samples) -> None:
    found = posters.candidates(opened(clips.three_scenes(samples)), Weights())

    assert {min(2, candidate.time_ms // 3_000) for candidate in found} == {0, 1, 2}


def test_candidates_come_best_first_and_at_most_five(opened: Opened, samples: Samples) -> None:
    found = posters.candidates(opened(clips.black_intro(samples)), Weights())

    scores = [candidate.score for candidate in found]
    assert 1 <= len(found) <= posters.OFFERED
    assert scores == sorted(scores, reverse=True)


def test_a_still_has_one_candidate(opened: Opened, samples: Samples) -> None:
    still = clips.clip(samples, "still.mp4", scene="smptebars=s=320x180:r=10")

    assert len(posters.candidates(opened(still), Weights())) == 1


def test_a_black_video_has_a_poster_all_the_same(opened: Opened, samples: Samples) -> None:
    black = clips.clip(samples, "black.mp4", scene="color=black:s=320x180:r=10")

    assert best(opened, black).features.content < 0.05


def test_other_weights_choose_another_frame(opened: Opened, samples: Samples) -> None:
    values = tuple(10.0 if name == "position" else value for name, value in zip(NAMES, DEFAULTS, strict=True))
    late = posters.candidates(opened(clips.clip(samples, "plain.mp4")), Weights(values=values))

    assert late[0].time_ms > best(opened, clips.clip(samples, "plain.mp4")).time_ms


def test_one_keyframe_is_not_the_only_choice(opened: Opened, samples: Samples) -> None:
    assert best(opened, clips.one_keyframe(samples)).time_ms > 0


def test_one_frame_is_the_poster(opened: Opened, samples: Samples) -> None:
    assert [c.time_ms for c in posters.candidates(opened(samples.one_frame()), Weights())] == [0]


def test_an_animated_gif_has_a_poster(opened: Opened, samples: Samples) -> None:
    assert posters.candidates(opened(samples.animation()), Weights())


@pytest.mark.parametrize("duration_ms", [None, 0, 3_600_000])
def test_a_container_that_lies_about_its_length_does_no_harm(
    opened: Opened, samples: Samples, duration_ms: int | None
) -> None:
    source = opened(clips.one_keyframe(samples))
    report = structs.replace(source.file.report, duration_ms=duration_ms)
    stream = structs.replace(source.stream, duration_ms=duration_ms)
    lying = structs.replace(source, file=structs.replace(source.file, report=report), stream=stream)

    assert posters.candidates(lying, Weights())


def test_a_file_without_a_decodable_frame_is_refused(opened: Opened, samples: Samples) -> None:
    source = opened(clips.one_keyframe(samples))
    nothing = samples.written("zeros.mp4", b"\0" * 5_000)
    broken = structs.replace(source, file=structs.replace(source.file, path=nothing))

    with pytest.raises(Permanent, match="cannot be decoded") as refused:
        posters.candidates(broken, Weights())
    assert refused.value.code == "undecodable_video"


def test_a_clip_cut_in_the_middle_of_a_group_of_pictures_has_a_poster(
    opened: Opened, samples: Samples, tmp_path: Path
) -> None:
    # Its first keyframe is before the beginning, and not to be shown.
    source = opened(samples.edit_list())
    first = posters.candidates(source, Weights())[0]

    stills.save(source, first.time_ms, {tmp_path / "still.jpg": Size(width=320, height=180)}, key=first.key)

    assert 0 <= first.time_ms < source.length_ms


@pytest.mark.parametrize("seed", range(8))
def test_flipped_bytes_end_in_a_poster_or_a_reason(opened: Opened, samples: Samples, seed: int) -> None:
    source = opened(samples.video())
    flipped = structs.replace(source, file=structs.replace(source.file, path=samples.flipped(seed)))

    with contextlib.suppress(ReelworksError):
        assert posters.candidates(flipped, Weights())


@pytest.mark.parametrize("kind", list(playlists("x")))
def test_a_playlist_in_place_of_the_source_is_never_followed(
    opened: Opened, samples: Samples, tmp_path: Path, kind: str
) -> None:
    # Even if the probe had let it pass.
    source = opened(clips.one_keyframe(samples))
    text = playlists(str(source.file.path))[kind]
    named = samples.written(f"poster-{kind}.mp4", text)
    swapped = structs.replace(source, file=structs.replace(source.file, path=named))

    with pytest.raises(Permanent):
        posters.candidates(swapped, Weights())
    with pytest.raises(Permanent):
        stills.save(swapped, 0, {tmp_path / "still.jpg": Size(width=320, height=180)}, key=True)
    assert not (tmp_path / "still.jpg").exists()


def test_a_lost_lease_stops_the_search(opened: Opened, samples: Samples) -> None:
    source = opened(clips.one_keyframe(samples))
    source.cancellation.cancel(LeaseLost("gone"))

    with pytest.raises(LeaseLost):
        posters.candidates(source, Weights())


def test_undecodable_names_the_codec(opened: Opened, samples: Samples) -> None:
    source = opened(clips.one_keyframe(samples))
    odd = structs.replace(source, stream=VideoStream(index=9, codec="rare", width=1, height=1))

    with pytest.raises(Permanent, match="rare"):
        posters.candidates(odd, Weights())
