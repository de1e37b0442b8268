"""The ranking, and that it learns: on synthetic owners whose taste is known."""

import math
import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from reelworks.domain.ranking import (
    DEFAULTS,
    NAMES,
    REACH,
    Features,
    Vector,
    Weights,
    score,
    shortlist,
    updated,
    vector,
)

PLAIN = Features(
    sharpness=0.5, exposure=0.5, contrast=0.5, colour=0.5, content=0.5, inside=0.5, position=0.5, change=0.5
)
FIVE = 5
TASTE: Vector = (1.0, 0.5, 0.5, 2.5, 1.0, 0.0, 2.0, 1.0)
"""Someone who likes colour, late and lively moments, against the defaults."""


def picture(dice: random.Random) -> Features:
    return Features(**{name: dice.random() for name in NAMES})


def pick(dice: random.Random, taste: Vector, shown: Sequence[Features]) -> Features:
    """Who chooses by Bradley-Terry: mostly the best, sometimes not."""
    liking = [math.exp(2 * worth(taste, features)) for features in shown]
    return dice.choices(shown, weights=liking)[0]


def worth(taste: Vector, features: Features) -> float:
    return sum(a * b for a, b in zip(taste, vector(features), strict=True))


def regret(weights: Weights, taste: Vector, dice: random.Random, rounds: int = 300) -> float:
    """How much worse, in the eyes of the owner, the model's first choice is than the best, on average."""
    total = 0.0
    for _ in range(rounds):
        shown = [picture(dice) for _ in range(FIVE)]
        first = max(shown, key=lambda features: score(features, weights))
        total += max(worth(taste, f) for f in shown) - worth(taste, first)
    return total / rounds


def learned(taste: Vector, picks: int, seed: int = 1) -> Weights:
    dice, weights = random.Random(seed), Weights()
    for _ in range(picks):
        shown = [picture(dice) for _ in range(FIVE)]
        weights = updated(weights, pick(dice, taste, shown), shown)
    return weights


def angle(one: Vector, other: Vector) -> float:
    """Cosine: scores are free up to a factor."""
    return sum(a * b for a, b in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))


def test_regret_falls_with_the_choices_seen() -> None:
    regrets = [regret(learned(TASTE, picks), TASTE, random.Random(9)) for picks in (0, 20, 100, 500)]

    assert regrets == sorted(regrets, reverse=True)
    assert regrets[-1] < regrets[0] / 5


def test_a_hidden_preference_is_recovered() -> None:
    before, after = angle(DEFAULTS, TASTE), angle(learned(TASTE, 500).values, TASTE)

    assert before < 0.75
    assert after > 0.95


def test_owners_of_the_default_taste_lose_little() -> None:
    assert regret(learned(DEFAULTS, 500), DEFAULTS, random.Random(9)) < 0.05


def test_random_choices_teach_almost_nothing() -> None:
    indifferent = learned((0.0,) * len(DEFAULTS), 500)

    # Nobody prefers anything: the weights shrink, but nothing that never mattered begins to.
    assert all(
        -1 < value < default + 0.5 for value, default in zip(indifferent.values, DEFAULTS, strict=True)
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_choices_hardly_matters(seed: int) -> None:
    dice = random.Random(0)
    rounds = [[picture(dice) for _ in range(FIVE)] for _ in range(300)]
    choices = [(pick(dice, TASTE, shown), shown) for shown in rounds]

    def after(order: list[tuple[Features, list[Features]]]) -> Vector:
        weights = Weights()
        for chosen, shown in order:
            weights = updated(weights, chosen, shown)
        return weights.values

    shuffled = random.Random(seed).sample(choices, len(choices))
    assert angle(after(choices), after(shuffled)) > 0.97


def test_what_was_chosen_scores_better_afterwards() -> None:
    colourful = structs.replace(PLAIN, colour=1.0, sharpness=0.3)
    after = updated(Weights(), colourful, [PLAIN, colourful])

    assert score(colourful, after) - score(PLAIN, after) > score(colourful, Weights()) - score(
        PLAIN, Weights()
    )
    assert after.picks == 1


def test_a_choice_without_alternative_teaches_nothing() -> None:
    assert updated(Weights(), PLAIN, [PLAIN, PLAIN]) == Weights()
    assert updated(Weights(), PLAIN, []) == Weights()


def test_an_expected_choice_moves_less_than_a_surprising_one() -> None:
    good, bad = structs.replace(PLAIN, content=1.0), structs.replace(PLAIN, content=0.0)

    def moved(chosen: Features) -> float:
        return math.dist(updated(Weights(), chosen, [good, bad]).values, DEFAULTS)

    assert moved(good) < moved(bad)


UNIT = st.floats(-1e300, 1e300) | st.sampled_from([math.nan, math.inf, -math.inf])
ANY = st.builds(Features, **dict.fromkeys(NAMES, UNIT))


@given(st.lists(st.tuples(ANY, st.lists(ANY, max_size=5)), max_size=20))
def test_whatever_is_clicked_weights_stay_within_reach(
    choices: list[tuple[Features, list[Features]]],
) -> None:
    weights = Weights()
    for chosen, shown in choices:
        weights = updated(weights, chosen, shown)

    assert weights.usable
    assert all(abs(v - d) <= REACH + 1e-9 for v, d in zip(weights.values, DEFAULTS, strict=True))


def test_a_robot_that_always_takes_the_worst_is_bounded() -> None:
    dice, weights = random.Random(3), Weights()
    for _ in range(5_000):
        shown = [picture(dice) for _ in range(FIVE)]
        weights = updated(weights, min(shown, key=lambda f: score(f, Weights())), shown)

    assert all(abs(v - d) <= REACH for v, d in zip(weights.values, DEFAULTS, strict=True))


@pytest.mark.parametrize(
    "weights", [Weights(schema=0), Weights(values=(1.0,)), Weights(values=(math.nan,) * len(NAMES))]
)
def test_weights_of_another_release_count_as_the_defaults(weights: Weights) -> None:
    other = structs.replace(PLAIN, colour=0.9)

    assert score(PLAIN, weights) == score(PLAIN, Weights())
    assert updated(weights, PLAIN, [PLAIN, other]).picks == 1


def line(places: Sequence[float]) -> Callable[[int, int], float]:
    """Distances of candidates that lie on a line from 0 to 1."""
    return lambda one, other: abs(places[one] - places[other])


def test_the_best_is_always_first() -> None:
    assert shortlist([0.1, 0.9, 0.5], line([0.0, 0.5, 1.0]), 2)[0] == 1


def test_twins_are_shown_once() -> None:
    assert shortlist([0.9, 0.8, 0.7], line([0.5, 0.5, 0.9]), 3) == (0, 2)


def test_the_odd_one_out_is_not_shown_if_it_is_bad() -> None:
    scores = [0.9, 0.8, 0.7, 0.6, 0.1, 0.0]

    assert shortlist(scores, line([0.1, 0.2, 0.3, 0.4, 0.9, 1.0]), 3) == (0, 1, 2)


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(0, 1)), max_size=40), st.integers(1, 6))
def test_a_shortlist_is_short_ranked_and_varied(candidates: list[tuple[float, float]], count: int) -> None:
    scores, places = [c[0] for c in candidates], [c[1] for c in candidates]
    taken = shortlist(scores, line(places), count)

    assert len(taken) == len(set(taken)) <= count
    assert [scores[i] for i in taken] == sorted((scores[i] for i in taken), reverse=True)
    assert bool(taken) == bool(candidates)
