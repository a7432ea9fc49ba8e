"""How much of an expert's trace a rollout is given: as many sentences as the success rate calls for.

If each sentence that is left is found with chance c, a rollout that has to find n of them succeeds with chance c ** n.
The c under which the hinted rollouts so far would be likeliest gives the most sentences that may be left so that the
chance is still at the target. SmartChunk estimates the length from the success rate of all rollouts together; those of
easy questions say little of hard ones, so only rollouts of questions that need a hint count here.
"""

from __future__ import annotations

import math

#: Chances that are held against each other.
_GRID = tuple(i / 200 for i in range(1, 200))
#: What earlier rollouts still count after each step: the policy changes.
_DECAY = 0.8


class HintLength:
    """The estimate.

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
        #: By sentences left: successes and rollouts, older ones counting less.
        self.counts: dict[int, tuple[float, float]] = {}

    def chance(self) -> float:
        """The likeliest chance of one sentence; the least there is where nothing was seen."""
        if not self.counts:
            return _GRID[0]

        def likelihood(chance: float) -> float:
            return sum(
                right * left * math.log(chance) + (tried - right) * math.log(1 - chance**left)
                for left, (right, tried) in self.counts.items()
            )

        return max(_GRID, key=likelihood)

    def sentences(self, total: int) -> int:
        """Sentences of a trace of ``total`` to give: one at least, all but the last at most."""
        left = math.floor(math.log(self.target) / math.log(self.chance()) + 1e-9)
        return min(max(total - left, 1), total - 1)

    def saw(self, rollouts: dict[int, tuple[int, int]]) -> None:
        """Counts a step's rollouts: by sentences left, how many succeeded of how many."""
        self.counts = {left: (right * _DECAY, tried * _DECAY) for left, (right, tried) in self.counts.items()}
        for left, (right, tried) in rollouts.items():
            before = self.counts.get(left, (0.0, 0.0))
            self.counts[left] = (before[0] + right, before[1] + tried)
