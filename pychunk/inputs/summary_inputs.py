"""The summaries that the caller passes for PIC: one text or one vector for each document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._engine import native
from .._engine.arrow import flat_text
from .._engine.data.ragged import Ragged
from .value_columns import texts_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from . import TextBatch


def unit_or_text(values: Any, texts: TextBatch, name: str, *, has_encoder: bool) -> Ragged | npt.NDArray[np.float32]:
    """Return the values of k documents: their texts in UTF-8, or their vectors at unit length, float32[k, d].

    Raises:
        ValueError: There is not one value for each document, a vector is not finite, or nothing can encode the texts.
    """
    if isinstance(values, np.ndarray) and values.ndim == 2:
        if len(values) != len(texts):
            raise ValueError(f"{name} must hold one vector for each of {len(texts)} documents; got {len(values)}")
        if values.shape[1] == 0:
            raise ValueError(f"{name} must have at least one column; got none")
        unit, row = native.normalized_rows(values)
        if row >= 0:
            raise ValueError(
                f"{name} must be finite in float32; row {row} has "
                f"{values[row][~np.isfinite(values[row].astype(np.float32))][0]}"
            )
        return unit
    if not has_encoder:
        raise ValueError(
            f"{name} must be vectors if columns={{'sentence_vectors': ...}} is passed; got {type(values).__name__}: "
            "pass float[k, d]"
        )
    return Ragged(*flat_text(texts_of(values, len(texts), texts.source, name)))
