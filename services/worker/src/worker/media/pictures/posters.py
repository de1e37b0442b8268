"""Which frames of a video could be its poster, and how good each one is."""

from collections.abc import Callable

from msgspec import Struct

from reelworks.domain import ranking
from reelworks.domain.ranking import Features, Weights
from worker.media.pictures import metrics
from worker.media.pictures.metrics import Measured
from worker.media.pictures.sampling import Source, sample
from worker.media.pictures.stills import undecodable

LOOKED_AT = 40
"""Frames of a video that are measured."""
OFFERED = 5
"""Candidates that its owner sees."""


class Candidate(Struct, frozen=True, kw_only=True):
    """One frame that is worth showing. `key`: it is a keyframe."""

    time_ms: int
    score: float
    features: Features
    key: bool


def candidates(
    source: Source, weights: Weights, progress: Callable[[float], None] = lambda _: None
) -> tuple[Candidate, ...]:
    """Up to five that differ, the best first. Raises `Permanent` (`undecodable_video`) for none."""
    frames = sample(source, metrics.layout(source.stream), LOOKED_AT, enough=OFFERED, progress=progress)
    if not frames:
        raise undecodable(source)
    measured = metrics.measure(frames, metrics.size_for(source.stream), source.duration_ms)
    return _best(measured, weights)


def _best(measured: tuple[Measured, ...], weights: Weights) -> tuple[Candidate, ...]:
    scores = [ranking.score(found.features, weights) for found in measured]

    def apart(one: int, other: int) -> float:
        return metrics.distance(measured[one].look, measured[other].look)

    return tuple(
        Candidate(
            time_ms=measured[index].time_ms,
            score=scores[index],
            features=measured[index].features,
            key=measured[index].key,
        )
        for index in ranking.shortlist(scores, apart, OFFERED)
    )
