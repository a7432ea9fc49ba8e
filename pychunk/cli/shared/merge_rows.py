"""The merging of consecutive rows with the same id into one document."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...index.merge import BETWEEN
from ...io.document_batches import Batch


def joined(batches: Iterable[Batch], counting: Collection[str] = ()) -> Iterator[Batch]:
    r"""Yield batches in which consecutive rows with the same id are merged into one row.

    The text of the merged row is the texts of the rows, each without trailing white space, with a blank line between
    them. Rows that hold only white space are skipped. Other columns come from the first row. A document may begin in
    one batch and end in a later one.

    Args:
        batches: The batches to merge rows in.
        counting: The columns that hold positions in the text. They must be null in rows that are merged.

    Raises:
        ValueError: A column in ``counting`` is not null in a row that is merged.

    Example:
        >>> table = pa.table({"id": ["cats", "cats", "dogs"], "text": ["They purr.\n", "They sleep.", "They bark."]})
        >>> batches = [Batch(table[:1], 0, "pets", 10), Batch(table[1:], 1, "pets", 30)]
        >>> [batch.table["text"].to_pylist() for batch in joined(batches)]
        [['They purr.\n\nThey sleep.'], ['They bark.']]
    """
    held: Batch | None = None
    for batch in batches:
        if held is not None and held.table.schema != batch.table.schema:
            yield replace(held, table=_of_runs(held.table, counting))
            held = None
        table = batch.table if held is None else pa.concat_tables([held.table, batch.table])
        if not table.num_rows:
            continue
        last = _begins(table)[-1]
        if last:
            yield replace(batch, table=_of_runs(table.slice(0, last), counting))
        held = replace(batch, table=table.slice(last))
    if held is not None:
        yield replace(held, table=_of_runs(held.table, counting))


def _begins(table: pa.Table) -> list[int]:
    """Return the first row of each document."""
    ids = table["id"].combine_chunks()
    changes = np.asarray(pc.not_equal(ids[1:], ids[:-1]))
    return [0, *(np.flatnonzero(changes) + 1).tolist()] if table.num_rows else []


def _of_runs(table: pa.Table, counting: Collection[str]) -> pa.Table:
    begins = _begins(table)
    if len(begins) == table.num_rows:
        return table
    texts: list[str] = table["text"].to_pylist()
    whole = []
    for begin, end in pairwise([*begins, len(texts)]):
        if end == begin + 1:
            whole.append(texts[begin])
            continue
        for name in counting:
            if name in table.column_names and table[name].slice(begin, end - begin).null_count < end - begin:
                raise ValueError(
                    f"cannot merge the rows of the id {table['id'][begin].as_py()!r}, because their column {name!r} "
                    "holds positions in each text: leave out the column, or give each row an id of its own"
                )
        whole.append(BETWEEN.join(text.rstrip() for text in texts[begin:end] if text.strip()))
    found = table.take(pa.array(begins))
    at = found.column_names.index("text")
    return found.set_column(at, found.schema.field(at), pa.array(whole, found.schema.field(at).type))
