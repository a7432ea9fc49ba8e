"""The length of a hint: as many sentences of an expert's trace as the success rate requires.

Suppose that a rollout finds each sentence that is left with probability c. Then it succeeds with probability c ** n if
it has to find n of them. The estimate is the c under which the hinted rollouts so far are likeliest. It gives the most
sentences that may be left so that the probability of success is still at the target. SmartChunk estimates the length
from the success rate of all rollouts together. But easy questions say little about hard ones, so only rollouts of
questions that need a hint count here.
"""

from __future__ import annotations

import math

#: The probabilities that are compared.
_GRID = tuple(i / 200 for i in range(1, 200))
#: The factor of earlier rollouts after each step, because the policy changes.
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
        #: Successes and rollouts by the number of sentences left; older ones count less.
        self.counts: dict[int, tuple[float, float]] = {}

    def chance(self) -> float:
        """Return the likeliest probability of one sentence, the lowest if there were no rollouts."""
        if not self.counts:
            return _GRID[0]

        def likelihood(chance: float) -> float:
            return sum(
                right * left * math.log(chance) + (tried - right) * math.log(1 - chance**left)
                for left, (right, tried) in self.counts.items()
            )

        return max(_GRID, key=likelihood)

    def sentences(self, total: int) -> int:
        """Return the number of sentences to give from a trace of ``total``, from one to all but the last."""
        left = math.floor(math.log(self.target) / math.log(self.chance()) + 1e-9)
        return min(max(total - left, 1), total - 1)

    def saw(self, rollouts: dict[int, tuple[int, int]]) -> None:
        """Count the rollouts of a step: successes and rollouts by the number of sentences left."""
        self.counts = {left: (right * _DECAY, tried * _DECAY) for left, (right, tried) in self.counts.items()}
        for left, (right, tried) in rollouts.items():
            before = self.counts.get(left, (0.0, 0.0))
            self.counts[left] = (before[0] + right, before[1] + tried)
