"""The ladder fitted to the pictures: how much each rung may spend, and which rungs add nothing to the one below.

Pure. What is measured comes from a probe that encodes a few seconds in every size with x264's fastest preset, at the
rate factor of the rung. That preset spends more bits and makes smaller errors than those that are used; the constants
below say by how much, as measured on seven kinds of pictures (tests, noise, fractals sharp, soft and grainy, slides,
gradients) against `fast`.
"""

import math
from collections.abc import Iterator

from msgspec import Struct, structs

from reelworks.domain.plan import Rung, VideoPlan

SPENDS = 0.4
"""What is spent for each bit of the probe: 0.2 to 0.5, most in the large sizes; smooth gradients alone need 1.3."""
ERRS = 1.5
"""Squared error for each of the probe: 1.2 to 2.8, and more where next to nothing happens."""

CEILING_BITS = 0.13
"""A pixel and frame, at rate factor 23: 8 Mbit/s at 1080p, 35 at 2160p, which is what large sites recommend."""
PLAIN_FPS = 30.0
"""Frames beyond so many a second differ little from their neighbours: they count half."""
CEILING_CRF = 23
CRF_PER_DOUBLING = 6
"""Of the rate."""
FLOOR = 1 / 3
"""Of the ceiling. A few seconds of a film may all be quiet ones; the one scene with action must still look good."""
FEW_KBPS = 100
UNSEEN = 1.06
"""Times the error: a quarter of a decibel, which nobody sees."""


class RungNeeds(Struct, frozen=True, kw_only=True):
    """Of the probe, for one rung. `kbps`: of its busiest sample, in groups of pictures as planned. `error`: mean
    squared error of luma, 8-bit steps, against the picture that went into the encoder.
    """

    name: str
    kbps: float
    error: float


class Complexity(Struct, frozen=True, kw_only=True):
    """`rungs` as in the plan, smallest first. `losses`: squared error of showing the picture of rung n, not encoded, in
    the size of rung n + 1: one less than there are rungs.
    """

    rungs: tuple[RungNeeds, ...]
    losses: tuple[float, ...] = ()


def fitted(plan: VideoPlan, found: Complexity, keep: frozenset[str] = frozenset()) -> VideoPlan:
    """The plan with a cap for each rung that has none, and without rungs that would not look better than the one below
    at their rate. `keep`: names of rungs that somebody asked for. The lowest one always stays.
    """
    capped = tuple(
        structs.replace(rung, max_kbps=rung.max_kbps or _cap(rung, needs, plan))
        for rung, needs in zip(plan.rungs, found.rungs, strict=True)
    )
    return structs.replace(plan, rungs=tuple(_worth_it(capped, found, keep)))


def ceiling_kbps(rung: Rung, frames_per_s: float) -> float:
    """More is not spent, however busy the pictures are."""
    frames = min(frames_per_s, PLAIN_FPS) + max(0.0, frames_per_s - PLAIN_FPS) / 2
    bits = CEILING_BITS * math.pow(2, (CEILING_CRF - rung.crf) / CRF_PER_DOUBLING)
    return rung.width * rung.height * max(frames, PLAIN_FPS) * bits / 1000


def _cap(rung: Rung, needs: RungNeeds, plan: VideoPlan) -> int:
    """What the probe spent is twice to four times the average that is to be expected: room for busy seconds."""
    ceiling = ceiling_kbps(rung, float(plan.grid.fps))
    return max(FEW_KBPS, round(min(ceiling, max(needs.kbps, FLOOR * ceiling))))


def _worth_it(rungs: tuple[Rung, ...], found: Complexity, keep: frozenset[str]) -> Iterator[Rung]:
    """Each rung is compared with the last one that stays; what is lost in between adds up."""
    below = 0
    yield rungs[0]
    for at in range(1, len(rungs)):
        if rungs[at].name in keep or not _same(rungs, found, below, at):
            below = at
            yield rungs[at]


def _same(rungs: tuple[Rung, ...], found: Complexity, below: int, at: int) -> bool:
    """Whether the lower one, encoded at the upper one's rate and scaled up, is as near to the picture as the upper, or
    so little farther that nobody sees it.
    """
    rate = min(SPENDS * found.rungs[at].kbps, rungs[at].max_kbps or math.inf)
    lower = sum(found.losses[below:at]) + _error(found.rungs[below], rate)
    return lower <= UNSEEN * _error(found.rungs[at], rate)


def _error(needs: RungNeeds, rate: float) -> float:
    """Twice the bits, half the error: what x264 does at these rates, by and large (it was 0.9 to 2)."""
    return ERRS * needs.error * SPENDS * needs.kbps / max(rate, 1e-9)
