"""Loops that no version of pychunk can change, timed next to the workloads to measure the machine's current speed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np


def _sort() -> Callable[[], object]:
    """Return a loop whose speed depends on branches and on the first and second level of cache."""
    values = np.random.RandomState(0).randint(0, 1 << 30, 15_000)
    return lambda: np.sort(values)


def _split() -> Callable[[], object]:
    """Return a loop whose speed depends on scanning bytes and on allocating many small objects."""
    data = b"abcdefghijklm nopq" * 10_000
    return lambda: data.split()


class Calibration:
    """A timer of two loops, which take some 0.8 ms together.

    They were chosen from eight loops. Their times vary by 1 % between fresh processes. The workloads' times divided by
    the loops' times vary 25 % less than the workloads' times alone.

    Two of the rejected loops, a memory copy and a gather from a large table, follow the workloads' noise best from
    moment to moment. But they vary by 10 to 20 % between processes, depending on where their memory pages are, so they
    add more noise than they remove. A rejected loop of Python code varies by 3 to 6 % with the process's hash seed.
    """

    def __init__(self) -> None:
        self._loops = [_sort(), _split()]
        for loop in self._loops:
            loop()

    def seconds(self, times: int = 1) -> float:
        """Time each loop ``times`` times, and return the geometric mean of the loops' fastest CPU seconds."""
        return math.exp(sum(math.log(min(timed(loop) for _ in range(times))) for loop in self._loops) / 2)


def timed(call: Callable[[], object]) -> float:
    """Return the CPU seconds of one call."""
    begun = time.process_time()
    call()
    return time.process_time() - begun
