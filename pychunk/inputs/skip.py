"""The documents that lack a title or summary; ``on_error="skip"`` skips them like rows without text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .document_columns import name_of
from .texts import RowError
from .value_columns import array_of, missing_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from . import TextBatch

#: The arguments that hold one text for each document, which may be null for some.
TEXTS = ("titles", "summaries")


def left_out(texts: TextBatch, said: Mapping[str, Any]) -> tuple[TextBatch, dict[str, Any]]:
    """Return texts and arguments in which documents with a null title or summary are empty and listed in ``errors``.

    The reason names the column. The values of the other documents keep their positions. Those of skipped documents are
    "".
    """
    kept = dict(said)
    known = {error.row for error in texts.errors}
    found: list[RowError] = []
    for name in TEXTS:
        values = said.get(name)
        # Vectors need no check here, because a vector that is not finite is an error in any case.
        if values is None or isinstance(values, np.ndarray):
            continue
        array = array_of(values, len(texts), texts.source, name)
        missing = missing_rows(array)
        if not len(missing):
            continue
        reason = f"{name_of(name, values, texts)} is null"
        found += [RowError(int(row), reason) for row in missing if int(row) not in known]
        known.update(map(int, missing))
        kept[name] = _with_empty(array, missing)
    if not found:
        return texts, kept
    blank = np.zeros(len(texts), bool)
    blank[[error.row for error in found]] = True
    return replace(texts, texts=_blanked(texts.texts, blank), errors=sorted([*texts.errors, *found])), kept


def _with_empty(array: pa.Array, missing: npt.NDArray[np.int64]) -> pa.Array:
    values = array.to_pylist()
    for row in missing:
        values[row] = ""
    return pa.array([str(value) for value in values], pa.large_string())


def _blanked(texts: list[pa.LargeStringArray], blank: npt.NDArray[np.bool_]) -> list[pa.LargeStringArray]:
    import pyarrow.compute as pc

    found, row = [], 0
    for part in texts:
        here = pa.array(blank[row : row + len(part)])
        found.append(pc.if_else(here, pa.scalar("", pa.large_string()), part))
        row += len(part)
    return found
