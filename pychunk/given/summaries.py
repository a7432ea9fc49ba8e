"""Where PIC's pseudo-instruction comes from when the caller gives it: texts, a column, or vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _native
from .._arrow import flat_text
from ..data.ragged import Ragged
from ..documents import TextBatch
from ..documents.columns import texts_of

if TYPE_CHECKING:
    import numpy.typing as npt


def given_summaries(
    method: Any, batch: TextBatch, summaries: Any, titles: Any, *, has_encoder: bool
) -> Ragged | npt.NDArray[np.float32] | None:
    """One summary a document, as text or as unit vectors, or None where the method makes its own.

    Raises:
        ValueError: the source asks for what was not given, or what was given is not used.
    """
    source = getattr(method, "summary", None)
    if source is None:
        if summaries is not None or titles is not None:
            raise ValueError(f"summaries= and titles= are for method 'pic'; got method {method.name!r}")
        return None
    wanted, name = (titles, "titles") if source == "title" else (summaries, "summaries")
    if source not in ("title", "given"):
        if summaries is not None or titles is not None:
            raise ValueError(f"summary={source!r} is made from the text; pass summary='given' to use summaries=")
        return None
    if wanted is None:
        raise ValueError(f"summary={source!r} needs {name}=: one a document, or the name of a column")
    if isinstance(wanted, np.ndarray) and wanted.ndim == 2:
        if len(wanted) != len(batch):
            raise ValueError(f"{name} must hold one vector for each of {len(batch)} documents; got {len(wanted)}")
        if wanted.shape[1] == 0:
            raise ValueError(f"{name} must have at least one column; got none")
        unit, row = _native.normalized_rows(wanted)
        if row >= 0:
            raise ValueError(f"{name} must be finite; row {row} is not")
        return unit
    if not has_encoder:
        raise ValueError(f"{name} must be vectors, as the sentence vectors come from elsewhere: pass float[k, d]")
    return Ragged(*flat_text(texts_of(wanted, len(batch), batch.source, name)))
