"""One sane rate from two that cannot be believed."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.media import rate as rates

ANYTHING = st.text(max_size=12) | st.builds("{}/{}".format, st.integers(), st.integers())


@pytest.mark.parametrize(
    ("average", "guess", "constant", "variable"),
    [
        ("25/1", "25/1", "25/1", False),
        ("30000/1001", "30000/1001", "30000/1001", False),
        ("2997/100", "30/1", "30000/1001", False),
        ("24/1", "24000/1001", "24/1", False),
        ("25/1", "50/1", "25/1", False),
        ("640000/25749", "25/1", "25/1", False),
        ("400/19", "30/1", "30/1", True),
        ("29869/1000", "90000/1", "29869/1000", False),
        ("59/2", "120/1", "30000/1001", True),
        ("15/1", "15/1", "15/1", False),
        ("0/0", "90000/1", "30/1", False),
        ("0/0", "0/0", "30/1", False),
        ("600/1", "25/1", "25/1", False),
        ("1000/1", "1000/1", "30/1", False),
        ("120/1", "120/1", "60/1", False),
        ("120000/1001", "120000/1001", "60000/1001", False),
        ("240/1", "240/1", "60/1", False),
        ("90/1", "90/1", "45/1", False),
        ("100/1", "100/1", "50/1", False),
        ("1/60", "1/60", "2/1", False),
        ("1/1", "1/1", "2/1", False),
        ("3/2", "3/2", "3/1", False),
        ("2/1", "2/1", "2/1", False),
        ("-25/1", "25/0", "30/1", False),
    ],
)
def test_rates(average: str, guess: str, constant: str, variable: bool) -> None:
    rate = rates.rate(average, guess)
    assert variable is rate.variable
    assert abs(rate.constant / Fraction(constant) - 1) < Fraction(1, 100_000)


@pytest.mark.parametrize("standard", rates.STANDARD)
def test_standard_rates_are_kept_exactly(standard: Fraction) -> None:
    assert rates.snapped(standard) == standard
    assert rates.snapped(standard * Fraction(10_003, 10_000)) == standard


@given(average=ANYTHING, guess=ANYTHING)
def test_any_two_texts_make_a_rate_in_bounds(average: str, guess: str) -> None:
    rate = rates.rate(average, guess)
    assert rates.LOWEST <= rate.constant <= rates.HIGHEST
    assert Fraction(rates.text(rate.constant)) == rate.constant


@given(st.fractions(min_value=Fraction(1, 100), max_value=480))
def test_an_even_rate_is_kept_thinned_or_repeated(fps: Fraction) -> None:
    """Each frame keeps its place: the one rate is a multiple of the other."""
    rate = rates.rate(rates.text(fps), rates.text(fps))
    assert not rate.variable
    ratio = max(fps / rate.constant, rate.constant / fps)
    assert float(ratio) == pytest.approx(round(ratio), rel=0.06 if fps < 1 else 0.002)
