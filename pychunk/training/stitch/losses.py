"""The losses of GRPO (DeepSeekMath), as STITCH uses them, and of imitation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..teacher import import_torch


def advantages(rewards: Sequence[Sequence[float]]) -> npt.NDArray[np.float32]:
    """Return rewards minus their group's mean, divided by its standard deviation, float32[groups, rollouts].

    The values are 0 if all rewards of a group are equal.

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
    """Return the loss float[rows]: ``kl`` times the divergence minus the clipped gain, as a mean over the row's tokens.

    Args:
        new: The log probabilities float[rows, tokens] of the tokens by the policy.
        old: The log probabilities by the policy that wrote the tokens.
        reference: The log probabilities by the policy that the trained policy should stay close to.
        advantage: The advantage of each row, float[rows].
        mask: 1 for tokens that were written, float[rows, tokens].
        clip: How far the ratio of new to old may differ from 1.
        kl: The weight of the divergence.
    """
    torch = import_torch()
    ratio = (new - old).exp()
    scale = advantage[:, None]
    gain = torch.minimum(ratio * scale, ratio.clamp(1 - clip, 1 + clip) * scale)
    apart = reference - new
    divergence = apart.exp() - apart - 1  # unbiased, and never negative
    return -((gain - kl * divergence) * mask).sum(1) / mask.sum(1)


def imitation(new: Any, mask: Any) -> Any:
    """Return the cross-entropy float[rows], the mean over the tokens of each row."""
    return -(new * mask).sum(1) / mask.sum(1)
