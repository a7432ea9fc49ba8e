"""Which workloads became slower: a first measurement nominates, a second one of its own decides."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from .estimates import Ratio, mean_of_ratios, ratio_of_means
from .measure import Timings

#: How much slower CPU time may be for each share of time by which one run waited more than the other: others' work
#: takes the caches and the memory's bandwidth, of which the calibration loops need less. The same code measured up to
#: 17 % slower where a dozen processes shared two cores, against a base taken beside one or two.
DOUBT_OF_WAITING = 0.25

Compare = Callable[[Timings, Timings], Ratio]


@dataclass(frozen=True)
class Verdict:
    """What became of a workload.

    Attributes:
        status: ``regressed``, ``improved``, ``unchanged``, or ``unclear``: over the limit, but within the noise;
            ``missing``, ``new`` or ``redefined`` where there is nothing to compare.
        ratio: cost over the base's: 1.10 is 10 % slower.
        first: the ratio of the measurement that nominated it, where a second one decided.
        note: what else is to be said.
    """

    name: str
    status: str
    ratio: Ratio | None = None
    first: Ratio | None = None
    note: str = ""


def by_calibration(new: Timings, base: Timings) -> Ratio:
    """For figures of different runs: CPU time in units of the calibration loops."""
    apart = abs(statistics.median(new.waiting) - statistics.median(base.waiting))
    return ratio_of_means(new.costs, base.costs, doubt=DOUBT_OF_WAITING * apart)


def by_pairs(new: Timings, base: Timings) -> Ratio:
    """For figures taken in turns: CPU time, round by round."""
    return mean_of_ratios(new.cpu, base.cpu)


def is_suspect(ratio: Ratio, limit: float) -> bool:
    """Whether a workload is to be measured again: slower by more than half of the limit.

    Half, because what is slower by just more than the limit measures under it half of the time.
    """
    return math.log(ratio.value) > math.log1p(limit) / 2


def status_of(ratio: Ratio, limit: float) -> str:
    """Regressed or improved: past the limit, and not by noise, which may be wider than the limit."""
    if ratio.value > 1 + limit:
        return "regressed" if ratio.low > 1 else "unclear"
    if ratio.value < 1 / (1 + limit) and ratio.high < 1:
        return "improved"
    return "unchanged"


def verdicts(
    new: dict[str, Timings],
    base: dict[str, Timings],
    compare: Compare,
    limit: float,
    again: Callable[[list[str]], tuple[dict[str, Timings], dict[str, Timings]]],
) -> list[Verdict]:
    """One verdict for each workload of both runs.

    A suspect is judged by its second measurement alone: averaged with the first, whose noise made it a suspect, a
    false alarm would keep half of its excess, and a true one needs no help.

    Args:
        limit: 0.1 for 10 %.
        again: measures the named workloads again; returns (new, base).
    """
    ratios = {name: compare(new[name], base[name]) for name in new if name in base}
    suspects = [name for name, ratio in ratios.items() if is_suspect(ratio, limit)]
    second = again(suspects) if suspects else ({}, {})
    found = []
    for name, first in ratios.items():
        if name in second[0] and name in second[1]:
            ratio = compare(second[0][name], second[1][name])
            found.append(Verdict(name, status_of(ratio, limit), ratio, first))
        else:
            found.append(Verdict(name, status_of(first, limit), first))
    return found
