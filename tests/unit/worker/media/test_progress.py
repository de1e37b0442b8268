from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from worker.media.progress import Progress, ProgressLines

REPORT = b"""frame=25
fps=0.00
stream_0_0_q=28.0
bitrate=  85.4kbits/s
total_size=10669
out_time_us=1000000
out_time_ms=1000000
out_time=00:00:01.000000
dup_frames=0
drop_frames=0
speed=1.96x
progress=continue
"""


def heard(*pieces: bytes) -> list[Progress]:
    events: list[Progress] = []
    lines = ProgressLines(events.append)
    for piece in pieces:
        lines.feed(piece)
    return events


def test_a_report_becomes_an_event() -> None:
    assert heard(REPORT) == [
        Progress(out_time_us=1_000_000, frame=25, speed=1.96, total_bytes=10_669, finished=False)
    ]


@given(st.lists(st.integers(0, 2 * len(REPORT)), max_size=20))
def test_reports_may_arrive_in_any_pieces(cuts: list[int]) -> None:
    whole = REPORT + REPORT.replace(b"continue", b"end")
    edges = [0, *sorted(cuts), len(whole)]

    events = heard(*(whole[a:b] for a, b in pairwise(edges)))

    assert [event.finished for event in events] == [False, True]
    assert {event.out_time_us for event in events} == {1_000_000}


def test_what_ffmpeg_does_not_know_yet_counts_as_nothing() -> None:
    (event,) = heard(b"out_time_us=N/A\ntotal_size=N/A\nspeed=N/A\nprogress=continue\n")

    assert event == Progress(out_time_us=0, frame=0, speed=None, total_bytes=0, finished=False)


def test_the_position_moves_only_with_the_numbers() -> None:
    lines = ProgressLines(lambda _: None)
    lines.feed(REPORT)
    before = lines.position
    lines.feed(REPORT.replace(b"fps=0.00", b"fps=9.00"))
    assert lines.position == before

    lines.feed(REPORT.replace(b"frame=25", b"frame=26"))
    assert lines.position != before


@given(st.lists(st.binary(max_size=10_000), max_size=20))
def test_any_bytes_are_survived(pieces: list[bytes]) -> None:
    heard(*pieces)
