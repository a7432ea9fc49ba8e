"""Loops that no version of pychunk can change, timed beside the workloads: what the machine gives at the moment."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np


def _sort() -> Callable[[], object]:
    """Branches and a cache of the first and second level."""
    values = np.random.RandomState(0).randint(0, 1 << 30, 15_000)
    return lambda: np.sort(values)


def _split() -> Callable[[], object]:
    """A scan over bytes, and the allocation of many small objects."""
    data = b"abcdefghijklm nopq" * 10_000
    return lambda: data.split()


class Calibration:
    """Times the loops: some 0.8 ms a call in all.

    These two were chosen from eight. Between fresh processes they vary by 1 %, and the workloads' times over theirs by
    a quarter less than the times themselves. A memory copy and a gather from a large table follow the workloads'
    noise from moment to moment best, but vary by 10 to 20 % between processes, with where their pages lie, and so add
    more noise than they take away; a loop in the interpreter varies by 3 to 6 % with its hash seed.
    """

    def __init__(self) -> None:
        self._loops = [_sort(), _split()]
        for loop in self._loops:
            loop()

    def seconds(self, times: int = 1) -> float:
        """CPU seconds: the geometric mean over the loops of the fastest of so many timings."""
        return math.exp(sum(math.log(min(timed(loop) for _ in range(times))) for loop in self._loops) / 2)


def timed(call: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    begun = time.process_time()
    call()
    return time.process_time() - begun
