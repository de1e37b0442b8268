import io
from pathlib import Path

from reelworks.embedded.follower import Follower


def shown(text: str) -> list[tuple[str, str]]:
    lines = [line.partition(" | ") for line in text.splitlines()]
    return [(name.strip(), rest) for name, _, rest in lines]


def test_every_line_carries_the_name_of_its_process(tmp_path: Path) -> None:
    out = io.StringIO()
    with Follower(tmp_path, out):
        (tmp_path / "worker.log").write_text("polls\nworks\n")
        (tmp_path / "upload-api.log").write_text("listens\n")
    assert sorted(shown(out.getvalue())) == [
        ("upload-api", "listens"),
        ("worker", "polls"),
        ("worker", "works"),
    ]


def test_a_line_is_shown_once_and_only_when_it_is_whole(tmp_path: Path) -> None:
    out = io.StringIO()
    log = tmp_path / "worker.log"
    log.write_text("first\nsec")
    follower = Follower(tmp_path, out)
    follower.show_news()
    assert shown(out.getvalue()) == [("worker", "first")]
    with log.open("a") as file:
        file.write("ond\n")
    follower.show_news()
    assert shown(out.getvalue()) == [("worker", "first"), ("worker", "second")]
