"""The verdicts on workloads that became slower: a first measurement finds suspects, and a second one decides."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from .estimates import Ratio, mean_of_ratios, ratio_of_means
from .measure import Timings

#: The widening of a ratio's interval, divided by the difference of the two runs' shares of waiting. If one run waited
#: for 10 % of its time and the other for 50 %, the interval widens by 10 % on either side. Other processes take caches
#: and memory bandwidth, of which the workloads need more than the calibration loops. The same code measured up to 17 %
#: slower with a dozen processes on two cores than with one or two.
DOUBT_OF_WAITING = 0.25

Compare = Callable[[Timings, Timings], Ratio]


@dataclass(frozen=True)
class Verdict:
    """The verdict on a workload.

    Attributes:
        name: The name of the workload.
        status: ``regressed``, ``improved``, ``unchanged``, or ``unclear`` for a slowdown over the limit but within the
            noise. ``missing``, ``new`` or ``redefined`` if there is nothing to compare.
        ratio: The cost of the new run divided by the cost of the base: 1.10 is 10 % slower.
        first: The ratio of the first measurement, if a second one decided.
        note: A remark for the table.
    """

    name: str
    status: str
    ratio: Ratio | None = None
    first: Ratio | None = None
    note: str = ""


def by_calibration(new: Timings, base: Timings) -> Ratio:
    """Compare runs that were measured at different times, by CPU time divided by the calibration loops' time."""
    apart = abs(statistics.median(new.waiting) - statistics.median(base.waiting))
    return ratio_of_means(new.costs, base.costs, doubt=DOUBT_OF_WAITING * apart)


def by_pairs(new: Timings, base: Timings) -> Ratio:
    """Compare the CPU times of runs that were measured in turn, round by round."""
    return mean_of_ratios(new.cpu, base.cpu)


def is_suspect(ratio: Ratio, limit: float) -> bool:
    """Return whether a workload must be measured again because it is slower by more than half the limit.

    With the limit itself as the bound, half of the workloads just over the limit would be missed, because noise makes
    half of them appear faster than the limit.
    """
    return math.log(ratio.value) > math.log1p(limit) / 2


def status_of(ratio: Ratio, limit: float) -> str:
    """Return the status: regressed or improved if the ratio is past the limit and its interval excludes 1.

    The second condition is necessary, because noise may be larger than the limit.
    """
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
    """Return one verdict for each workload of both runs.

    Only the second measurement of a suspect counts. If noise made the workload a suspect, a mean of both measurements
    would still contain half of that noise. A workload that really is slower also measures slower the second time.

    Args:
        new: The timings of each workload in the new run.
        base: The timings of each workload in the base.
        compare: A function that returns the ratio of two timings.
        limit: The slowdown above which a workload has regressed, 0.1 for 10 %.
        again: A function that measures the named workloads again and returns (new, base).
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
