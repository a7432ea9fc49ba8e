"""The spans of a text, as tokenizers outside the native core take them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def stripped(text: bytes, bounds: npt.NDArray[np.int64]) -> list[str]:
    """Return the consecutive spans ``text[bounds[i]:bounds[i + 1]]`` of UTF-8 without white space at their ends."""
    return [text[a:b].decode().strip() for a, b in pairwise(bounds.tolist())]
