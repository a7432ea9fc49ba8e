"""The run that a folder holds before an update, whose chunks the update takes over for unchanged documents."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine.arrow import compute as pc
from ..io import Source
from ..io.wiki.mediawiki import DROPPED
from . import dead_letters
from .row_digests import Digests, as_binary, from_binary, key_hashes
from .run_folder import DIGESTS, LOCK
from .run_manifest import Manifest, Shard

I64 = npt.NDArray[np.int64]

#: The table of a shard's documents. The digest is null if a part of the document could not be cut. The text is counted
#: in bytes, and ``dropped`` counts the wiki templates that were removed inside sentences.
SCHEMA = pa.schema(
    [
        ("document_index", pa.int64()),
        ("document_id", pa.large_string()),
        ("digest", pa.binary(16)),
        ("file", pa.large_string()),
        ("text_bytes", pa.int64()),
        ("dropped", pa.int64()),
    ]
)
#: The seconds by which a file must be older than the last run. A younger file may have changed after it was read and
#: still have the same time of change, because some file systems count in steps of two seconds.
_SETTLED_SECONDS = 2.0


def digest_table(found: Digests, table: pa.Table, first: int, failed: Iterable[int]) -> pa.Table:
    """Return the rows of :data:`SCHEMA` for a batch of documents, numbered from ``first``.

    ``failed`` are the rows of documents that have no digest.
    """
    missing = np.zeros(len(found), np.bool_)
    missing[list(failed)] = True
    columns = {
        "document_index": pa.array(np.arange(first, first + len(found))),
        "document_id": found.ids,
        "digest": as_binary(found.values, missing),
        "file": table["file"].cast(pa.large_string()),
        "text_bytes": pc.binary_length(table["text"]),
        "dropped": table[DROPPED] if DROPPED in table.column_names else np.zeros(len(found), np.int64),
    }
    return pa.table(columns).cast(SCHEMA)


class FormerRun:
    """The complete shards of an earlier run.

    Attributes:
        folder: The folder of the run.
        shards: Its shards.
        ids: The id of each document, large_string[n].
        numbers: The number of each document in the run, which rises; int64[n].
        text_bytes: The bytes of each document's text, int64[n].
        dropped: The number of removed templates of each document, int64[n].
        ends: For each shard, the number of documents up to its end.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder, self.shards, self._manifest = folder, manifest.shards, manifest
        tables = [_read(folder / DIGESTS / shard.name) for shard in self.shards]
        table = pa.concat_tables(tables).combine_chunks() if tables else SCHEMA.empty_table()
        columns = {name: _array(table[name]) for name in SCHEMA.names}
        self.ends = np.cumsum([len(each) for each in tables])
        self.ids = columns["document_id"]
        self.numbers, self.text_bytes, self.dropped = (
            np.asarray(columns[name]) for name in ("document_index", "text_bytes", "dropped")
        )
        self._files, self._failed = columns["file"], np.asarray(columns["digest"].is_null())
        self._digests = from_binary(columns["digest"])
        keys = key_hashes(self.ids)
        self._order = np.argsort(keys[:, 0], kind="stable")
        self._keys = keys[self._order]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def next_number(self) -> int:
        """The number of the first document that an update adds."""
        return int(self.numbers[-1]) + 1 if len(self) else 0

    def find(self, found: Digests) -> tuple[I64, npt.NDArray[np.bool_]]:
        """Return the row of each document in this run, or -1, and whether the document is unchanged."""
        if not len(self):
            return np.full(len(found), -1), np.zeros(len(found), np.bool_)
        at = np.minimum(np.searchsorted(self._keys[:, 0], found.keys[:, 0]), len(self) - 1)
        rows = np.where((self._keys[at] == found.keys).all(1), self._order[at], -1)
        same = (rows >= 0) & (self._digests[rows] == found.values).all(1) & ~self._failed[rows]
        return rows, same

    def file_of(self, row: int) -> str:
        """Return the file that the document of a row came from."""
        return str(self._files[row].as_py())

    def moved(self, rows: I64, files: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.bool_]:
        """Return which documents came from another file than the given one."""
        return np.asarray(pc.not_equal(self._files.take(pa.array(rows)), files.cast(pa.large_string())))

    def unchanged_files(self, source: Source) -> set[str]:
        """Return the files that need not be read again, because the run has read them completely.

        As git does, this trusts a file that has the size and the time of change of the last run, if that time is not so
        close to the run that a later change could have it, too. It also trusts an equal ETag. A file of a dead letter,
        or of a document that failed, is read again.
        """
        if not self._manifest.complete:
            return set()
        read = self._manifest.facts["source"]["files"]
        begun = (self.folder / LOCK).stat().st_mtime - _SETTLED_SECONDS
        found = {
            file.path
            for file in source.files
            if read.get(file.path) == [file.size, file.modified, file.etag]
            and (file.etag is not None or (file.modified is not None and file.modified < begun))
        }
        letters = {json.loads(line)["source"] for line in dead_letters.lines(self.folder)}
        if not letters <= {*read, *self._manifest.facts["source"]["ignored"], source.path}:
            return set()
        found &= set(pc.unique(self._files).to_pylist())
        return found - letters - set(pc.unique(self._files.filter(pa.array(self._failed))).to_pylist())

    def rows_of(self, files: set[str]) -> npt.NDArray[np.bool_]:
        """Return which documents came from the given files."""
        return np.asarray(pc.is_in(self._files, value_set=pa.array(sorted(files), pa.large_string())))

    def shard_rows(self) -> list[tuple[Shard, slice]]:
        """Return each shard with the rows of its documents."""
        ends = self.ends.tolist()
        return [(shard, slice(*own)) for shard, *own in zip(self.shards, [0, *ends[:-1]], ends, strict=True)]


def _read(path: Path) -> Any:
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    if table.schema.names != SCHEMA.names:
        raise ValueError(
            f"{path} is of an earlier version, and lacks columns that an update needs. Ingest into another folder"
        )
    return table.cast(SCHEMA)


def _array(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
