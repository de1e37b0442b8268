"""`POST …/poster`: the owner's choice, what it changes, and what it teaches."""

import random
from typing import Any

import httpx
import msgspec
import pytest
from msgspec import structs

from reelworks.domain import ranking
from reelworks.domain.outcome import Outputs
from reelworks.domain.plan import Plan, TaskKind, TaskSpec
from reelworks.domain.poster import Description, Offer
from reelworks.domain.ranking import Features, Weights
from reelworks.domain.task import Task, TaskStatus
from reelworks.domain.upload import Upload
from tests.unit.upload_api.api import Api, fields, problem

SPEC = TaskSpec(name="poster", kind=TaskKind.POSTER, lane="fast")
TASTE = (-2.0, 1.0, 0.0, 3.0, 1.0, 0.0, 0.0, 2.0)
"""Of owners who like soft, colourful pictures in motion: not what the ranking begins with."""


def features(dice: random.Random) -> Features:
    return Features(**{name: dice.random() for name in ranking.NAMES})


def offered(api: Api, candidates: list[Features], made_by: str = "t") -> Upload:
    """An upload whose poster task has just offered these."""
    upload = api.created()
    prefix = f"processed/{upload.user_id}/{upload.upload_id}/tasks/poster/{made_by}/"
    count = range(len(candidates))
    offers = tuple(
        Offer(time_ms=n, score=0, features=candidates[n], large=f"poster-{n}.jpg", small=f"candidate-{n}.jpg")
        for n in count
    )
    described = Description(width=320, height=180, weights=Weights(), candidates=offers)
    body = msgspec.json.encode(described)
    api.memory.media.put(f"{prefix}candidates.json", body, "application/json")
    files = {f"{kind}-{n}": f"{prefix}{kind}-{n}.jpg" for kind in ("poster", "candidate") for n in count}
    files |= {"poster": files["poster-0"], "candidates": f"{prefix}candidates.json"}
    task = Task(
        upload_id=upload.upload_id,
        name="poster",
        kind=TaskKind.POSTER,
        lane="fast",
        status=TaskStatus.DONE,
        outputs=Outputs(prefix=prefix, files=files),
        created_at=upload.created_at,
        updated_at=upload.created_at,
    )
    api.memory.store.tasks[upload.upload_id, 0, "poster"] = task
    planned = structs.replace(upload, plan=Plan(profile="default", tasks=(SPEC,)))
    api.memory.store.uploads[upload.upload_id] = planned
    return planned


@pytest.fixture
def upload(api: Api) -> Upload:
    dice = random.Random(3)
    return offered(api, [features(dice) for _ in range(5)])


def choose(api: Api, upload: Upload, candidate: object) -> httpx.Response:
    return api.client.post(f"/api/uploads/{upload.upload_id}/poster", json={"candidate": candidate})


def poster(response: httpx.Response) -> dict[str, Any]:
    assert response.status_code == 200, response.text
    view: dict[str, Any] = response.json()["poster"]
    return view


def test_the_best_candidate_is_the_poster_until_another_one_is_chosen(api: Api, upload: Upload) -> None:
    before = api.get(upload)["poster"]
    assert (before["chosen"], len(before["candidates"])) == (0, 5)
    assert "poster-0.jpg" in before["url"]

    assert "poster-3.jpg" in poster(choose(api, upload, 3))["url"]
    after = api.get(upload)["poster"]
    assert after["chosen"] == 3
    assert "poster-3.jpg" in after["url"]


def test_a_choice_can_be_taken_back(api: Api, upload: Upload) -> None:
    choose(api, upload, 3)
    assert poster(choose(api, upload, None))["chosen"] == 0
    assert api.get(upload)["poster"]["chosen"] == 0


def test_a_choice_teaches_the_ranking_once_per_upload(api: Api, upload: Upload) -> None:
    choose(api, upload, 3)
    learned = api.memory.store.ranking()
    assert learned is not None
    assert learned.picks == 1

    for candidate in (3, 1, None, 2, 4):
        choose(api, upload, candidate)
    assert api.memory.store.ranking() == learned


def test_leaving_the_choice_to_the_ranking_teaches_nothing(api: Api, upload: Upload) -> None:
    assert poster(choose(api, upload, None))["chosen"] == 0
    assert api.memory.store.ranking() is None
    choose(api, upload, 1)
    assert api.memory.store.ranking() is not None


def test_a_choice_among_other_candidates_says_nothing_about_new_ones(api: Api, upload: Upload) -> None:
    choose(api, upload, 3)
    task = api.memory.store.tasks[upload.upload_id, 0, "poster"]
    assert task.outputs
    renamed = structs.replace(task.outputs, prefix=task.outputs.prefix + "second/")
    api.memory.store.tasks[upload.upload_id, 0, "poster"] = structs.replace(task, outputs=renamed)

    assert api.get(upload)["poster"]["chosen"] == 0


def test_choices_order_the_candidates_of_later_uploads(api: Api) -> None:
    """Owners with one taste choose through the API; then the ranking puts first what they would have chosen."""
    dice, taste = random.Random(7), Weights(values=TASTE)

    def liked(candidates: list[Features], weights: Weights) -> int:
        return max(range(len(candidates)), key=lambda n: ranking.score(candidates[n], weights))

    def agreement(weights: Weights) -> float:
        rounds = [[features(probe) for _ in range(5)] for probe in map(random.Random, range(300))]
        return sum(liked(r, weights) == liked(r, taste) for r in rounds) / len(rounds)

    for _ in range(150):
        candidates = [features(dice) for _ in range(5)]
        choose(api, offered(api, candidates), liked(candidates, taste))

    learned = api.memory.store.ranking()
    assert learned is not None
    assert learned.picks == 150
    assert agreement(learned) > 0.7 > 0.5 > agreement(Weights())


@pytest.mark.parametrize("candidate", [5, -1])
def test_a_candidate_that_there_is_not_is_refused(api: Api, upload: Upload, candidate: int) -> None:
    assert "from 0 to 4" in fields(choose(api, upload, candidate))["candidate"]


@pytest.mark.parametrize("candidate", ["2", 1.5, True, [1]])
def test_what_is_no_number_is_refused(api: Api, upload: Upload, candidate: object) -> None:
    assert "or null" in fields(choose(api, upload, candidate))["candidate"]


def test_a_body_without_a_candidate_is_refused(api: Api, upload: Upload) -> None:
    response = api.client.post(f"/api/uploads/{upload.upload_id}/poster", json={})
    assert "is required" in fields(response)["candidate"]


def test_before_there_are_candidates_there_is_nothing_to_choose(api: Api, upload: Upload) -> None:
    del api.memory.store.tasks[upload.upload_id, 0, "poster"]
    assert "(yet)" in problem(choose(api, upload, 1), 409, "not_ready")["detail"]


def test_an_upload_without_a_poster_has_none_to_choose(api: Api, upload: Upload) -> None:
    del api.memory.store.tasks[upload.upload_id, 0, "poster"]
    row = structs.replace(upload, plan=Plan(profile="transcript", tasks=()))
    api.memory.store.uploads[upload.upload_id] = row
    assert "no poster" in problem(choose(api, upload, 1), 409, "not_ready")["detail"]


def test_an_upload_that_there_is_not_is_unknown(api: Api) -> None:
    response = api.client.post(f"/api/uploads/{'0' * 32}/poster", json={"candidate": 1})
    problem(response, 404, "unknown_upload")
