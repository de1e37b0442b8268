"""The poster task: from an object in the raw bucket to pictures and a description in the media bucket."""

import msgspec
import pytest
from msgspec import structs

from reelworks.domain.plan import TaskKind
from reelworks.domain.poster import Description
from reelworks.domain.ranking import Weights, updated
from reelworks.errors import LeaseLost, Permanent, Temporary
from tests.media.samples import Samples
from tests.unit.worker.media.pictures import clips
from tests.unit.worker.tasks.conftest import Probed, Stored
from tests.unit.worker.tasks.picturing import PREFIX, Studio, outputs
from worker.media.pictures.jpeg import IMMUTABLE
from worker.tasks.poster import PosterDependencies, poster


def needs(studio: Studio, weights: Weights | None = None) -> PosterDependencies:
    return PosterDependencies(
        raw=studio.raw, media=studio.media, engine=studio.engine, weights=lambda: weights or Weights()
    )


def description(studio: Studio, key: str) -> Description:
    return msgspec.json.decode(studio.media.objects[key].body, type=Description)


def test_every_candidate_is_there_in_both_sizes(
    studio: Studio, probed: Probed, samples: Samples, stored: Stored
) -> None:
    clip = clips.three_scenes(samples)
    files = outputs(poster(studio.work(clip, probed(clip), TaskKind.POSTER), needs(studio))).files
    described = description(studio, files["candidates"])

    numbers = range(len(described.candidates))
    assert set(files) == {
        "poster",
        "candidates",
        *(f"{n}-{i}" for n in ("poster", "candidate") for i in numbers),
    }
    assert len(described.candidates) >= 3
    for number, offer in enumerate(described.candidates):
        assert files[f"poster-{number}"] == PREFIX + offer.large
        assert files[f"candidate-{number}"] == PREFIX + offer.small
        assert stored(files[f"poster-{number}"]).width == described.width == 320


def test_the_poster_is_the_best_candidate(studio: Studio, probed: Probed, samples: Samples) -> None:
    clip = clips.black_intro(samples)
    files = outputs(poster(studio.work(clip, probed(clip), TaskKind.POSTER), needs(studio))).files
    described = description(studio, files["candidates"])

    assert files["poster"] == files["poster-0"]
    assert described.chosen == 0
    assert described.candidates[0].score == max(offer.score for offer in described.candidates)
    assert described.candidates[0].time_ms >= 4_000


def test_pictures_are_cached_for_good(studio: Studio, probed: Probed, samples: Samples) -> None:
    clip = samples.one_frame()
    files = outputs(poster(studio.work(clip, probed(clip), TaskKind.POSTER), needs(studio))).files

    assert all(studio.media.objects[key].cache_control == IMMUTABLE for key in files.values())
    assert studio.media.objects[files["poster"]].content_type == "image/jpeg"


def test_large_videos_get_a_poster_of_1280(
    studio: Studio, probed: Probed, samples: Samples, stored: Stored
) -> None:
    clip = clips.clip(samples, "full-hd.mp4", "scale=1920:1080", seconds=1)
    files = outputs(poster(studio.work(clip, probed(clip), TaskKind.POSTER), needs(studio))).files

    assert (stored(files["poster"]).width, stored(files["poster"]).height) == (1280, 720)
    assert (stored(files["candidate-0"]).width, stored(files["candidate-0"]).height) == (320, 180)


def test_a_choice_can_be_learned_from_what_is_stored(
    studio: Studio, probed: Probed, samples: Samples
) -> None:
    clip = clips.three_scenes(samples)
    files = outputs(poster(studio.work(clip, probed(clip), TaskKind.POSTER), needs(studio))).files
    described = description(studio, files["candidates"])
    shown = [offer.features for offer in described.candidates]

    weights = described.weights
    for _ in range(200):
        weights = updated(weights, shown[-1], shown)
    again = outputs(poster(studio.work(clip, probed(clip), TaskKind.POSTER), needs(studio, weights))).files

    assert description(studio, again["candidates"]).candidates[0].features == shown[-1]
    assert description(studio, again["candidates"]).weights.picks == 200


def test_it_tells_how_far_it_is(studio: Studio, probed: Probed, samples: Samples) -> None:
    clip = clips.three_scenes(samples)
    poster(studio.work(clip, probed(clip), TaskKind.POSTER), needs(studio))

    assert studio.told == sorted(studio.told)
    assert studio.told[-1] == 1.0


def test_without_a_report_it_waits(studio: Studio, samples: Samples) -> None:
    with pytest.raises(Temporary) as missing:
        poster(studio.work(samples.one_frame(), None, TaskKind.POSTER), needs(studio))
    assert missing.value.code == "report_missing"


def test_a_file_without_a_picture_is_refused(studio: Studio, probed: Probed, samples: Samples) -> None:
    tone = samples.audio("wav")
    with pytest.raises(Permanent) as refused:
        poster(studio.work(tone, probed(tone), TaskKind.POSTER), needs(studio))
    assert refused.value.code == "no_picture"


def test_whoever_lost_the_lease_writes_nothing(studio: Studio, probed: Probed, samples: Samples) -> None:
    clip = samples.one_frame()
    work = studio.work(clip, probed(clip), TaskKind.POSTER)
    lost = structs.replace(work, report=lambda _: studio.cancellation.cancel(LeaseLost("gone")))

    with pytest.raises(LeaseLost):
        poster(lost, needs(studio))
    assert not any(key.startswith(PREFIX) for key in studio.media.objects)
