"""The ids of chunks' texts, computed from a table of chunks as the engine computes them."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from .._engine import native

#: The hash of the document's id if there are no ids.
_NO_ID = bytes(16)
#: The form of a text id, as a regular expression.
PATTERN = "^[0-9a-f]{32}$"


def words_of(text: str) -> bytes:
    """Return the 128-bit hash of a text as 16 bytes, lowest first, which ids are computed from."""
    return int(native.hash128(text.encode()), 16).to_bytes(16, "little")


def text_ids(rows: Iterable[tuple[Any, str | None, str]]) -> Iterator[str]:
    """Yield the text id of each chunk.

    Args:
        rows: The chunks in order: the document, by any key; the document's id, or None if there are no ids; the text.

    Example:
        >>> list(text_ids([(0, "a", "Cats purr."), (0, "a", "Cats purr."), (1, "a", "Cats purr.")]))
        ['466feb34fed1fc0751080b8ba25be6e1', 'ae0b72ce76abf0191eb3c81cf9752b7d', '466feb34fed1fc0751080b8ba25be6e1']
    """
    equal = Counter[tuple[Any, str]]()
    for document, name, text in rows:
        head = _NO_ID if name is None else words_of(name)
        yield native.hash128(head + words_of(text) + struct.pack("<q", equal[document, text]))
        equal[document, text] += 1


def with_text_ids(table: pa.Table) -> pa.Table:
    """Return a table of chunks with the column ``text_id``, which tables of older versions lack.

    If the column has nulls, because tables of several versions were joined, only these are filled.
    """
    known = table["text_id"] if "text_id" in table.column_names else None
    if known is not None and not known.null_count:
        return table
    made = pa.array(text_ids(_rows(table)), pa.large_string())
    if known is None:
        return table.append_column("text_id", made)
    filled = [mine or other for mine, other in zip(known.to_pylist(), made.to_pylist(), strict=True)]
    return _replaced(table, filled)


def with_own_text_ids(table: pa.Table) -> pa.Table:
    """Return a table of nodes in which no two nodes of a document have the same text id.

    The engine counts equal texts within one level. Nodes of several levels may hold the same text at different places,
    so equal texts are counted again, level after level, if any of their ids is the same.
    """
    code = np.asarray(table["text_id"].combine_chunks().dictionary_encode().indices, np.int64)
    pairs = np.stack([np.asarray(table["document_index"], np.int64), code])
    if np.unique(pairs, axis=1).shape[1] == table.num_rows:
        return table
    found, rows = table["text_id"].to_pylist(), list(_rows(table))
    places: dict[tuple[int, str], list[int]] = {}
    for place, (document, _, text) in enumerate(rows):
        places.setdefault((document, text), []).append(place)
    for own in places.values():
        if len({found[place] for place in own}) < len(own):
            for place, made in zip(own, text_ids(rows[place] for place in own), strict=True):
                found[place] = made
    return _replaced(table, found)


def _rows(table: pa.Table) -> Iterable[tuple[int, str | None, str]]:
    documents = table["document_index"].to_pylist()
    has_ids = "document_id" in table.column_names
    names = table["document_id"].cast(pa.large_string()).to_pylist() if has_ids else [None] * len(documents)
    return zip(documents, names, table["text"].to_pylist(), strict=True)


def _replaced(table: pa.Table, ids: list[str]) -> pa.Table:
    return table.set_column(table.column_names.index("text_id"), "text_id", pa.array(ids, pa.large_string()))
