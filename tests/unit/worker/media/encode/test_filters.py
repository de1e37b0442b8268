"""The filter graph: what is done to pictures, in which order, and how often."""

from fractions import Fraction

import pytest
from msgspec import structs

from tests.unit.worker.media.encode.builders import PLAN, WHOLE, video
from worker.media.encode.filters import graph
from worker.media.report import VideoStream


def made(picture: VideoStream | None = None, **changes: object) -> str:
    return graph(PLAN, picture or video(), structs.replace(WHOLE, **changes))


def test_the_whole_graph_of_a_plain_picture() -> None:
    assert made() == (
        "[0:0]fps=30000/1001:start_time=0.000000:round=near,trim=end_frame=240,"
        "sidedata=mode=delete:type=DISPLAYMATRIX,"
        "scale=1280:720:flags=bicubic:in_color_matrix=bt709:out_color_matrix=bt709:out_range=tv,"
        "format=yuv420p,setsar=1,"
        "setparams=field_mode=prog:range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709,"
        "split=2[r0][v1];[r0]scale=640:360:flags=bicubic,setsar=1[v0]"
    )


def test_the_picture_is_turned_as_its_report_says() -> None:
    graph = made(video(rotation=90, flipped=True))
    assert ",hflip,transpose=clock,sidedata=mode=delete:type=DISPLAYMATRIX,scale=" in graph


def test_the_default_stream_may_be_any() -> None:
    assert made(video(index=3)).startswith("[0:3]fps=")


def test_fields_are_joined_before_the_grid() -> None:
    assert made(video(field_order="tt")).startswith(
        "[0:0]bwdif=mode=send_frame:parity=auto:deint=interlaced,fps="
    )


@pytest.mark.parametrize("transfer", ["smpte2084", "arib-std-b67"])
def test_hdr_is_made_small_before_it_is_tone_mapped(transfer: str) -> None:
    steps = made(video(color_transfer=transfer)).split(",")

    assert steps.index("scale=1280:720:flags=bicubic") < steps.index("tonemap=hable")
    assert steps.index("tonemap=hable") < steps.index("format=yuv420p")


@pytest.mark.parametrize(
    ("space", "height", "matrix"),
    [(None, 720, "bt709"), (None, 480, "bt601"), ("smpte170m", 720, "auto"), ("bt709", 480, "auto")],
)
def test_the_matrix_is_guessed_only_if_the_file_does_not_say(
    space: str | None, height: int, matrix: str
) -> None:
    assert f":in_color_matrix={matrix}:" in made(video(color_space=space, height=height))


def test_what_precedes_the_chunk_is_cut_off_and_time_restarts() -> None:
    graph = made(skip=Fraction(12))

    assert "fps=30000/1001:start_time=12.000000:round=near,trim=end_frame=240,setpts=PTS-STARTPTS," in graph


def test_a_late_picture_is_put_where_it_belongs() -> None:
    assert made(delay_ms=800).startswith("[0:0]setpts=PTS-STARTPTS+0.800/TB,fps=")


def test_a_short_picture_is_held_before_the_grid() -> None:
    assert made(hold_ms=3_000).startswith("[0:0]tpad=stop_mode=clone:stop_duration=3.000,fps=")


def test_one_rung_needs_no_branch() -> None:
    alone = structs.replace(PLAN, rungs=PLAN.rungs[1:])

    assert graph(alone, video(), WHOLE).endswith("split=1[v0]")
