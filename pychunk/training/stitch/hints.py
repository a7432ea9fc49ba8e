"""The length of a hint: as many sentences of an expert's trace as the success rate requires.

Suppose that a rollout writes each sentence that the hint omits correctly with probability c. If the hint omits n
sentences, the rollout then succeeds with probability c ** n. The estimate of c is the value under which the hinted
rollouts so far are likeliest. A hint omits as many sentences as possible, as long as c ** n is at least the target.
SmartChunk estimates the length from the success rate of all rollouts together. But easy questions say little about hard
questions. Therefore, only rollouts of questions that need a hint count here.
"""

from __future__ import annotations

import math

#: The values of c that are compared.
_GRID = tuple(i / 200 for i in range(1, 200))
#: The factor by which the counts of earlier rollouts shrink at each step, because the policy changes.
_DECAY = 0.8


class HintLength:
    """The estimate of the length of hints.

    Example:
        >>> hints = HintLength(target=0.5)
        >>> hints.sentences(8)
        7
        >>> hints.saw({1: (8, 8)})
        >>> hints.sentences(8)
        1
        >>> hints.saw({7: (16, 64)})
        >>> hints.sentences(8)
        5
    """

    def __init__(self, target: float) -> None:
        self.target = target
        #: The counts of successes and of rollouts, by the number of omitted sentences; older rollouts count less.
        self.counts: dict[int, tuple[float, float]] = {}

    def chance(self) -> float:
        """Return the likeliest c, or the lowest value of the grid if there were no rollouts."""
        if not self.counts:
            return _GRID[0]

        def likelihood(chance: float) -> float:
            return sum(
                right * left * math.log(chance) + (tried - right) * math.log(1 - chance**left)
                for left, (right, tried) in self.counts.items()
            )

        return max(_GRID, key=likelihood)

    def sentences(self, total: int) -> int:
        """Return the number of sentences that a hint takes from a trace of ``total``, from one to all but the last."""
        left = math.floor(math.log(self.target) / math.log(self.chance()) + 1e-9)
        return min(max(total - left, 1), total - 1)

    def saw(self, rollouts: dict[int, tuple[int, int]]) -> None:
        """Count the rollouts of a step, given as (successes, rollouts) by the number of omitted sentences."""
        self.counts = {left: (right * _DECAY, tried * _DECAY) for left, (right, tried) in self.counts.items()}
        for left, (right, tried) in rollouts.items():
            before = self.counts.get(left, (0.0, 0.0))
            self.counts[left] = (before[0] + right, before[1] + tried)
