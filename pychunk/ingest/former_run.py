"""The run that a folder holds before an update, whose chunks the update takes over for unchanged documents."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine.arrow import primitive
from ..index.store import document_digests
from ..index.store.document_digests import Digests
from .run_folder import DIGESTS
from .run_manifest import Manifest

I64 = npt.NDArray[np.int64]

#: The table of a shard's documents. The digest is null if a part of the document could not be cut.
SCHEMA = pa.schema([("document_index", pa.int64()), ("document_id", pa.large_string()), ("digest", pa.binary(16))])


def digests_of(table: pa.Table) -> Digests:
    """Return the digests of a batch of documents: of every column that was read, and of the marks of its reader.

    The options are not included, because the manifest holds them, and an update needs the same ones.
    """
    names = [name for name in table.column_names if name != "id"]
    marks = sorted((key.hex(), value.hex()) for key, value in (table.schema.metadata or {}).items())
    return document_digests.of(table, names, marks)


def digest_table(found: Digests, first: int, failed: Iterable[int]) -> pa.Table:
    """Return the rows of :data:`SCHEMA` for documents numbered from ``first``; ``failed`` rows have no digest."""
    digests = _bytes_of(found)
    for row in failed:
        digests[row] = None
    numbers = pa.array(np.arange(first, first + len(found)))
    return pa.table([numbers, found.ids, pa.array(digests, pa.binary(16))], schema=SCHEMA)


class FormerRun:
    """The complete shards of an earlier run.

    Attributes:
        folder: The folder of the run.
        ids: The id of each document, large_string[n].
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder, self._shards = folder, [shard.name for shard in manifest.shards]
        table = self._read(DIGESTS, SCHEMA.names)
        self.ids = table["document_id"].combine_chunks() if len(table) else pa.array([], pa.large_string())
        pairs = zip(self.ids.to_pylist(), table["digest"].to_pylist(), strict=True)
        self._numbers = {pair: number for number, pair in enumerate(pairs) if pair[1] is not None}
        self._sets: dict[str, _DataSet] = {}

    def find(self, found: Digests) -> I64:
        """Return the numbers that documents had in this run if they are unchanged, else -1, int64[n]."""
        pairs = zip(found.ids.to_pylist(), _bytes_of(found), strict=True)
        return np.array([self._numbers.get(pair, -1) for pair in pairs], np.int64)

    def tables(self, names: Iterable[str], documents: I64, numbers: I64) -> dict[str, pa.Table]:
        """Return the rows of documents in the data sets ``names``, with new numbers of the documents.

        Args:
            names: The folders of the data sets; "" for the chunks.
            documents: The numbers of the documents in this run, int64[n].
            numbers: Their new numbers, int64[n].
        """
        order = np.argsort(documents)
        documents, numbers, found = documents[order], numbers[order], {}
        for name in names:
            if name not in self._sets:
                self._sets[name] = _DataSet([self.folder / name / shard for shard in self._shards])
            table = self._sets[name].rows(documents)
            places = np.searchsorted(documents, np.asarray(table["document_index"], np.int64))
            found[name] = renumbered(table, numbers[places])
        return found

    def chunks_of(self, documents: I64) -> pa.Table:
        """Return the chunks of documents, without vectors and metadata columns, for a list of changes."""
        return chunks_of([self.folder / name for name in self._shards], documents)

    def _read(self, name: str, columns: list[str]) -> pa.Table:
        import pyarrow.parquet as pq

        tables = [pq.read_table(self.folder / name / shard, columns=columns) for shard in self._shards]
        return pa.concat_tables(tables) if tables else SCHEMA.empty_table()


def chunks_of(paths: Iterable[Path], documents: I64) -> pa.Table:
    """Return the chunks of documents in shards, with the columns that a list of changes needs."""
    import pyarrow.parquet as pq

    names = ["document_index", "document_id", "chunk_index", "chunk_id", "text_id", "start", "end", "text"]
    found = []
    for path in paths:
        table = pq.read_table(path, columns=names)
        own = np.isin(np.asarray(table["document_index"], np.int64), documents)
        found.append(table.filter(pa.array(own)))
    return pa.concat_tables(found).replace_schema_metadata(None) if found else pa.table({name: [] for name in names})


def renumbered(table: pa.Table, numbers: I64) -> pa.Table:
    """Return a table with other numbers of documents, int64[rows]."""
    at = table.column_names.index("document_index")
    return table.set_column(at, table.schema.field(at), pa.array(numbers, pa.int64()))


class _DataSet:
    """The shards of one data set, of which the row groups with the wanted documents are read.

    A row group holds whole documents, in their order, so its statistics show which.
    """

    def __init__(self, paths: list[Path]) -> None:
        import pyarrow.parquet as pq

        self._groups: list[tuple[Any, int, int, int]] = []
        self._empty: pa.Table | None = None
        self._last: tuple[int, pa.Table] | None = None  # The next batch often begins in the same row group.
        for path in paths:
            file = pq.ParquetFile(path, memory_map=True)
            # The schema that was written: the one that is read has numbers of fields, which would be written again.
            schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(file.metadata.metadata[b"ARROW:schema"])))
            self._empty = schema.empty_table()
            column = file.schema_arrow.names.index("document_index")
            for group in range(file.num_row_groups):
                known = file.metadata.row_group(group).column(column).statistics
                self._groups.append((file, group, known.min, known.max))

    def rows(self, documents: I64) -> pa.Table:
        """Return the rows of documents, whose numbers rise."""
        assert self._empty is not None
        found = [self._empty]
        for number, (_, _, low, high) in enumerate(self._groups):
            begin, end = np.searchsorted(documents, [low, high + 1])
            if begin < end:
                table = self._group(number)
                own = np.isin(np.asarray(table["document_index"], np.int64), documents[begin:end])
                found.append(table if own.all() else table.filter(pa.array(own)))
        return pa.concat_tables(found)

    def _group(self, number: int) -> pa.Table:
        assert self._empty is not None
        if self._last is None or self._last[0] != number:
            file, group, _, _ = self._groups[number]
            self._last = number, file.read_row_group(group).cast(self._empty.schema)
        return self._last[1]


def merged(parts: list[dict[str, pa.Table]]) -> dict[str, pa.Table]:
    """Return the rows of several tables by name, in the order of their documents."""
    found = {}
    for name in dict.fromkeys(name for part in parts for name in part):
        tables = [part[name] for part in parts if name in part]
        table = tables[-1]
        if len(tables) > 1:
            schema = tables[-1].schema
            table = pa.concat_tables([each.cast(schema) for each in tables]).unify_dictionaries()
            order = np.argsort(np.asarray(table["document_index"], np.int64), kind="stable")
            table = table.take(primitive(order)).replace_schema_metadata(schema.metadata)
        # As one chunk, as the engine makes it: the pages of a nested column end where its chunks do.
        found[name] = table.combine_chunks()
    return found


def _bytes_of(found: Digests) -> list[bytes | None]:
    halves = np.ascontiguousarray(found.values[1:].T, "<u8").tobytes()
    return [halves[at : at + 16] for at in range(0, len(halves), 16)]
