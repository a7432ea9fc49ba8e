"""The comparison of a run's documents with those of an index, to find new, unchanged and removed ones."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .._engine.arrow import primitive
from .._engine.data.columns import COLUMNS
from .._util.counting import counted
from ..index.add_result import AddResult
from ..index.index import Index
from ..index.store import context_column, document_digests, proposition_column
from ..index.store.document_catalog import DocumentCatalog
from ..index.store.document_digests import Digests
from ..inputs.document_columns import DocumentColumns
from ..io import Source
from ..io.files import SourceFile, scheme_of, unwritable
from ..segmenter import Segmenter
from .file_cache import OF_ONE_DOCUMENT, FileCache, mark
from .shared.console import say

#: The columns that only readers of structured documents make, and that segmentation reads.
_OF_PARSERS = ("blocks", "removed", "page_starts")
#: The options that do not change the chunks.
_FREE = ("on_error", "llm")


class Changes:
    """The documents of one run, batch by batch, compared with those of an index.

    Attributes:
        merge: Whether consecutive rows with the same id are one document.
        seen: The cache of files, which is saved after the index.
        count: The number of documents so far.
        kept: The number of those documents that are unchanged in the index.
        files: The input files that are one document each, whose ids are their paths.
    """

    def __init__(self, index: Index, *, prune: bool = False, merge: bool = False, rehash: bool = False) -> None:
        self._index, self._prune, self.merge, self._rehash = index, prune, merge, rehash
        self._files: dict[str, tuple[SourceFile, int]] = {}
        self.seen = FileCache(index.path)
        self._made_by: list[Any] = []
        self._read: list[str] = []  # the columns that contexts are made of
        self._seen = DocumentCatalog(4)
        self._ids: list[pa.Array] | None = []
        self._waiting: list[Digests] = []
        self._numbers: list[npt.NDArray[np.int64]] = []
        self.count = self.kept = 0
        self.files: set[str] = set()
        self._looked = False

    @property
    def columns(self) -> list[str]:
        """The columns that the index keeps of its documents, without pychunk's own columns."""
        own = {column.name for column in COLUMNS}
        own |= {context_column.CONTEXT} if context_column.is_in(self._index.schema) else set()
        own |= {proposition_column.PROPOSITIONS} if proposition_column.is_in(self._index.schema) else set()
        return [name for name in self._index.schema.names if name not in own]

    @property
    def has_documents(self) -> bool:
        """True if the index holds any chunks, so that most documents are likely to be unchanged."""
        return len(self._index) > 0

    def cut_by(self, made: Segmenter) -> None:
        """Record the segmenter; after a change of an option, model or version every document counts as changed."""
        options = {name: value for name, value in made.options.items() if name not in _FREE}
        options["placement"] = str(made.placement)
        nothing: dict[str, Any] = {name: [] for name in made.method.wants}
        self._read = [way.reads for way in made.ways if way.reads]
        found = made([], columns=cast("DocumentColumns", nothing)).metadata
        self._made_by = [options, found]
        before, now = self._index.info.get("tokenizer"), found["tokenizer"]
        if self.has_documents and before not in (None, now):
            text = (
                f"the index counts tokens by {before}, and this run by {now}: it cuts all inputs again, and documents "
                "that are in none of them keep their counts (pass the --tokenizer of the run before, or --prune)"
            )
            say(text, "yellow")

    def unread(self, source: Source, said: dict[str, Any], first: int) -> npt.NDArray[np.bool_]:
        """Return which files of the next source need not be read, because the index holds them unchanged.

        Args:
            source: The next source of the run.
            said: The keywords that name the source's columns.
            first: The number of the source's first document.

        Returns:
            bool[n]: whether each of the source's n files is unchanged.
        """
        own = [at for at, kind in enumerate(source.kinds) if kind in OF_ONE_DOCUMENT]
        marks = {kind: mark([*self._made_by, said, kind, _how(source, kind)]) for kind in dict.fromkeys(source.kinds)}
        files = [source.files[at] for at in own]
        self.files.update(unwritable(file.path) or file.path for file in files)
        self._files = {file.path: (file, marks[source.kinds[at]]) for file, at in zip(files, own, strict=True)}
        unread = np.zeros(len(source.files), np.bool_)
        if self._rehash or not own:
            return unread
        same, found = self.seen.known(files, np.array([marks[source.kinds[at]] for at in own], np.uint64))
        held = ~self._index.diff(found)
        found = found.choose(held)
        unread[np.array(own)[same][held]] = True
        self.see(found.ids, first + np.flatnonzero(unread))
        self.kept += len(found)
        return unread

    def _note(self, table: pa.Table, found: Digests) -> None:
        """Record the files whose documents were read."""
        paths = table["file"].to_pylist() if self._files else []
        rows = [row for row, path in enumerate(paths) if path in self._files]
        if rows:
            files, marks = zip(*(self._files[paths[row]] for row in rows), strict=True)
            self.seen.note(files, np.array(marks, np.uint64), found.choose(np.array(rows)))

    def rows(self, table: pa.Table, said: dict[str, Any], numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the rows of the next batch that must be cut.

        Args:
            table: The documents of the batch.
            said: The keywords that name the batch's columns.
            numbers: int64[n]: the numbers of the batch's n documents in the run.

        Returns:
            int64[m]: the rows of new and changed documents.

        Raises:
            ValueError: Two documents of the run have the same id.
        """
        columns = {name: value for name, value in said.items() if name != "metadata_columns"}
        names = ["text", *said.get("metadata_columns", ()), *columns.values()]
        marks: dict[bytes, bytes] = {}
        if "blocks" in table.column_names:
            marks = table.schema.metadata or {}
            names += [name for name in _OF_PARSERS if name in table.column_names]
        names += [name for name in self._read if name in table.column_names and name not in names]
        how = [*self._made_by, columns, sorted(said.get("metadata_columns", ())), sorted(map(str, marks.items()))]
        found = document_digests.of(table, names, how)
        self.see(found.ids, numbers)
        self._note(table, found)
        changed = np.flatnonzero(self._index.diff(found))
        if len(changed) and not self._looked and not self._prune:  # --prune removes the other spelling
            self._looked = True
            rows = primitive(changed)
            self._tell_otherwise(found.ids.take(rows), table["file"].take(rows))
        self._waiting.append(found.choose(changed))
        self._numbers.append(numbers[changed])
        self.kept += len(found) - len(changed)
        return changed

    def _tell_otherwise(self, ids: pa.Array, paths: pa.ChunkedArray) -> None:
        """Warn of new documents that the index already holds under another spelling of their files' paths."""
        local = [path for path in paths.unique().to_pylist() if path != "-" and not scheme_of(path)]
        other = {path: os.path.relpath(path) if os.path.isabs(path) else os.path.abspath(path) for path in local}
        names = {
            f"{other[path]}{name[len(path) :]}": name
            for name, path in zip(ids.to_pylist(), paths.to_pylist(), strict=True)
            if path in other and (name == path or name.startswith(f"{path}#"))
        }
        if not names or "document_id" not in self._index.schema.names:
            return
        alive = set(self._index.ids())
        found = [(name, spelled) for spelled, name in names.items() if spelled in alive and name not in alive]
        if found:
            name, spelled = found[0]
            more = f", and {counted(len(found) - 1, 'document')} more" if len(found) > 1 else ""
            text = (
                f"{name} is in the index as {spelled}, too{more}; if that is the same file, use that spelling, or "
                "remove the old one with --prune"
            )
            say(text, "yellow")

    def cut(self, left_out: list[int]) -> Digests:
        """Return the digests of the documents cut since the last call, except the numbers in ``left_out``."""
        numbers = np.concatenate([np.empty(0, np.int64), *self._numbers])
        ids = pa.concat_arrays([pa.array([], pa.large_string()), *(each.ids for each in self._waiting)])
        values = np.concatenate([np.empty((3, 0), np.uint64), *(each.values for each in self._waiting)], axis=1)
        self._waiting, self._numbers = [], []
        return Digests(ids, values).choose(~np.isin(numbers, left_out))

    def see(self, ids: pa.Array | None, numbers: npt.NDArray[np.int64] | None = None) -> None:
        """Record the ids of the next documents of the run.

        Args:
            ids: The ids, or None if the documents have none.
            numbers: int64[n]: the numbers of the documents; by default they follow the previous ones.

        Raises:
            ValueError: An id occurred before, or documents have no ids although --prune needs them.
        """
        if ids is None:
            if self._prune:
                raise ValueError("--prune needs document ids, and these chunks have none; segment with --ids")
            self._ids = None
            return
        if numbers is None:
            numbers = np.arange(self.count, self.count + len(ids))
        own = _names(ids)
        before = self._seen.latest(own[0])
        again = np.flatnonzero((before[:2] == own[1:]).all(axis=0))
        if len(again):
            self._refuse(ids[again[0]], *sorted((int(before[2, again[0]]), int(numbers[again[0]]))))
        first: dict[Any, int] = {}
        if len(ids.unique()) < len(ids):
            for row, each in zip(numbers.tolist(), ids.to_pylist(), strict=True):
                if first.setdefault(each, row) != row:
                    self._refuse(each, first[each], row)
        self._seen.note(np.concatenate([own, numbers[None].astype(np.uint64)]))
        self.count += len(ids)
        if self._prune and self._ids is not None:
            self._ids.append(ids)

    def _refuse(self, name: Any, first: int, second: int) -> None:
        if self.merge:
            raise ValueError(
                f"documents {first} and {second} have the same id {str(name)!r}, with others between them; rows to be "
                "merged must be consecutive, so sort the input by id"
            )
        raise ValueError(
            f"documents {first} and {second} have the same id {str(name)!r}: give each document an id of its own, or "
            "add inputs that replace each other in separate calls; if rows are parts of one document, pass "
            "on_duplicate='merge'"
        )

    def prune(self, unread: Sequence[str] = ()) -> AddResult:
        """Remove the documents that the run did not see, and report documents without ids.

        Documents of the files in ``unread`` stay in the index, and the method reports their number.
        """
        assert self._ids is not None
        columns = self._index.schema.names
        if nameless := self._index.count("document_id is null") if "document_id" in columns else len(self._index):
            said = (
                f"{counted(nameless, 'chunk')} of documents without ids stay, because --prune needs ids; remove them "
                "in Python with index.remove(chunk_ids=...), or build the index again from documents with ids"
            )
            say(said, "yellow")
        if "document_id" not in columns:
            return AddResult()
        known = pa.array(map(str, self._index.ids()), pa.large_string())
        stay = pa.array(unread, pa.large_string())
        if staying := pc.sum(pc.is_in(known, value_set=stay)).as_py():
            say(f"{counted(staying, 'document')} could not be read: the index keeps the old version", "yellow")
        gone = known.filter(pc.invert(pc.is_in(known, value_set=pa.concat_arrays([stay, *self._ids]))))
        self._index.remove(gone)
        return AddResult(removed=len(gone))


def _names(ids: pa.Array) -> document_digests.U64:
    """Return uint64[3, n]: a 192-bit hash of each id."""
    made = (hashlib.blake2b(str(each).encode(), digest_size=24).digest() for each in ids.to_pylist())
    return np.ascontiguousarray(np.frombuffer(b"".join(made), "<u8").astype(np.uint64).reshape(-1, 3).T)


def _how(source: Source, kind: str) -> list[Any]:
    """Return what the text of a file of this kind depends on in addition to its bytes."""
    by_ocr = kind == "image" or (kind == "pdf" and source.ocr)
    packages = [{"html": "selectolax", "pdf": "pypdfium2"}.get(kind, ""), *(["rapidocr"] if by_ocr else [])]
    versions = [""] * len(packages)
    if any(packages):
        from importlib import metadata  # imported here, because other commands would start 0.02 s later

        for place, package in enumerate(packages):
            with contextlib.suppress(metadata.PackageNotFoundError, ValueError):
                versions[place] = metadata.version(package)
    return [source.encoding, source.noise, source.noise_threshold, source.links, *versions]
