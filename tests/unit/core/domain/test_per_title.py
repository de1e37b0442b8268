"""The ladder fitted to the pictures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from reelworks.domain import timeline
from reelworks.domain.per_title import FLOOR, Complexity, RungNeeds, ceiling_kbps, fitted
from reelworks.domain.plan import MediaSummary, Rung, VideoPlan, make_plan
from reelworks.domain.profile import ARCHIVE, DEFAULT, PREVIEW

SIZES = {"360": (640, 360), "720": (1280, 720), "1080": (1920, 1080), "2160": (3840, 2160)}
FILM = MediaSummary(
    format="mov", has_audio=True, has_video=True, duration_ms=60_000, width=1920, height=1080, frame_rate="25"
)


def ladder(*names: str, rate: str = "25", crf: int = 23, max_kbps: int | None = None) -> VideoPlan:
    rungs = tuple(
        Rung(name=n, width=SIZES[n][0], height=SIZES[n][1], crf=crf, max_kbps=max_kbps) for n in names
    )
    return VideoPlan(rungs=rungs, grid=timeline.grid(rate, 60_000, 4), preset="fast")


def measured(plan: VideoPlan, kbps: float = 5_000, error: float = 2, loss: float = 5) -> Complexity:
    """Rates in proportion to pixels, the same error everywhere."""
    top = plan.rungs[-1]
    share = [r.width * r.height / (top.width * top.height) for r in plan.rungs]
    rungs = tuple(
        RungNeeds(name=r.name, kbps=kbps * s, error=error) for r, s in zip(plan.rungs, share, strict=True)
    )
    return Complexity(rungs=rungs, losses=(loss,) * (len(rungs) - 1))


def caps(plan: VideoPlan, found: Complexity) -> list[int | None]:
    """Of every rung, also of those that add nothing."""
    return [rung.max_kbps for rung in fitted(plan, found, frozenset(names(plan))).rungs]


def names(plan: VideoPlan) -> list[str]:
    return [rung.name for rung in plan.rungs]


def test_a_rung_may_spend_what_its_pictures_need() -> None:
    plan = ladder("360", "720", "1080")
    assert caps(plan, measured(plan, kbps=5_000)) == [556, 2222, 5_000]


def test_busy_pictures_get_no_more_than_the_ceiling_and_quiet_ones_a_floor() -> None:
    plan = ladder("720", "1080")
    ceilings = [ceiling_kbps(rung, 25) for rung in plan.rungs]
    assert [round(c / 100) for c in ceilings] == [36, 81]
    assert caps(plan, measured(plan, kbps=90_000)) == [round(c) for c in ceilings]
    assert caps(plan, measured(plan, kbps=20)) == [round(c * FLOOR) for c in ceilings]


def test_the_ceiling_is_what_large_sites_recommend() -> None:
    (top,) = ladder("1080").rungs
    (large,) = ladder("2160").rungs
    assert 7_500 < ceiling_kbps(top, 30) < 8_500
    assert 30_000 < ceiling_kbps(large, 30) < 35_000
    assert ceiling_kbps(top, 60) == pytest.approx(1.5 * ceiling_kbps(top, 30))
    assert ceiling_kbps(top, 12) == ceiling_kbps(top, 30)
    assert ceiling_kbps(structs.replace(top, crf=17), 30) == pytest.approx(2 * ceiling_kbps(top, 30))


def test_a_cap_that_somebody_asked_for_stays() -> None:
    plan = ladder("360", "720", max_kbps=777)
    assert caps(plan, measured(plan)) == [777, 777]


def test_soft_pictures_need_no_large_rungs() -> None:
    """Scaled up, the lower one loses nothing; at the same rate it is encoded better."""
    plan = ladder("360", "720", "1080")
    soft = structs.replace(measured(plan, loss=0.2), losses=(6.0, 0.2))
    assert names(fitted(plan, soft)) == ["360", "720"]
    assert names(fitted(plan, measured(plan, loss=0.0))) == ["360"]


def test_detail_keeps_every_rung() -> None:
    plan = ladder("360", "720", "1080")
    assert names(fitted(plan, measured(plan, error=2, loss=5))) == names(plan)
    still = measured(plan, kbps=50, error=0.05, loss=9)
    assert names(fitted(plan, still)) == names(plan)


def test_at_a_rate_that_is_too_low_for_it_a_large_rung_is_worse_than_a_small_one() -> None:
    plan = ladder("720", "1080")
    busy = measured(plan, kbps=200_000, error=4, loss=20)
    assert names(fitted(plan, busy)) == ["720"]
    assert names(fitted(plan, measured(plan, kbps=20_000, error=4, loss=20))) == ["720", "1080"]


def test_what_somebody_asked_for_is_never_dropped() -> None:
    plan = ladder("360", "720", "1080")
    assert names(fitted(plan, measured(plan, loss=0.0), frozenset({"720"}))) == ["360", "720"]
    assert names(fitted(plan, measured(plan, loss=0.0), frozenset({"1080"}))) == ["360", "1080"]


POSITIVE = st.floats(0, 1e6)


@given(st.data())
def test_whatever_was_measured_a_ladder_comes_out(data: st.DataObject) -> None:
    plan = ladder(*data.draw(st.sampled_from([("360",), ("360", "1080"), tuple(SIZES)])))
    rungs = tuple(
        RungNeeds(name=r.name, kbps=data.draw(POSITIVE), error=data.draw(POSITIVE)) for r in plan.rungs
    )
    losses = tuple(data.draw(POSITIVE) for _ in rungs[1:])
    keep = frozenset(data.draw(st.lists(st.sampled_from(list(SIZES)))))
    after = fitted(plan, Complexity(rungs=rungs, losses=losses), keep)
    assert after.rungs[0].name == "360"
    assert names(after) == [name for name in names(plan) if name in names(after)]
    assert keep & set(names(plan)) <= set(names(after))
    for rung in after.rungs:
        assert rung.max_kbps
        assert 100 <= rung.max_kbps <= max(100, ceiling_kbps(rung, 25) + 1)
    assert structs.replace(after, rungs=plan.rungs) == plan


def test_only_profiles_that_want_it_are_fitted_and_downloads_keep_their_rungs() -> None:
    asked: list[frozenset[str]] = []

    def fit(plan: VideoPlan, keep: frozenset[str]) -> VideoPlan:
        asked.append(keep)
        return structs.replace(plan, rungs=plan.rungs[:2])

    plan = make_plan(FILM, DEFAULT, fit=fit)
    assert plan.video
    assert names(plan.video) == ["360", "720"]
    assert any(task.name == "mp4-720" for task in plan.tasks)
    make_plan(FILM, ARCHIVE, fit=fit)
    make_plan(FILM, PREVIEW, fit=fit)
    make_plan(structs.replace(FILM, has_video=False, width=0, height=0, frame_rate=None), DEFAULT, fit=fit)
    assert asked == [frozenset({"720"}), frozenset({"1080"})]
