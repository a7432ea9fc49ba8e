"""The writer of a shard, a Parquet file of chunks whose hash is computed while it is written."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

from .._engine.data.columns import COLUMNS
from ..chunks.call_stats import cuts_of
from .direct_file import DirectFile
from .run_folder import aside

#: The least bytes of text in a row group, unless the shard has less. This is half a batch, so every full batch becomes
#: its own row group.
ROW_GROUP_BYTES = 4 << 20
#: The level of zstd compression. Higher levels take longer than the rest of the pipeline together.
ZSTD_LEVEL = 1
COMPRESSIONS = ("none", "lz4", "zstd")
#: The columns of integers that grow or repeat. Delta encoding stores them in a third of their size, and takes a
#: twentieth of the time of dictionary encoding.
_DELTA = frozenset(column.name for column in COLUMNS if column.delta)
_DICTIONARY = ("document_id", *(column.name for column in COLUMNS if column.labels))
_STATISTICS = ("document_index", "document_id")


class ShardWriter:
    """The writer of one shard under a temporary name. ``finish`` completes the file, and ``abandon`` removes it."""

    def __init__(self, path: Path, schema: pa.Schema, compression: str) -> None:
        import pyarrow.parquet as pq

        self.path = path
        self.chunks = 0
        #: The number of chunks by the reason why they end; empty for tables without the column ``end_reason``.
        self.cuts: Counter[str] = Counter()
        self._schema = schema
        self._held: list[pa.Table] = []
        self._held_bytes = 0
        self.sink = _Hashing(DirectFile(aside(path)))
        try:
            self._writer = pq.ParquetWriter(pa.PythonFile(self.sink, mode="w"), schema, **_options(schema, compression))
        except BaseException:
            self.abandon()
            raise

    def write(self, table: pa.Table, text_bytes: int) -> None:
        """Append rows. Only the bytes of text decide where row groups end.

        Raises:
            ValueError: A column of the documents that chunks repeat has another type than before.
        """
        self.cuts.update(cuts_of(table))
        self._held.append(table if table.schema == self._schema else _fitted(table, self._schema))
        self._held_bytes += text_bytes
        if self._held_bytes >= ROW_GROUP_BYTES:
            self._flush()

    def finish(self) -> DirectFile:
        """Write the rest of the file, and return it. It is still open, and may not be on the disk yet."""
        self._flush()
        self._writer.close()
        self.sink.file.finish()
        return self.sink.file

    def abandon(self) -> None:
        """Close and remove the incomplete file."""
        self.sink.gone = True
        with contextlib.suppress(OSError, ValueError):
            self.sink.file.close()
        aside(self.path).unlink(missing_ok=True)

    def _flush(self) -> None:
        rows = sum(len(table) for table in self._held)
        if rows:
            self._writer.write_table(pa.concat_tables(self._held), row_group_size=rows)
        self.chunks += rows
        self._held, self._held_bytes = [], 0


def _fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table with the column types of a shard, because the files of a folder may declare different types."""
    for before, now in zip(schema, table.schema, strict=True):
        try:
            table.column(now.name).cast(before.type)
        except (pa.ArrowException, NotImplementedError):  # Arrow has no such cast.
            raise ValueError(
                f"column {now.name!r} is of type {now.type} here, but was of type {before.type} in earlier documents: "
                "give it the same type in all files, or leave it out of metadata_columns="
            ) from None
    return table.cast(schema)


class _Hashing:
    """A file that computes the SHA-256 of its bytes, and measures the seconds that writing takes."""

    closed = False
    #: Whether writes are ignored. The Parquet writer writes its footer when it is freed, even if the file was
    #: abandoned.
    gone = False

    def __init__(self, file: DirectFile) -> None:
        self.file = file
        self.sha256 = hashlib.sha256()
        self.seconds = 0.0

    def write(self, data: Any) -> int:
        if self.gone:
            return len(data)
        begun = time.perf_counter()
        self.file.write(data)
        self.sha256.update(data)
        self.seconds += time.perf_counter() - begun
        return len(data)

    def tell(self) -> int:
        return self.file.bytes

    def flush(self) -> None:
        """Do nothing, because the code that finishes the shard flushes the file."""

    def close(self) -> None:
        """Do nothing, because the code that finishes the shard closes the file once it is on the disk."""


def _options(schema: pa.Schema, compression: str) -> dict[str, Any]:
    plain = [field.name for field in schema if not pa.types.is_nested(field.type) and field.name not in _DICTIONARY]
    return {
        "compression": compression,
        "compression_level": ZSTD_LEVEL if compression == "zstd" else None,
        "use_dictionary": [name for name in _DICTIONARY if name in schema.names],
        "column_encoding": {name: "DELTA_BINARY_PACKED" if name in _DELTA else "PLAIN" for name in plain},
        "write_statistics": [name for name in _STATISTICS if name in schema.names],
    }
