"""What is minimised. Source: GRPO (DeepSeekMath), as STITCH takes it over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..teacher import import_torch


def advantages(rewards: Sequence[Sequence[float]]) -> npt.NDArray[np.float32]:
    """float32[groups, rollouts]: rewards less their group's mean, by its standard deviation; 0 where all are alike.

    Example:
        >>> advantages([[1, 0, 0, 1], [0.1, 0.1, 0.1, 0.1]]).tolist()
        [[1.0, -1.0, -1.0, 1.0], [0.0, 0.0, 0.0, 0.0]]
    """
    given = np.array(rewards, np.float64)
    off = given - given.mean(axis=1, keepdims=True)
    spread = given.std(axis=1, keepdims=True)
    found: npt.NDArray[np.float32] = np.divide(off, spread, out=np.zeros_like(off), where=spread > 1e-9).astype("f4")
    return found


def grpo(new: Any, old: Any, reference: Any, advantage: Any, mask: Any, clip: float, kl: float) -> Any:
    """Loss float[rows], each the mean over its tokens: less the clipped gain, plus ``kl`` times the divergence.

    Args:
        new, old, reference: log probabilities float[rows, tokens] of the tokens by the policy, by the one that wrote
            them and by the one to stay near.
        advantage: float[rows].
        mask: float[rows, tokens], 1 at tokens that were written.
    """
    torch = import_torch()
    ratio = (new - old).exp()
    scale = advantage[:, None]
    gain = torch.minimum(ratio * scale, ratio.clamp(1 - clip, 1 + clip) * scale)
    apart = reference - new
    divergence = apart.exp() - apart - 1  # unbiased, and never negative
    return -((gain - kl * divergence) * mask).sum(1) / mask.sum(1)


def imitation(new: Any, mask: Any) -> Any:
    """Cross-entropy float[rows], each the mean over its tokens."""
    return -(new * mask).sum(1) / mask.sum(1)
