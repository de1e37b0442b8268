from pathlib import Path

import pytest

from reelworks.embedded.__main__ import parse
from reelworks.embedded.workshop import CLIP, Options


def test_the_page_of_the_demo_is_where_the_documentation_says() -> None:
    assert parse(["demo"]) == ("demo", Options(clip=CLIP, port=8080))


def test_a_smoke_run_disturbs_nobody_on_a_fixed_port() -> None:
    assert parse(["smoke"]) == ("smoke", Options(clip=CLIP, port=None))


def test_every_option_is_passed_on() -> None:
    arguments = [
        "smoke",
        "--clip",
        "a.mp4",
        "--port",
        "9000",
        "--endpoint",
        "http://localhost:4566",
        "--keep",
    ]
    wanted = Options(clip=Path("a.mp4"), port=9000, endpoint="http://localhost:4566", keep=True)
    assert parse(arguments) == ("smoke", wanted)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "demo|smoke"),
        (["demo", "--port", "high"], "a number from 1 to 65535, not 'high'"),
        (["demo", "--port", "70000"], "a number from 1 to 65535, not '70000'"),
        (["smoke", "--endpoint", "localhost:4566"], "looks like http://127.0.0.1:4566"),
    ],
)
def test_nonsense_is_answered_with_what_is_allowed(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(arguments)
    assert caught.value.code == 2
    assert sentence in capsys.readouterr().err


def test_the_clip_is_in_the_package() -> None:
    assert CLIP.is_file()
    assert CLIP.with_suffix(".txt").read_text(encoding="utf-8").split()
