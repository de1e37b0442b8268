"""When a file counts as cut off."""

import pytest
from msgspec import structs

from tests.unit.worker.media.encode.builders import report, video
from worker.media.encode.extent import cut_short, declared_end_ms


@pytest.mark.parametrize(
    ("declared", "encoded", "refused"),
    [
        (4_000, 4_000, False),
        (4_000, 3_000, False),
        (4_000, 2_999, True),
        (100_000, 98_000, False),
        (100_000, 97_999, True),
        (None, 0, False),
        (4_000, 5_000, False),
    ],
)
def test_a_second_or_two_percent_may_be_missing(declared: int | None, encoded: int, refused: bool) -> None:
    error = cut_short(declared, encoded)

    assert (error is not None) == refused
    assert error is None or error.code == "truncated"


def test_a_stream_ends_where_its_own_duration_says() -> None:
    assert declared_end_ms(report(), video(start_ms=500, duration_ms=3_000)) == 3_500


def test_the_files_duration_counts_only_for_its_only_stream() -> None:
    unknown = video(duration_ms=None)

    assert declared_end_ms(report(unknown), unknown) is None
    assert declared_end_ms(structs.replace(report(unknown), audio=()), unknown) == 20_020
