"""The shards that an update takes over: linked if no document has changed, else written without those that have."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._util.durable_files import flush
from .empty_tables import fitted
from .former_run import FormerRun
from .run_folder import BESIDE, DIGESTS, settle
from .run_manifest import Shard
from .shard_output import facts_of_files
from .shards import ShardWriter
from .verification import check

#: The columns of chunks that a list of changes needs.
LISTED = ("document_index", "document_id", "chunk_index", "chunk_id", "text_id", "start", "end", "text")
#: The number of neighbouring shards, each of less than this part of a full shard, that an update joins to one. Without
#: it, a folder would have a further shard after each night.
MANY = 8

#: The shards that are written at a time, mostly to wait for the disk together.
_THREADS = 4

_Group = list[tuple[Shard, slice]]


class KeptShards:
    """The part of a folder that an update takes over.

    Attributes:
        shards: The shards in the new folder, after :meth:`write`.
    """

    def __init__(
        self,
        former: FormerRun,
        kept: npt.NDArray[np.bool_],
        files: Mapping[int, str],
        empty: dict[str, pa.Table],
        compression: str,
        size: int,
    ) -> None:
        self._former, self._kept, self._files_now, self._empty = former, kept, files, empty
        self._compression, self._size = compression, size
        self.shards: list[Shard] = []
        self._gone: list[pa.Table] = []

    @property
    def gone(self) -> pa.Table:
        """The chunks of changed and removed documents, in their former state."""
        return pa.concat_tables(self._gone) if self._gone else pa.table({name: [] for name in LISTED})

    def write(self, folder: Path) -> None:
        """Put the shards into the folder of the update."""
        for name in self._empty:
            (folder / name).mkdir(exist_ok=True)
        own = empty_tables_of(self._former)
        moved = np.zeros(len(self._former), np.bool_)
        moved[list(self._files_now)] = True
        has_all_columns = all(_has_columns(own[name].schema, self._empty[name].schema) for name in own)

        def taken(group: _Group) -> tuple[Shard | None, list[pa.Table]]:
            rows = group[0][1]
            if len(group) == 1 and self._kept[rows].all() and has_all_columns and not moved[rows].any():
                _link(group[0][0], self._former.folder, folder)
                return _without_letters(group[0][0]), []
            return self._rewritten(group, folder)

        with ThreadPoolExecutor(_THREADS) as pool:
            for shard, gone in pool.map(taken, _groups(self._former, self._size)):
                self.shards += [] if shard is None else [shard]
                self._gone += gone
        for name in self._empty:
            flush(folder / name)

    def _files(self, shard: Shard) -> Iterator[tuple[str, Path]]:
        for path, _, _ in shard.files(self._former.folder):
            yield path.parent.name if path.parent.name in BESIDE else "", path

    def _rewritten(self, group: _Group, folder: Path) -> tuple[Shard | None, list[pa.Table]]:
        """Write the unchanged documents of a group to one shard, and return it with the chunks of the others."""
        check(self._former.folder, [shard for shard, _ in group], hashes=True)
        first = group[0][0]
        rows = np.concatenate([np.arange(own.start, own.stop) for _, own in group])
        rows = rows[self._kept[rows]]
        writers: dict[str, ShardWriter] = {}
        cut, gone = 0, []
        try:
            for shard, _ in group:
                for name, path in self._files(shard):
                    for table, others, documents, size in self._kept_tables(name, path):
                        if name == "":
                            cut += documents
                            gone += others
                        if len(rows):
                            writer = writers.get(name) or ShardWriter(
                                folder / name / first.name, table.schema, self._compression
                            )
                            writers[name] = writer
                            writer.write(table, size)
            return (self._finished(first, writers, rows, len(rows) - cut) if len(rows) else None), gone
        except BaseException:
            for writer in writers.values():
                writer.abandon()
            raise

    def _kept_tables(self, name: str, path: Path) -> Iterator[tuple[pa.Table, list[pa.Table], int, int]]:
        """Yield the rows of unchanged documents in each row group, and of chunks also the other rows.

        The number of unchanged documents and the bytes of their text come with them.
        """
        file = _opened(path)
        # The schema that was written: the one that is read has numbers of fields, which would be written again.
        schema = _schema(file)
        empty = self._empty[name]
        if not file.num_row_groups:
            table = schema.empty_table()
            yield table if _has_columns(schema, empty.schema) else fitted(table, empty), [], 0, 0
        for group in range(file.num_row_groups):
            table = file.read_row_group(group).cast(schema)
            if not _has_columns(schema, empty.schema):
                table = fitted(table, empty).replace_schema_metadata(schema.metadata)
            others: list[pa.Table] = []
            documents, places = np.unique(np.asarray(table["document_index"], np.int64), return_inverse=True)
            rows = np.searchsorted(self._former.numbers, documents)
            kept = self._kept[rows]
            if not kept.all():
                mask = kept[places]
                if name == "":
                    gone = table.select(LISTED).filter(pa.array(~mask))
                    others = [gone.replace_schema_metadata(None)]
                table = table.filter(pa.array(mask))
            if name == DIGESTS:
                table = self._with_files(table)
            size = int(self._former.text_bytes[rows[kept]].sum())
            yield table, others, int(kept.sum()), size

    def _with_files(self, table: pa.Table) -> pa.Table:
        """Return digests with the files in which the documents are now, from which the next update knows them."""
        rows = np.searchsorted(self._former.numbers, np.asarray(table["document_index"], np.int64)).tolist()
        if not self._files_now or self._files_now.keys().isdisjoint(rows):
            return table
        at, column = table.schema.get_field_index("file"), table["file"]
        files = [self._files_now.get(row, file) for row, file in zip(rows, column.to_pylist(), strict=True)]
        return table.set_column(at, table.schema.field(at), pa.array(files, column.type))

    def _finished(self, shard: Shard, writers: dict[str, ShardWriter], rows: npt.NDArray[Any], blank: int) -> Shard:
        for writer in writers.values():
            file = writer.finish()
            file.sync()
            file.close()
            settle(writer.path)
        facts = facts_of_files(writers)
        return replace(
            _without_letters(shard),
            **facts,
            documents=len(rows),
            text_bytes=int(self._former.text_bytes[rows].sum()),
            dropped=int(self._former.dropped[rows].sum()),
            blank=blank,
        )


def _groups(former: FormerRun, size: int) -> Iterator[_Group]:
    """Yield the shards of a run in their order, each alone or, if there are many small ones, several together."""
    held: _Group = []

    def ended() -> Iterator[_Group]:
        if len(held) >= MANY:
            yield held[:]
        else:
            yield from ([each] for each in held)
        held.clear()

    for each in former.shard_rows():
        is_small = each[0].text_bytes < size / MANY
        if not is_small or len(held) == MANY:
            yield from ended()
        if is_small:
            held.append(each)
        else:
            yield [each]
    yield from ended()


def _has_columns(own: pa.Schema, wanted: pa.Schema) -> bool:
    """Return whether a schema has all wanted columns, and a type for each column that another file gives a type."""
    return own.names == wanted.names and not any(
        pa.types.is_null(each.type) and not pa.types.is_null(wanted.field(each.name).type) for each in own
    )


def check_types(former: pa.Table, now: pa.Table, names: Sequence[str]) -> None:
    """Raise ValueError if a column that chunks repeat has another type than in the last run."""
    for name in names:
        types = [table.schema.field(name).type for table in (former, now) if name in table.column_names]
        if len(types) == 2 and types[0] != types[1] and not any(map(pa.types.is_null, types)):
            raise ValueError(
                f"column {name!r} was of type {types[0]} in the last run, and is of type {types[1]}: give it the same "
                "type as before, leave it out of metadata_columns=, or ingest into another folder"
            )


def _without_letters(shard: Shard) -> Shard:
    """Return a shard without dead letters and batches: all files with dead letters are read again."""
    none = hashlib.sha256(b"").hexdigest()
    found = replace(shard, letters=0, letters_at=0, letter_bytes=0, letters_sha256=none)
    return replace(found, first_batch=0, batches=0, first_read=0, read=0)


def _link(shard: Shard, old: Path, new: Path) -> None:
    """Give the files of a shard a second name, or copy them if the file system has no links."""
    for path, _, _ in shard.files(old):
        to = new / path.relative_to(old)
        to.unlink(missing_ok=True)
        try:
            os.link(path, to)
        except OSError:
            with contextlib.suppress(FileNotFoundError):
                to.unlink()
            shutil.copyfile(path, to)
            flush(to)


def _opened(path: Path) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetFile(path, memory_map=True)


def _schema(file: Any) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(file.metadata.metadata[b"ARROW:schema"])))


def chunks_of(paths: list[Path]) -> pa.Table:
    """Return the chunks of shards, with the columns of :data:`LISTED`."""
    found = [_opened(path).read(columns=list(LISTED)) for path in paths]
    return pa.concat_tables(found).replace_schema_metadata(None) if found else pa.table({name: [] for name in LISTED})


def empty_tables_of(former: FormerRun) -> dict[str, pa.Table]:
    """Return a table without rows for each data set of a run."""
    found = {}
    for path, _, _ in former.shards[0].files(former.folder) if former.shards else []:
        name = path.parent.name if path.parent.name in BESIDE else ""
        found[name] = _schema(_opened(path)).empty_table()
    return found
