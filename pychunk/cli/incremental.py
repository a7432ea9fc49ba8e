"""Which documents of a run an index lacks, and which of the index's are in no input any more."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .._engine.arrow import primitive
from .._engine.data.columns import COLUMNS
from ..index.add_result import AddResult
from ..index.index import Index
from ..index.store import context_column, document_digests
from ..index.store.document_catalog import DocumentCatalog
from ..index.store.document_digests import Digests
from ..io import Source
from ..io.files import SourceFile, scheme_of, unwritable
from ..segmenter import Segmenter
from .file_cache import OF_ONE_DOCUMENT, FileCache, mark
from .shared.console import counted, say

#: Columns that only readers of structured documents make, and what cuts reads.
_OF_PARSERS = ("blocks", "removed", "page_starts")
#: Options that change nothing in the chunks.
_FREE = ("threads", "on_error", "llm")


class Changes:
    """The documents of one run, batch by batch, beside those of an index.

    Attributes:
        merge: whether rows of one id that follow each other come as one document.
        seen: what is known of files, which is the index's to keep once it is saved.
        count: documents so far.
        kept: those of them that are in the index as they are.
        files: of the inputs those that are one document each, which is called like its file.
    """

    def __init__(self, index: Index, *, prune: bool = False, merge: bool = False, rehash: bool = False) -> None:
        self._index, self._prune, self.merge, self._rehash = index, prune, merge, rehash
        self._files: dict[str, tuple[SourceFile, int]] = {}
        self.seen = FileCache(index.path)
        self._made_by: list[Any] = []
        self._read: list[str] = []  # for contexts
        self._seen = DocumentCatalog(4)
        self._ids: list[pa.Array] | None = []
        self._waiting: list[Digests] = []
        self._numbers: list[npt.NDArray[np.int64]] = []
        self.count = self.kept = 0
        self.files: set[str] = set()
        self._looked = False

    @property
    def columns(self) -> list[str]:
        """The columns of the index that are none of pychunk's own: what was kept of documents."""
        own = {column.name for column in COLUMNS}
        own |= {context_column.CONTEXT} if context_column.is_in(self._index.schema) else set()
        return [name for name in self._index.schema.names if name not in own]

    @property
    def has_documents(self) -> bool:
        """Whether the index had any, so that most are likely to be there as they are."""
        return len(self._index) > 0

    def cut_by(self, made: Segmenter) -> None:
        """What cuts the documents: with another option, model or version all of them are new."""
        options = {name: value for name, value in made.options.items() if name not in _FREE}
        nothing: dict[str, Any] = {name: [] for name in made.method.wants}
        self._read = [way.reads for way in made.ways if way.reads]
        self._made_by = [options, made([], **nothing).metadata]

    def unread(self, source: Source, said: dict[str, Any], first: int) -> npt.NDArray[np.bool_]:
        """bool[n]: files of the next source that the index holds as they were when they were read.

        Args:
            said: the keywords that name its columns. first: the number of its first document.
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
        held = ~self._index.changed(found)
        found = found.choose(held)
        unread[np.array(own)[same][held]] = True
        self.see(found.ids, first + np.flatnonzero(unread))
        self.kept += len(found)
        return unread

    def _note(self, table: pa.Table, found: Digests) -> None:
        """What files are whose documents were read."""
        paths = table["file"].to_pylist() if self._files else []
        rows = [row for row, path in enumerate(paths) if path in self._files]
        if rows:
            files, marks = zip(*(self._files[paths[row]] for row in rows), strict=True)
            self.seen.note(files, np.array(marks, np.uint64), found.choose(np.array(rows)))

    def rows(self, table: pa.Table, said: dict[str, Any], numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Which rows of the next batch are to be cut.

        Args:
            said: the keywords that name its columns. numbers: of its documents, in the run.

        Raises:
            ValueError: two documents of the run have the same id.
        """
        columns = {name: value for name, value in said.items() if name != "keep"}
        names = ["text", *said.get("keep", ()), *columns.values()]
        marks: dict[bytes, bytes] = {}
        if "blocks" in table.column_names:
            marks = table.schema.metadata or {}
            names += [name for name in _OF_PARSERS if name in table.column_names]
        names += [name for name in self._read if name in table.column_names and name not in names]
        how = [*self._made_by, columns, sorted(said.get("keep", ())), sorted(map(str, marks.items()))]
        found = document_digests.of(table, names, how)
        self.see(found.ids, numbers)
        self._note(table, found)
        changed = np.flatnonzero(self._index.changed(found))
        if len(changed) and not self._looked and not self._prune:  # which drops them
            self._looked = True
            rows = primitive(changed)
            self._tell_otherwise(found.ids.take(rows), table["file"].take(rows))
        self._waiting.append(found.choose(changed))
        self._numbers.append(numbers[changed])
        self.kept += len(found) - len(changed)
        return changed

    def _tell_otherwise(self, ids: pa.Array, paths: pa.ChunkedArray) -> None:
        """Says which new documents the index has by another spelling of their files' paths."""
        local = [path for path in paths.unique().to_pylist() if path != "-" and not scheme_of(path)]
        other = {path: os.path.relpath(path) if os.path.isabs(path) else os.path.abspath(path) for path in local}
        names = {
            f"{other[path]}{name[len(path) :]}": name
            for name, path in zip(ids.to_pylist(), paths.to_pylist(), strict=True)
            if path in other and (name == path or name.startswith(f"{path}#"))
        }
        if not names or "id" not in self._index.schema.names:
            return
        alive = set(self._index.ids())
        found = [(name, spelled) for spelled, name in names.items() if spelled in alive and name not in alive]
        if found:
            name, spelled = found[0]
            more = f", and {counted(len(found) - 1, 'document')} more" if len(found) > 1 else ""
            text = (
                f"{name} is in the index as {spelled}, too{more}: if that is the same file, name it so, or drop the "
                "other by --prune"
            )
            say(text, "yellow")

    def cut(self, left_out: list[int]) -> Digests:
        """The documents of these rows since the last call, without some that were left out, by number."""
        numbers = np.concatenate([np.empty(0, np.int64), *self._numbers])
        ids = pa.concat_arrays([pa.array([], pa.large_string()), *(each.ids for each in self._waiting)])
        values = np.concatenate([np.empty((3, 0), np.uint64), *(each.values for each in self._waiting)], axis=1)
        self._waiting, self._numbers = [], []
        return Digests(ids, values).choose(~np.isin(numbers, left_out))

    def see(self, ids: pa.Array | None, numbers: npt.NDArray[np.int64] | None = None) -> None:
        """The next documents of the run; None where they have no ids. ``numbers``: theirs, else one after another.

        Raises:
            ValueError: an id that came before; documents without ids, where what is not seen is to be dropped.
        """
        if ids is None:
            if self._prune:
                raise ValueError("--prune tells documents by their ids, and these chunks have none: segment with --ids")
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
                f"documents {first} and {second} have the same id {str(name)!r}, and others are between them: rows to "
                "be merged must follow each other, so sort the input by its ids"
            )
        raise ValueError(
            f"documents {first} and {second} have the same id {str(name)!r}: give each document an id of its own, or "
            "add inputs that replace one another in calls of their own; where rows are parts of one document, pass "
            "on_duplicate='merge'"
        )

    def prune(self, unread: Sequence[str] = ()) -> AddResult:
        """Removes the documents that the run, which was made for this, did not see; says where some have no ids.

        Those of files ``unread``, of :attr:`files`, stay as they were, which is said, too.
        """
        assert self._ids is not None
        columns = self._index.schema.names
        if nameless := self._index.count("id is null") if "id" in columns else len(self._index):
            said = (
                f"{counted(nameless, 'chunk')} of documents without ids stay: --prune tells documents by their ids. In "
                "Python index.remove(chunk_ids=...) removes them; or build the index again from documents with ids"
            )
            say(said, "yellow")
        if "id" not in columns:
            return AddResult()
        known = pa.array(map(str, self._index.ids()), pa.large_string())
        stay = pa.array(unread, pa.large_string())
        if staying := pc.sum(pc.is_in(known, value_set=stay)).as_py():
            say(f"{counted(staying, 'document')} that could not be read: what is in the index of old stays", "yellow")
        gone = known.filter(pc.invert(pc.is_in(known, value_set=pa.concat_arrays([stay, *self._ids]))))
        self._index.remove(gone)
        return AddResult(removed=len(gone))


def _names(ids: pa.Array) -> document_digests.U64:
    """uint64[3, n]: a hash of each id."""
    made = (hashlib.blake2b(str(each).encode(), digest_size=24).digest() for each in ids.to_pylist())
    return np.ascontiguousarray(np.frombuffer(b"".join(made), "<u8").astype(np.uint64).reshape(-1, 3).T)


def _how(source: Source, kind: str) -> list[Any]:
    """What the text of a file of this kind hangs on beside its bytes."""
    package = {"html": "selectolax", "pdf": "pypdfium2"}.get(kind, "")
    version = ""
    if package:
        from importlib import metadata  # here, as it takes .02 s of the start of a command that reads no such file

        with contextlib.suppress(metadata.PackageNotFoundError):
            version = metadata.version(package)
    return [source.encoding, source.noise, source.noise_threshold, source.links, version]
