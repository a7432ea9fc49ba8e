"""The token ids of sentences, one sentence after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Tokens(NamedTuple):
    """The tokens of n sentences.

    Attributes:
        ids: int32[t]: the ids of all tokens.
        offsets: int64[n + 1]; sentence i has ``ids[offsets[i] : offsets[i + 1]]``.
        counts: int64[n]: the number of tokens of each sentence that budgets count. An unknown word has one id, but
            counts as one token for every 4 characters.
    """

    ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
