"""Which picture of a video people would choose as its poster: a linear model that learns from their choices.

Pure arithmetic. The worker scores candidates with it; whoever stores an owner's choice calls `updated`.
"""

import math
from collections.abc import Callable, Sequence

from msgspec import Struct

SCHEMA = 1
"""Changes with the set of features or their meaning. Weights of another schema are worth nothing."""


class Features(Struct, frozen=True, kw_only=True):
    """What is known of one candidate, each from 0 to 1.

    `sharpness`: variance of the Laplacian, on a logarithmic scale. `exposure`: 1 at a mean luma of one half, 0 at
    black and at white. `contrast`: spread of luma between its 5th and 95th percentile. `colour`: colourfulness
    after Hasler and Süsstrunk (2003). `content`: share of the picture that is not one even tone. `inside`: 0 at
    either end of the video, 1 from a tenth of it inwards. `position`: 0 at the beginning, 1 at the end. `change`:
    how different the neighbours in time look.
    """

    sharpness: float
    exposure: float
    contrast: float
    colour: float
    content: float
    inside: float
    position: float
    change: float


Vector = tuple[float, ...]
NAMES = Features.__struct_fields__

DEFAULTS: Vector = (
    2.0,  # sharpness: nobody chooses the blurred one
    1.5,  # exposure: too dark and too bright are the next most frequent reasons to refuse a picture
    1.0,  # contrast: haze and fades have none
    0.5,  # colour: liked, but black-and-white films exist
    2.0,  # content: black, white and title cards are no posters
    0.5,  # inside: logos and credits are at the ends
    -0.2,  # position: of equals the earlier one gives less away
    -0.3,  # change: a picture in the middle of a scene stands for more of the video than one at a cut
)
"""In the order of `Features`. What a choice is worth to learn is a difference of about 1 in score."""

RATE = 0.5
"""Size of the first steps: features differ by about 0.3, so a surprising choice moves a weight by about 0.1."""
SETTLES_AFTER = 50
"""After so many choices the steps have shrunk to 1/√2: the many outweigh the last."""
PULL = 0.01
"""Towards the defaults. Few or contradicting choices must not leave a model that is worse than none."""
REACH = 3.0
"""How far a weight may ever be from its default, whatever people (or robots) click."""


class Weights(Struct, frozen=True, kw_only=True):
    """The model. `values` in the order of `Features`; `picks`: how many choices it has learned from."""

    values: Vector = DEFAULTS
    picks: int = 0
    schema: int = SCHEMA

    @property
    def usable(self) -> bool:
        """False for a row of an older release, or a damaged one."""
        right = self.schema == SCHEMA and len(self.values) == len(NAMES)
        return right and all(math.isfinite(value) for value in self.values)


def vector(features: Features) -> Vector:
    """The numbers in the order of `NAMES`; what is not within 0 to 1 is put there."""
    raw = (getattr(features, name) for name in NAMES)
    return tuple(min(1.0, max(0.0, value)) if math.isfinite(value) else 0.0 for value in raw)


def score(features: Features, weights: Weights) -> float:
    """The higher, the better; only differences mean anything: 1 apart is odds of e to 1."""
    values = weights.values if weights.usable else DEFAULTS
    return _dot(values, vector(features))


def updated(weights: Weights, chosen: Features, shown: Sequence[Features]) -> Weights:
    """The model after someone chose `chosen` out of `shown` (which may contain it).

    One step of gradient ascent on the Bradley-Terry likelihood that the choice beats each of the others, less a pull
    towards the defaults. A choice that was expected changes little, one without alternatives nothing.
    """
    known = weights if weights.usable else Weights()
    best = vector(chosen)
    others = [other for other in map(vector, shown) if other != best]
    if not others:
        return known
    gradient = _gradient(known.values, best, others)
    rate = RATE / math.sqrt(1 + known.picks / SETTLES_AFTER)
    values = tuple(
        _within_reach(value + rate * (slope - PULL * (value - default)), default)
        for value, slope, default in zip(known.values, gradient, DEFAULTS, strict=True)
    )
    return Weights(values=values, picks=known.picks + 1)


def _gradient(values: Vector, best: Vector, others: Sequence[Vector]) -> Vector:
    """Mean over the pairs: by how much the choice surprised, in the direction in which the two differ."""
    total = [0.0] * len(values)
    for other in others:
        difference = [a - b for a, b in zip(best, other, strict=True)]
        surprise = 1 / (1 + math.exp(_dot(values, difference)))
        total = [t + surprise * d for t, d in zip(total, difference, strict=True)]
    return tuple(t / len(others) for t in total)


def _within_reach(value: float, default: float) -> float:
    return min(default + REACH, max(default - REACH, value))


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


SAME = 0.02
"""Below this distance two candidates look the same to people."""


def shortlist(scores: Sequence[float], distance: Callable[[int, int], float], count: int) -> tuple[int, ...]:
    """Indices of up to `count` good candidates that differ, the best first, the rest by score.

    `distance`: from 0 (identical) to 1. The best is always there; each next one is, among the better half, the one
    farthest from all that were taken (greedy max-min). Taken from all, the farthest would be the black frames.
    """
    ranked = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
    pool = ranked[: max(count, (len(ranked) + 1) // 2)]
    taken = pool[:1]
    while len(taken) < min(count, len(pool)):
        apart = {i: min(distance(i, t) for t in taken) for i in pool if i not in taken}
        farthest = max(apart, key=lambda index: apart[index])
        if apart[farthest] < SAME:
            break
        taken.append(farthest)
    return tuple(sorted(taken, key=ranked.index))
