"""The conclusions of `pychunk bench` from made-up noise."""

import math
import random

import numpy as np
import pytest
from bench_stubs import flat
from hypothesis import given
from hypothesis import strategies as st

from pychunk.benchmark import compare, estimates, measure, report

FIGURES = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=30)


TRIMS = st.sampled_from([estimates.OF_TIMES, estimates.OF_RATIOS])


@given(FIGURES, TRIMS)
def test_a_trimmed_mean_is_that_of_the_figures_kept(values: list[float], trim: tuple[float, float]) -> None:
    """It is compared with an obvious reference that drops the figures one by one from either end."""
    left = sorted(values)
    for _ in range(int(trim[1] * len(values))):
        if len(left) > 2:
            left.pop()
    for _ in range(int(trim[0] * len(values))):
        left.pop(0)
    assert math.isclose(estimates.trimmed_mean(values, trim), sum(left) / len(left), rel_tol=1e-9)


@given(st.lists(st.floats(1, 2), min_size=10, max_size=30), st.floats(10, 1e9), TRIMS, st.randoms())
def test_one_figure_can_be_anything(
    values: list[float], factor: float, trim: tuple[float, float], shuffle: random.Random
) -> None:
    for outlier in (factor, 1 / factor):
        spoiled = [*values[:-1], outlier]
        shuffle.shuffle(spoiled)
        assert 1 <= estimates.trimmed_mean(spoiled, trim) <= 2
        assert estimates.standard_error(spoiled, trim) <= 1


@given(st.lists(st.floats(1, 2), min_size=2, max_size=3, unique=True), TRIMS)
def test_few_figures_are_not_taken_for_certain(values: list[float], trim: tuple[float, float]) -> None:
    assert estimates.standard_error(values, trim) > 0


@given(st.lists(st.tuples(st.floats(0.1, 10), st.floats(0.5, 2)), min_size=2, max_size=20), st.floats(0.5, 2))
def test_what_both_of_a_pair_meet_cancels(pairs: list[tuple[float, float]], factor: float) -> None:
    base = [cost * noise for cost, noise in pairs]
    found = estimates.mean_of_ratios([factor * value for value in base], base)
    assert all(math.isclose(value, factor, rel_tol=1e-6) for value in (found.value, found.low, found.high))


def test_a_single_figure_says_nothing_of_its_noise() -> None:
    assert estimates.ratio_of_means([2.0], [1.0]) == estimates.Ratio(2.0, 0.0, math.inf)


def noisy(random: np.random.Generator, cost: float, rounds: int, deviation: float = 0.04) -> measure.Timings:
    """Return processes that differ by 4 %, as in the noisiest workloads, one in ten in a burst, on a drifting CPU."""
    speed = 1 + 0.3 * random.random(rounds)
    burst = np.where(random.random(rounds) < 0.1, 1 + random.random(rounds), 1)
    cpu = cost * speed * burst * np.exp(deviation * random.normal(size=rounds))
    return measure.Timings(cpu.tolist(), (cpu * 1.1).tolist(), speed.tolist(), [0.1] * rounds)


def test_intervals_hold_what_they_say() -> None:
    random = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        found = compare.by_calibration(noisy(random, 1.1, 10), noisy(random, 1.0, 10))
        held += found.low <= 1.1 <= found.high
    assert held / 400 >= 0.93


@pytest.mark.parametrize(("cost", "least", "most"), [(1.0, 0, 0.002), (0.9, 0, 0), (1.15, 0.95, 1), (1.3, 0.99, 1)])
def test_noise_raises_no_alarm_and_slowdowns_do(cost: float, least: float, most: float) -> None:
    random = np.random.default_rng(2)
    alarms = 0
    for _ in range(500):
        base, new, second = (
            {"pic": noisy(random, each, rounds)} for each, rounds in ((1.0, 10), (cost, 10), (cost, 15))
        )
        both = second, base
        found = compare.verdicts(new, base, compare.by_calibration, 0.1, lambda names, both=both: both)
        alarms += found[0].status == "regressed"
    assert least <= alarms / 500 <= most


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        (1.0, None, "unchanged"),
        (1.04, None, "unchanged"),
        (0.95, None, "unchanged"),
        (0.8, None, "improved"),
        (1.06, 1.12, "regressed"),
        (1.5, 1.02, "unchanged"),
        (1.5, 1.5, "regressed"),
        (1.2, 0.8, "improved"),
    ],
)
def test_the_second_measurement_decides(first: float, second: float | None, status: str) -> None:
    asked = []

    def again(names: list[str]) -> tuple[dict[str, measure.Timings], dict[str, measure.Timings]]:
        asked.extend(names)
        return {"pic": flat(second or 0)}, {"pic": flat(1.0)}

    new, base = {"pic": flat(first), "same": flat(3.0)}, {"pic": flat(1.0), "same": flat(3.0), "gone": flat(1.0)}
    found = {each.name: each for each in compare.verdicts(new, base, compare.by_pairs, 0.1, again)}
    assert asked == ([] if second is None else ["pic"])
    assert found["pic"].status == status
    assert math.isclose(found["pic"].ratio.value, first if second is None else second)
    assert (found["pic"].first is not None) == (second is not None)
    assert found["same"].status == "unchanged"


def test_a_busy_machine_raises_no_alarm_that_its_load_explains() -> None:
    quiet, busy = flat(1.0), flat(1.12)
    assert compare.status_of(compare.by_calibration(busy, quiet), 0.1) == "regressed"
    busy.waiting = [0.8] * 5
    assert compare.status_of(compare.by_calibration(busy, quiet), 0.1) == "unclear"
    slow = measure.Timings([1.4] * 5, [1.4] * 5, [1.0] * 5, [0.8] * 5)
    assert compare.status_of(compare.by_calibration(slow, quiet), 0.1) == "regressed"


@given(st.lists(st.tuples(st.floats(0.001, 10), st.floats(0, 10)), min_size=1, max_size=20))
def test_a_round_keeps_the_fastest_timing_and_the_share_of_waiting(timings: list[tuple[float, float]]) -> None:
    figures = measure.Timings()
    figures.add([{"cpu": cpu, "wall": cpu + waited, "calibration": 2 * cpu} for cpu, waited in timings])
    assert figures.cpu == [min(cpu for cpu, _ in timings)]
    assert figures.costs == [0.5]
    cpu, waited = (sum(each) for each in zip(*timings))
    assert math.isclose(figures.waiting[0], waited / (cpu + waited), abs_tol=1e-9)


def test_noise_wider_than_the_slowdown_is_unclear() -> None:
    assert compare.status_of(estimates.Ratio(1.2, 0.9, 1.6), 0.1) == "unclear"
    assert compare.status_of(estimates.Ratio(0.7, 0.4, 1.2), 0.1) == "unchanged"


@given(FIGURES, st.floats(0.5, 2))
def test_spread_is_relative(values: list[float], factor: float) -> None:
    assert math.isclose(
        report.spread([factor * value for value in values]), report.spread(values), rel_tol=1e-6, abs_tol=1e-9
    )
