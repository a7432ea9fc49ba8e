"""The batches of documents from tables, made of whole columns, without a Python object for each text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..inputs import TextBatch
from ..inputs.value_columns import plain
from .document_batches import BATCH_ROWS, DeadLetters
from .formats import row_documents
from .formats.table_parts import Part


class Run(NamedTuple):
    """A run of consecutive documents of one file: a table with a batch's columns, and the bytes of each text."""

    table: pa.Table
    sizes: npt.NDArray[np.int64]
    file: str
    bytes_read: int

    def part(self, begin: int, count: int) -> Run:
        """Return ``count`` documents from position ``begin`` on; the result shares the memory of this run."""
        sizes = self.sizes[begin : begin + count]
        return Run(self.table.slice(begin, count), sizes, self.file, self.bytes_read)


def runs(
    parts: Iterable[Part],
    file: str,
    dead_letters: DeadLetters,
    *,
    column: str | None,
    ids: str | None = None,
    metadata_columns: Sequence[str] = (),
    needed: Sequence[str] = (),
    elsewhere: Mapping[str, pa.DataType] = {},
) -> Iterator[Run]:
    """Yield the documents of a file, part by part, with id, text, file and the columns to keep.

    The columns to keep have the types of the file. A column that this file lacks but other files have (``elsewhere``)
    is null.

    Args:
        parts: The parts of the table.
        file: The name of the file.
        dead_letters: The callable that gets a dead letter for each broken row.
        column: The column of texts. Default: the only string column, else ``text``.
        ids: The column of ids. Default: ``id`` if the file has it, else the file's name and the row's number.
        metadata_columns: The columns to keep.
        needed: The columns that every document needs. A row that is null in one of them becomes a dead letter.
        elsewhere: The columns of ``metadata_columns`` that other files have, with their types.

    Raises:
        ValueError: The file lacks a column, which would be missing in every row.
    """
    for part in parts:
        if column is None:
            column = row_documents.text_of(part, file)
        for name, kind in elsewhere.items():
            part = part._replace(table=_with_nulls(part.table, name, kind))
        row_documents.check_there(part.table, (column, ids, *metadata_columns), file)
        texts, names = _valid(part.table.column(column)), _ids(part, file, ids)
        table = part.table.select(metadata_columns)
        lacks = any(part.table.column(name).null_count for name in needed)
        if texts is None or names is None or lacks:  # some value is broken: check row by row
            found = row_documents.readable(part, file, dead_letters, column, ids, needed)
            texts, names = pa.array(found.texts, pa.large_string()), pa.array(found.ids, pa.string())
            table = table.take(pa.array(found.rows, pa.int64()))
        own = {"id": names, "text": texts, "file": pa.repeat(pa.scalar(file, pa.string()), len(names))}
        sizes = np.asarray(pc.binary_length(texts), dtype=np.int64)
        more = {name: _plain(table.column(name)) for name in metadata_columns}
        yield Run(pa.table({**more, **own}).select([*own, *more]), sizes, file, part.bytes_read)


def _with_nulls(table: pa.Table, name: str, kind: pa.DataType) -> pa.Table:
    """Return the table with a column of typed nulls, if it lacks the column or the column has no type.

    A column has no type if all its values are null.
    """
    at = table.schema.get_field_index(name)
    if name not in table.column_names:
        return table.append_column(name, pa.nulls(len(table), kind))
    if at >= 0 and pa.types.is_null(table.schema.field(at).type):
        return table.set_column(at, name, pa.nulls(len(table), kind))
    return table


def grouped(found: Iterable[Run], max_bytes: int) -> Iterator[list[Run]]:
    """Yield lists of runs, one for each batch. Batches end where :func:`document_batches.grouped` would end them."""
    group: list[Run] = []
    size = count = 0
    for run in found:
        ends = np.cumsum(run.sizes)
        begin = 0
        while begin < len(ends):
            before = int(ends[begin - 1]) if begin else 0
            fit = int(np.searchsorted(ends, before + max_bytes - size, side="right")) - begin
            fit = min(fit, BATCH_ROWS - count)
            if fit <= 0 and group:
                yield group
                group, size, count = [], 0, 0
                continue
            fit = max(1, fit)
            group.append(run.part(begin, fit))
            begin += fit
            size, count = size + int(ends[begin - 1]) - before, count + fit
    if group:
        yield group


def joined(group: Sequence[Run]) -> pa.Table:
    """Return the documents of a group as one table, with each column in one array, so that one native call reads it.

    If a column has different types in different runs, its values become strings.
    """
    table = group[0].table if len(group) == 1 else _concat([run.table for run in group])
    return table if table.column("text").num_chunks == 1 else table.combine_chunks()


def in_pieces(group: Sequence[Run]) -> pa.Table:
    """Return the same table as :func:`joined`, but with texts in several arrays, as they were read.

    Joining 124 MB of texts would take 0.03 s.
    """
    table = group[0].table if len(group) == 1 else _concat([run.table for run in group])
    for at, name in enumerate(table.column_names):
        if name != "text" and table.column(name).num_chunks > 1:
            whole = pa.concat_arrays(table.column(name).chunks)
            table = table.set_column(at, table.schema.field(at), whole)
    return table


def _concat(tables: Sequence[pa.Table]) -> pa.Table:
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowTypeError:
        mixed = [name for name in tables[0].column_names if not _go_together([each.select([name]) for each in tables])]
        return pa.concat_tables([_as_strings(table, mixed) for table in tables], promote_options="permissive")


def _go_together(tables: Sequence[pa.Table]) -> bool:
    try:
        pa.unify_schemas([table.schema for table in tables], promote_options="permissive")
    except pa.ArrowTypeError:
        return False
    return True


def _as_strings(table: pa.Table, names: Sequence[str]) -> pa.Table:
    for name in names:
        values = [None if value is None else str(value) for value in table.column(name).to_pylist()]
        table = table.set_column(table.column_names.index(name), name, pa.array(values, pa.large_string()))
    return table


def _plain(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values of a kept column in plain form: without dictionary encoding, views and run-end encoding.

    Bytes that are not UTF-8 become U+FFFD.
    """
    chunks = [_sound(plain(chunk)) for chunk in values.chunks]
    return pa.chunked_array(chunks, chunks[0].type if chunks else values.type)


def _sound(values: pa.Array) -> pa.Array:
    try:
        values.validate(full=True)
    except pa.ArrowInvalid:  # the reader has already checked nested columns
        found = values.cast(pa.large_binary()).to_pylist()
        return pa.array([None if value is None else value.decode(errors="replace") for value in found], values.type)
    return values


def _ids(part: Part, file: str, column: str | None) -> pa.Array | pa.ChunkedArray | None:
    """Return the ids that ``row_documents.ids`` returns, but as an array; None if an id cannot be read."""
    name = column or "id"
    if name not in part.table.column_names:
        return _numbered(part, file)
    given = part.table.column(name)
    missing = given.is_null() if given.null_count else None
    if pa.types.is_integer(given.type):
        found = given.cast(pa.string())
    elif pa.types.is_string(given.type) or pa.types.is_large_string(given.type):
        valid = _valid(given if missing is None else given.fill_null(""))
        if valid is None:
            return None
        found = valid.cast(pa.string())
    else:
        names = row_documents.ids(part, file, column)
        return (
            None
            if any(isinstance(each, row_documents.UnreadableValue) for each in names)
            else pa.array(names, pa.string())
        )
    return found if missing is None else pc.if_else(missing, _numbered(part, file), found)


def _numbered(part: Part, file: str) -> pa.Array:
    numbers = pa.array(part.numbers, pa.int64()).cast(pa.string())
    return pc.binary_join_element_wise(pa.scalar(f"{file}#"), numbers, "")


def _valid(values: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return texts as large_string, or None if some row is not valid text."""
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)) or values.null_count:
        return None
    checked = TextBatch.of(values, on_error="skip")
    return None if checked.errors else pa.chunked_array(checked.texts, pa.large_string())
