"""Checks of an index's arguments, whose errors name what was expected and what was received."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .store.document_digests import text_of_ids


def whole(name: str, value: Any, least: int) -> None:
    """Raise ValueError unless ``value`` is a whole number of at least ``least`` that fits 63 bits."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or not least <= value < 2**63:
        most = " and below 2**63" if isinstance(value, int) and value >= 2**63 else ""
        raise ValueError(f"{name} must be a whole number of at least {least}{most}; got {value!r:.80}")


def number(name: str, value: Any, least: float, most: float = math.inf) -> None:
    """Raise ValueError unless ``value`` is a finite number from ``least`` to ``most``."""
    real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not real or not math.isfinite(value) or not least <= value <= most:
        bounds = f" of at least {least}" if math.isinf(most) else f" from {least} to {most}"
        bounds = "" if math.isinf(least) else bounds
        raise ValueError(f"{name} must be a finite number{bounds}; got {value!r:.80}")


def finite(name: str, vectors: npt.NDArray[np.float32]) -> None:
    """Raise ValueError unless all values are finite. The message names the first row with NaN or infinity."""
    good = np.isfinite(vectors).all(axis=1)
    if not good.all():
        raise ValueError(f"{name} must be finite; row {int(good.argmin())} has NaN or infinity")


def _listed(name: str, values: Any, of: str) -> list[Any]:
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name} must be a list of {of}; got no list, but {values!r:.80}")
    # Arrow and NumPy convert their values themselves.
    plain = getattr(values, "to_pylist", None) or getattr(values, "tolist", None)
    found = plain() if plain else list(values)
    return found if isinstance(found, list) else [found]


def texts(queries: Any) -> list[str]:
    """Return one text or several as a list of texts.

    Raises:
        TypeError: A query is no text. The message names its row.
        ValueError: A text has a lone surrogate. The message names its row.
    """
    found = [queries] if isinstance(queries, str) else _listed("queries", queries, "texts, or one text")
    for row, query in enumerate(found):
        if not isinstance(query, str):
            raise TypeError(f"queries must be texts; row {row} is {query!r:.80}")
        if not query.isascii() and any("\ud800" <= letter <= "\udfff" for letter in query):
            raise ValueError(f"queries must be text that UTF-8 can encode; row {row} has a lone surrogate: remove it")
    return found


def ids(name: str, values: Any) -> pa.Array:
    """Return ids as texts, as the index compares them.

    Raises:
        TypeError: ``values`` is a single id and no list, or an id is null.
        ValueError: An id has a lone surrogate.
    """
    found = _listed(name, values, "ids")
    for row, value in enumerate(found):
        if value is None or value != value:  # None or NaN.
            raise TypeError(f"{name} must not be null; row {row} is {value!r}")
    try:
        return text_of_ids(pa.array(found))
    except UnicodeEncodeError as error:
        row = next(row for row, value in enumerate(found) if isinstance(value, str) and error.object in value)
        raise ValueError(
            f"{name} must be text that UTF-8 can encode; row {row} has a lone surrogate: remove it"
        ) from None
    except (pa.ArrowException, OverflowError):  # The ids are of several types, or of one that Arrow does not know.
        return pa.array([str(value) for value in found], pa.large_string())


def columns(metadata: Any, table: pa.Table) -> dict[str, Any]:
    """Return the columns of ``metadata``, which is a mapping, an Arrow table or a data frame, by name.

    ``metadata`` may also be names of columns of the chunk table. They are only checked, and the result is empty,
    because the chunk table already holds their values.
    """
    if isinstance(metadata, (str, list, tuple, set, frozenset)):
        names = [metadata] if isinstance(metadata, str) else list(metadata)
        if other := [name for name in names if not isinstance(name, str)]:
            raise TypeError(
                "metadata must be a mapping of names to columns, {'year': [2001, 2002]}, a table, or names of columns "
                f"that the chunks have; got a list with {other[0]!r:.80}"
            )
        for name in names:
            if name not in table.column_names:
                raise ValueError(
                    f"metadata names the column {name!r:.80}; the chunks have {', '.join(table.column_names)}: segment "
                    f"with metadata_columns={names!r:.80}, or pass values: {{{name!r:.80}: [...]}}"
                )
        return {}
    if hasattr(metadata, "items"):
        return dict(metadata.items())
    if hasattr(metadata, "__arrow_c_stream__"):
        table = pa.table(metadata)
        return dict(zip(table.column_names, table.columns, strict=True))
    raise TypeError(
        "metadata must be names of columns of the chunks, a mapping of names to columns, or a table; got "
        f"{type(metadata).__name__}"
    )
