"""Which documents of a run an index lacks, and which of the index's are in no input any more."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.text import Text

from ..data.columns import COLUMNS
from ..io.files import scheme_of
from ..retrieval import digests
from ..retrieval.added import Added
from ..retrieval.digests import Digests
from ..retrieval.index import Index
from ..retrieval.register import Register
from ..segmenter import Segmenter
from .batches import counted

#: Columns that only readers of structured documents make, and what cuts reads.
_OF_PARSERS = ("blocks", "removed", "page_starts")
#: Options that change nothing in the chunks.
_FREE = ("threads", "on_error")


class Changes:
    """The documents of one run, batch by batch, beside those of an index.

    Attributes:
        merge: whether rows of one id that follow each other come as one document.
        count: documents so far.
        kept: those of them that are in the index as they are.
    """

    def __init__(self, index: Index, *, prune: bool = False, merge: bool = False) -> None:
        self._index, self._prune, self.merge = index, prune, merge
        self._made_by: list[Any] = []
        self._seen = Register(4)
        self._ids: list[pa.Array] | None = []
        self._waiting: list[Digests] = []
        self._numbers: list[npt.NDArray[np.int64]] = []
        self.count = self.kept = 0
        self._looked = False

    @property
    def columns(self) -> list[str]:
        """The columns of the index that are none of pychunk's own: what was kept of documents."""
        own = {column.name for column in COLUMNS}
        return [name for name in self._index.table.column_names if name not in own]

    def cut_by(self, made: Segmenter) -> None:
        """What cuts the documents: with another option, model or version all of them are new."""
        options = {name: value for name, value in made.options.items() if name not in _FREE}
        nothing: dict[str, Any] = {name: [] for name in made.method.wants}
        self._made_by = [options, made([], **nothing).metadata]

    def rows(self, table: pa.Table, said: dict[str, Any]) -> npt.NDArray[np.int64]:
        """Which rows of the next batch are to be cut; ``said``: the keywords that name its columns.

        Raises:
            ValueError: two documents of the run have the same id.
        """
        columns = {name: value for name, value in said.items() if name != "keep"}
        names = ["text", *said.get("keep", ()), *columns.values()]
        marks: dict[bytes, bytes] = {}
        if "blocks" in table.column_names:
            marks = table.schema.metadata or {}
            names += [name for name in _OF_PARSERS if name in table.column_names]
        how = [*self._made_by, columns, sorted(said.get("keep", ())), sorted(map(str, marks.items()))]
        found = digests.of(table, names, how)
        self.see(found.ids)
        changed = np.flatnonzero(self._index.changed(found))
        if len(changed) and not self._looked and not self._prune:  # which drops them
            self._looked = True
            self._tell_otherwise(found.ids.take(pa.array(changed)), table["file"].take(pa.array(changed)))
        self._waiting.append(found.choose(changed))
        self._numbers.append(changed + self.count - len(found))
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
        if not names or "id" not in self._index.table.column_names:
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
            Console(stderr=True, soft_wrap=True).print(Text(text, style="yellow"))

    def cut(self, left_out: list[int]) -> Digests:
        """The documents of these rows since the last call, without some that were left out, by number."""
        numbers = np.concatenate([np.empty(0, np.int64), *self._numbers])
        ids = pa.concat_arrays([pa.array([], pa.large_string()), *(each.ids for each in self._waiting)])
        values = np.concatenate([np.empty((3, 0), np.uint64), *(each.values for each in self._waiting)], axis=1)
        self._waiting, self._numbers = [], []
        return Digests(ids, values).choose(~np.isin(numbers, left_out))

    def see(self, ids: pa.Array | None) -> None:
        """The next documents of the run; None where they have no ids.

        Raises:
            ValueError: an id that came before; documents without ids, where what is not seen is to be dropped.
        """
        if ids is None:
            if self._prune:
                raise ValueError("--prune tells documents by their ids, and these chunks have none: segment with --ids")
            self._ids = None
            return
        own = digests.of(pa.table({"id": ids}), [], None).values
        before = self._seen.latest(own[0])
        again = np.flatnonzero((before[:2] == own[1:]).all(axis=0))
        if len(again):
            self._refuse(ids[again[0]], int(before[2, again[0]]), self.count + int(again[0]))
        first: dict[Any, int] = {}
        if len(ids.unique()) < len(ids):
            for row, each in enumerate(ids.to_pylist(), self.count):
                if first.setdefault(each, row) != row:
                    self._refuse(each, first[each], row)
        numbers = np.arange(self.count, self.count + len(ids)).astype(np.uint64)
        self._seen.note(np.concatenate([own, numbers[None]]))
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

    def prune(self) -> Added:
        """Removes the documents that the run, which was made for this, did not see; says where some have no ids."""
        assert self._ids is not None
        table = self._index.table
        if nameless := self._index.count("id is null") if "id" in table.column_names else len(self._index):
            said = (
                f"{counted(nameless, 'chunk')} of documents without ids stay: --prune tells documents by their ids. In "
                "Python index.remove(chunk_ids=...) removes them; or build the index again from documents with ids"
            )
            Console(stderr=True, soft_wrap=True).print(Text(said, style="yellow"))
        if "id" not in table.column_names:
            return Added()
        known = pa.array(map(str, self._index.ids()), pa.large_string())
        gone = known.filter(pc.invert(pc.is_in(known, value_set=pa.concat_arrays([known[:0], *self._ids]))))
        self._index.remove(gone)
        return Added(removed=len(gone))
