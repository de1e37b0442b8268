"""`options` of `POST /api/uploads`."""

from typing import Any

import pytest

from reelworks.domain.options import Options
from tests.unit.upload_api.api import Api, fields, problem


def test_options_are_kept_and_shown_as_they_were_given(api: Api) -> None:
    given = {"heights": [720, 360], "crf": 20, "loudnessLufs": -16, "captions": False}
    upload = api.created(options=given)
    assert upload.options == Options(heights=(720, 360), crf=20, loudness_lufs=-16.0, captions=False)
    view = api.get(upload)
    assert (view["profile"], view["options"]) == ("default", given)


def test_no_options_and_empty_options_are_the_same(api: Api) -> None:
    assert api.created(options={}).options is None
    assert api.get(api.created())["options"] is None


@pytest.mark.parametrize(
    ("options", "field", "sentence"),
    [
        ({"heights": [500]}, "options.heights", "must be a list of different heights out of 360, 480"),
        ({"heights": "720"}, "options.heights", "must be a list of different heights"),
        ({"crf": True}, "options.crf", "must be a whole number from 10 to 40"),
        ({"segmentSeconds": 5}, "options.segmentSeconds", "an even number"),
        ({"width": 3}, "options.width", "is not a field of options. There are: heights, codec"),
        ({"mp4": [2160]}, "options.mp4", "the renditions are 360, 720, 1080"),
        ([], "options", "must be an object"),
        ("fast", "options", "must be an object"),
    ],
)
def test_what_is_wrong_is_named_with_what_is_allowed(
    api: Api, options: Any, field: str, sentence: str
) -> None:
    assert sentence in fields(api.create(options=options))[field]


def test_all_that_is_wrong_is_named_at_once(api: Api) -> None:
    wrong = fields(api.create(options={"crf": 1, "preset": "placebo", "maxKbps": 1}))
    assert wrong.keys() == {"options.crf", "options.preset", "options.maxKbps"}


def test_options_that_do_not_fit_the_profile_are_refused(api: Api) -> None:
    assert "audio has none" in fields(api.create(profile="audio", options={"crf": 20}))["options.crf"]


def test_an_unknown_profile_is_told_before_its_options(api: Api) -> None:
    assert fields(api.create(profile="nope", options={"crf": 20})).keys() == {"profile"}


def test_other_options_are_another_request(api: Api) -> None:
    key = {"Idempotency-Key": "k"}
    first = api.create(headers=key, options={"crf": 20})
    assert first.status_code == 201
    assert api.create(headers=key, options={"crf": 20}).json()["uploadId"] == first.json()["uploadId"]
    problem(api.create(headers=key, options={"crf": 21}), 422, "idempotency_key_reused")
