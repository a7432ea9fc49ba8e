"""The contents of an index: parts, removed rows and approximate indexes, with saved and unsaved changes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine import native
from .._engine.arrow import compute as pc
from .._engine.arrow import primitive
from .._util.counting import counted
from .._util.durable_files import remove as discard
from .._util.durable_files import uninterrupted
from ..encoders.runtime.placement import ModelPlacement
from ..levels.level_names import LEVELS
from . import chunk_tables
from .dense.vector_index import StoredVectors, VectorIndex, choose
from .files.arrays import mapped, save_array
from .files.block_checksums import Blocks, damaged
from .files.int32_columns import Columns
from .levels.score_calibration import Calibration
from .lexical.analyzer import VERSION, Analyzer
from .scoring import filters
from .search.searcher import Searcher
from .store import document_digests
from .store.document_catalog import DocumentCatalog
from .store.document_digests import Digests
from .store.index_folder import MANIFEST, SCHEMA, Store, checksum
from .store.part import CHUNKS, Layout, Part, PartWriter, Rows, slices
from .store.part_completion import Files, PartCompletion, finished

#: The number of chunks that are written to a part at once.
_PIECE = 8192
#: The number of chunks at which a part is full. It bounds what a writer holds in memory: postings take about 0.5 kB for
#: a chunk of 100 words. A part may exceed it by one write, and its row numbers then still fit the 16 bits of postings.
PART_CHUNKS = 65_536 - _PIECE
#: If an index ends with at least this number of small parts when it is saved, they are rewritten as one part.
_SMALL_PARTS = 8
#: The share of removed chunks above which saving rewrites the rest.
_SPARSE = 0.5

_T = TypeVar("_T")


class IndexWriter:
    """The contents of an index's folder, with the additions and removals since it was saved.

    Rows are the chunks of all parts in order. A part is written once, and removed rows are only marked. If more than
    half of all rows are removed, saving rewrites the other rows.

    After an error in an addition, all earlier additions are still there, and :meth:`save` can be called again. The
    exception is a disk that loses data after it accepted them. Then all unsaved changes are lost, and every use raises
    an error until the saved state is loaded again.
    """

    def __init__(self, store: Store, accuracy: int | None, placement: ModelPlacement, require: Any = None) -> None:
        self.store, self.accuracy, self.placement, self.require = store, accuracy, placement, require
        self._writer: PartWriter | None = None
        self._finishing: PartCompletion | None = None  # The previous part, while a thread completes it.
        self._files: dict[str, Files] = {}  # The files of parts that no manifest names yet.
        self.load()

    def load(self) -> None:
        """Load the state that the manifest describes."""
        manifest = self.store.manifest
        terms = manifest["terms"]
        try:
            analyzer = _analyzer(terms) if terms else None
        except (AttributeError, TypeError, ValueError) as error:
            raise ValueError(damaged(self.store.folder / MANIFEST, f"its terms: {error!s:.200}")) from error
        #: The description of the terms that BM25 counts, as in a manifest.
        self.terms = analyzer.options() if analyzer and analyzer.unit == "auto" else terms
        self.layout = Layout(manifest["vectors"], manifest["encoder"]["dim"], manifest["dtype"], analyzer)
        self._names = [part["name"] for part in manifest["parts"]]
        self._parts = [
            Part.load(self.store.folder / name, self.layout, part["chunks"], self._blocks(name), part.get("encoded_by"))
            for name, part in zip(self._names, manifest["parts"], strict=True)
        ]
        self._schema: pa.Schema | None = None
        for name, part in zip(self._names, self._parts, strict=True):
            table = self.store.folder / name / CHUNKS
            if lacking := [own for own in chunk_tables.REQUIRED if own not in part.schema.names]:
                raise ValueError(damaged(table, f"it has no column {lacking[0]!r}"))
            if unknown := [own for own in chunk_tables.REQUIRED if part.table[own].null_count]:
                raise ValueError(damaged(table, f"the column {unknown[0]!r} has nulls"))
            try:
                self._schema = chunk_tables.joined(self._schema, part.schema)
            except ValueError as error:
                raise ValueError(damaged(table, f"{error!s:.200}")) from error
        self.removed = _removed(self.store, sum(map(len, self._parts))) | _hidden(self._parts, self.require)
        files = [name for name in manifest["files"] if name.startswith("documents-")]
        for name in files:
            self.store.blocks(name).check()
        self.register = DocumentCatalog.load(self.store.folder / files[0]) if files else DocumentCatalog()
        # The files are opened now, because a writer may have removed them by the time of the first search.
        self._stored = _opened(self.store.folder, manifest["stored"])
        # FAISS reads a whole graph at once and trusts each size in it, so the whole file is checked before.
        self._stored_blocks = {
            own["file"]: (self.store.whole if own["kind"] == "hnsw" else self.store.blocks)(own["file"])
            for own in manifest["stored"].values()
        }
        for name, own in manifest["stored"].items():
            if own["rows"] > self._counts()[name]:
                raise ValueError(_unlike(self.store.folder / own["file"], own["rows"], self._counts()[name]))
        self.generation, self.uuids = manifest["generation"], manifest.get("ids") == "uuid"
        self.user_data: dict[str, str] = dict(manifest.get("notes", {}))
        #: The scales of levels, as a manifest stores them.
        self.calibration: dict[str, Any] | None = manifest.get("levels")
        #: The pooling of the vectors of nodes (:func:`.chunk_tables.pooling`); None without nodes, or if it is unknown.
        self.pooling: str | None = manifest.get("pooling")
        #: The name of the tokenizer that counted the tokens of the chunks.
        self.tokenizer: str | None = manifest.get("tokenizer")
        #: Whether the vectors of chunks were made by late chunking; None without chunks.
        self.late_chunking: bool | None = manifest.get("late_chunking", False) if len(self.removed) else None
        self._abandon()
        self._new_keys: set[str] = set()
        self._searcher: Searcher | None = None
        self._lost: BaseException | None = None
        self.dirty = False

    def _blocks(self, folder: str) -> Callable[[str], Blocks]:
        return lambda name: self.store.blocks(f"{folder}/{name}")

    def __len__(self) -> int:
        """Return the number of chunks that a search can find, which are all that are not removed."""
        self._check_usable()
        return int((~self.removed).sum())

    @property
    def replaced(self) -> int:
        """The number of rows that were added since the last save and are already removed."""
        return int(self.removed[self.store.manifest["chunks"] :].sum())

    def add(
        self,
        rows: Rows,
        keys: pa.Array,
        late: npt.NDArray[np.bool_],
        documents: Digests | None = None,
        *,
        uuids: bool = False,
    ) -> pa.Array:
        """Append rows, and remove existing rows that have one of ``keys``.

        After an error, none of the new rows is in the index, and all rows that they would have replaced still are.

        Args:
            rows: The rows to append.
            keys: The key of each row.
            late: Which rows have a duplicate later in the same table, bool[n]. They are marked as removed.
            documents: The digests of the rows' documents, and of documents that no longer have any rows.
            uuids: Whether the ids are the text of UUIDs. If the first rows of the index had UUIDs, all ids must be.

        Returns:
            The keys of the removed rows, each once.
        """
        self._check_usable()
        self._settle()
        schema = chunk_tables.joined(self._schema, rows.table.schema)
        if len(self.removed) or not rows.table.num_rows:
            uuids = self.uuids
        if uuids and rows.table.num_rows:
            chunk_tables.check_uuids(rows.table)
        try:
            own = keys.unique() if documents is None else pa.concat_arrays([keys, documents.ids]).unique()
            if not self._new_keys.isdisjoint(own.to_pylist()):
                self._finish_part()
            removed = self._marked(own, None)
            replaced = self._keys_of(removed & ~self.removed)
            for piece in slices(rows, _PIECE):
                self._append(piece)
        except BaseException as error:
            self._undo_add(error)
            raise
        with uninterrupted():
            self._new_keys.update(keys.to_pylist())
            self.removed = np.concatenate([removed, late])
            self._schema, self._searcher, self.dirty = schema, None, True
            self.uuids = uuids
            if documents is not None:
                self.register.note(documents.values)
            elif len(self.register):
                self.register.forget(document_digests.keys(own))
        return replaced

    def remove(self, wanted: pa.Array, column: str) -> None:
        """Remove rows whose ``column`` is one of ``wanted``."""
        self._finish_part()
        removed = self._marked(wanted, column)
        gone = removed & ~self.removed
        if gone.any():
            if len(self.register):
                self.register.forget(document_digests.keys(self._keys_of(gone)))
            self.removed = removed
            self._searcher, self.dirty = None, True
        if column == "document_id" and len(self.register):  # Documents without chunks are registered, too.
            self.register.forget(document_digests.keys(wanted))
            self.dirty |= self.register.changed

    def save(self) -> None:
        """Write all unsaved changes to the disk, and make them the state of the index in one step.

        After an error the index is unchanged, and the unsaved changes wait for the next call.
        """
        self._check_usable()
        if not self.dirty:
            return
        self._finish_part()
        before, last = (self._names[:], self._parts[:], self.removed, self._stored), self.store.manifest
        try:
            manifest, stored = self._written()
            self.store.commit(manifest)
        except BaseException:
            if self.store.manifest is last:
                self._undo_save(*before)
            raise
        with uninterrupted():
            self._stored = stored
            self.generation, self.dirty, self.register.changed = manifest["generation"], False, False

    def _written(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Write the contents to the disk. Return (the manifest that describes them; the opened approximate indexes)."""
        folder = self.store.folder
        if len(self.removed) and self.removed.mean() > _SPARSE:
            self._compact()
        self._merge_small()
        if self._rows() != len(self.removed):
            raise RuntimeError(
                f"{folder}: {self._rows()} chunks were found, but {len(self.removed)} were added: nothing was saved; "
                "open the index again, add what was not saved, and report this as a bug of pychunk"
            )
        manifest = dict(self.store.manifest)
        generation = manifest["generation"] + 1
        known = {part["name"]: part for part in manifest["parts"]}
        manifest["parts"] = [known.get(name) or self._part_facts(name) for name in self._names]
        manifest["schema"] = SCHEMA
        before = manifest["files"]
        manifest["files"], manifest["stored"] = self._save_vectors(generation, before)
        if self.register.changed:
            name = f"documents-{generation:06d}.npy"
            self.register.save(folder / name)
            manifest["files"][name] = checksum(folder / name)
        else:
            manifest["files"] |= {name: own for name, own in before.items() if name.startswith("documents-")}
        if self.removed.any():
            name = f"removed-{generation:06d}.npy"
            save_array(folder / name, np.flatnonzero(self.removed))
            manifest["files"][name] = checksum(folder / name)
        manifest |= {"ids": "uuid" if self.uuids else None, "terms": self.terms, "notes": dict(self.user_data)}
        manifest["late_chunking"] = bool(self.late_chunking)
        manifest |= {name: value for name in ("pooling", "tokenizer") if (value := getattr(self, name))}
        self._calibrate()
        manifest.pop("levels", None)
        if self.calibration:
            manifest["levels"] = self.calibration
        manifest.update(
            generation=generation,
            pychunk=native.version,
            chunks=len(self.removed),
            sentences=sum(len(part.sentences) for part in self._parts),
            removed=int(self.removed.sum()),
        )
        return manifest, _opened(folder, manifest["stored"])

    def _calibrate(self) -> None:
        """Compute the scales of levels again if many rows have changed since the last time. Without levels, do nothing.

        See :mod:`pychunk.index.levels.score_calibration`.
        """
        if not self.layout.pooled or self.layout.sentences or self._schema is None or LEVELS not in self._schema.names:
            return
        searcher = self.searcher()
        self.calibration = searcher.calibration.facts() if searcher.levels else None

    def refresh(self) -> bool:
        """Load what another process has saved since the last load, and return whether there was anything."""
        before = self.generation

        def again() -> None:
            self.store.read(verify=False)
            self.load()

        steady(again, self.store)
        return bool(self.generation != before)

    def begin_writing(self) -> None:
        """Become the writer of the last saved state. Raise ValueError if there is another, or with ``require``."""
        self._check_usable()
        if self.require is not None:
            raise ValueError("an index that is opened with require= cannot be changed: open it without require=")
        if self.store.locked:
            return
        self.store.lock()
        if self.store.read(verify=False)["generation"] != self.generation:
            self.load()
        self.store.sweep()

    def searcher(self) -> Searcher:
        """Return a searcher for all that was added and not removed."""
        self._check_usable()
        self._finish_part()
        if self._searcher is None:
            facts = self.store.manifest
            kinds = self._kinds()
            stored = {
                name: StoredVectors(
                    self.store.folder / own["file"], own["rows"], file, self._stored_blocks.get(own["file"])
                )
                for name, (own, file) in self._stored.items()
                if own["kind"] == kinds[name]
            }
            self._searcher = Searcher(
                self._parts,
                self.removed,
                self.layout,
                kinds=kinds,
                stored=stored,
                accuracy=self.accuracy,
                placement=self.placement,
                k1=facts["bm25"]["k1"],
                b=facts["bm25"]["b"],
            )
            self._searcher.saved = Calibration.of_facts(self.calibration)
        return self._searcher

    def _kinds(self) -> dict[str, str]:
        kind, size = self.store.manifest["kind"], self.layout.vector_bytes
        return {name: choose(kind, count, size) for name, count in self._counts().items()}

    def _counts(self) -> dict[str, int]:
        return {"sentences": sum(len(part.sentences) for part in self._parts), "chunks": sum(map(len, self._parts))}

    def _next_name(self) -> str:
        used = [int(name.split("-")[1]) for name in self._names]
        used += [int(part["name"].split("-")[1]) for part in self.store.manifest["parts"]]
        used += [int(each.folder.name.split("-")[1]) for each in self._writers()]
        return f"part-{max(used, default=0) + 1:06d}"

    def _rows(self) -> int:
        """Return the number of chunks that were written, removed or not."""
        return sum(map(len, self._parts)) + sum(writer.chunks for writer in self._writers())

    def _writers(self) -> list[PartWriter]:
        """Return the writers of the parts that cannot be searched yet."""
        before = [self._finishing.writer] if self._finishing is not None else []
        return before + ([self._writer] if self._writer is not None else [])

    def _check_usable(self) -> None:
        if self._lost is not None:
            saved = sum(part["chunks"] for part in self.store.manifest["parts"])
            raise ValueError(
                f"{self.store.folder}: writing failed ({self._lost}), and what was added or removed since the last "
                f"save() is lost ({counted(max(0, self._rows() - saved), 'chunk')}): open the index again, which "
                "holds the saved state, and repeat these changes"
            )

    def _undo_add(self, error: BaseException) -> None:
        """Mark the rows that were already written as removed. Rows to be replaced were marked only in a copy."""
        self._searcher = None
        if self._writer is not None and self._writer.damaged:
            self._lost = error
            return
        self.removed = np.concatenate([self.removed, np.ones(self._rows() - len(self.removed), np.bool_)])
        if not self.dirty:  # Nothing waits to be saved, so the saved state is complete.
            try:
                self.load()
            except BaseException as again:
                self._lost = again

    def _undo_save(self, names: list[str], parts: list[Part], removed: Any, stored: dict[str, Any]) -> None:
        """Restore the contents as they were before parts were rewritten."""
        with uninterrupted():
            new = [name for name in self._names if name not in names]
            self._names, self._parts, self.removed, self._stored = names, parts, removed, stored
            self._searcher = None
            self._abandon()
            for name in new:
                discard(self.store.folder / name)

    def close(self) -> None:
        """Close the files that are open for writing. :meth:`.Store.sweep` later removes what was not saved."""
        if self._finishing is not None:
            self._finishing.wait()
        for writer in self._writers():
            writer.release()

    def _abandon(self) -> None:
        """Discard rows that did not become a part."""
        if self._finishing is not None:
            self._finishing.wait()
        for writer in self._writers():
            writer.abandon()
        self._writer = self._finishing = None

    def _finish_part(self) -> None:
        """Complete the parts of all rows added so far, so that they can be searched. After an error, call it again."""
        self._settle()
        if self._writer is not None:
            self._take_part(self._writer, finished)

    def _finish_beside(self) -> None:
        """Complete the open part in the background while the next one is filled. :meth:`_settle` raises its errors."""
        self._settle()
        assert self._writer is not None
        with uninterrupted():
            self._finishing, self._writer = PartCompletion(self._writer), None
            self._new_keys.clear()

    def _settle(self) -> None:
        """Wait for the part that a thread completes, and make it searchable. After an error, call it again."""
        if self._finishing is not None:
            result = self._finishing.result
            self._take_part(self._finishing.writer, lambda _: result())

    def _take_part(self, writer: PartWriter, finish: Callable[[PartWriter], Files]) -> None:
        try:
            files = finish(writer)
        except BaseException as error:
            if writer.damaged:
                self._lost = error
            raise
        part = Part.load(writer.folder, self.layout, writer.chunks, encoded_by=writer.encoded_by)
        with uninterrupted():
            writer.release()
            self._names.append(writer.folder.name)
            self._parts.append(part)
            self._files[writer.folder.name] = files
            if writer is self._writer:
                self._writer = None
                self._new_keys.clear()
            else:
                self._finishing = None

    def _marked(self, wanted: pa.Array, column: str | None) -> npt.NDArray[np.bool_]:
        """Return a copy of ``removed`` that also marks the rows whose ``column`` (None: key) is one of ``wanted``."""
        first, removed = 0, np.array(self.removed, np.bool_)
        for part in self._parts:
            if column is None or column in part.table.column_names:
                part.check(chunk_tables.KEYS if column is None else [column])
                own = chunk_tables.keys(part.table) if column is None else part.table[column].cast(pa.large_string())
                found = np.asarray(pc.is_in(own, value_set=wanted))
                removed[first : first + len(part)] |= found
            first += len(part)
        return removed

    @property
    def schema(self) -> pa.Schema:
        """The schema with every column that was added, without vectors."""
        return pa.schema([]) if self._schema is None else self._schema

    def chunks_of(self, ids: pa.Array, columns: Sequence[str]) -> pa.Table:
        """Return the chunks of documents, given by id, as a table of ``document_id`` as text and ``columns``."""
        self._check_usable()
        self._settle()
        if not self._new_keys.isdisjoint(ids.to_pylist()):
            self._finish_part()
        rows, first, found = self._marked(ids, "document_id") & ~self.removed, 0, list[pa.Table]()
        for part in self._parts:
            own = np.flatnonzero(rows[first : first + len(part)])
            if len(own):
                held = [name for name in columns if name in part.table.column_names]
                part.check(["document_id", *held])
                table = part.table.select(["document_id", *held]).take(primitive(own))
                found.append(table.set_column(0, "document_id", table["document_id"].cast(pa.large_string())))
            first += len(part)
        return pa.concat_tables(found, promote_options="permissive") if found else pa.table({"document_id": []})

    def encoded_rows(self, keys: pa.Array) -> list[tuple[Part, npt.NDArray[np.int64]]]:
        """Return the rows that chunks with ``keys`` will replace, as (part, numbers of its chunks).

        Parts are left out if they hold vectors that came with their chunks, or that another version of pychunk made:
        its sentences may end elsewhere, and a vector of such a part may not be the one that this version makes.
        """
        self._check_usable()
        self._settle()
        if not self._new_keys.isdisjoint(keys.to_pylist()):
            self._finish_part()
        own = [part.encoded_by == native.version for part in self._parts]
        if not any(own):
            return []
        rows, first, found = self._marked(keys, None) & ~self.removed, 0, []
        for part, is_own in zip(self._parts, own, strict=True):
            chunks = np.flatnonzero(rows[first : first + len(part)])
            if is_own and len(chunks):
                found.append((part, chunks))
            first += len(part)
        return found

    def _keys_of(self, rows: npt.NDArray[np.bool_]) -> pa.Array:
        """Return the keys of rows, given as bool[rows], each key once."""
        first, found = 0, [pa.nulls(0, pa.large_string())]
        for part in self._parts:
            own = np.flatnonzero(rows[first : first + len(part)])
            if len(own):
                part.check(chunk_tables.KEYS)
                found.append(chunk_tables.keys(part.table).take(primitive(own)))
            first += len(part)
        return pa.concat_arrays(found).unique()

    def _part_facts(self, name: str) -> dict[str, Any]:
        part = self._parts[self._names.index(name)]
        facts = {"name": name, "chunks": len(part), "files": self._files[name]}
        return facts if part.encoded_by is None else {**facts, "encoded_by": part.encoded_by}

    def _save_vectors(self, generation: int, before: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Write a new file for each approximate index that has new rows.

        Returns:
            (the checksum of each file; the manifest's facts of each index). Unchanged files are included.
        """
        files: dict[str, Any] = {}
        stored: dict[str, Any] = {}
        for name, kind in self._kinds().items():
            index: VectorIndex | None = None
            if kind != "flat":
                searcher = self.searcher()
                index = searcher.sentences if name == "sentences" else searcher.pooled
            if index is None:
                continue
            own = self._stored[name][0] if name in self._stored else {}
            if own.get("kind") == kind and own["rows"] == len(index):
                files[own["file"]], stored[name] = before[own["file"]], own
                continue
            if own.get("kind") == kind:  # The new file is made from this one, so this one must be undamaged.
                self.store.check(own["file"])
            file = f"{name}-{generation:06d}.{'codes' if kind == 'pq' else 'faiss'}"
            index.save(self.store.folder / file)
            files[file] = checksum(self.store.folder / file)
            stored[name] = {"file": file, "kind": kind, "rows": len(index)}
            recall = index.recall if index.recall is not None else own.get("recall")
            if recall is not None:
                stored[name]["recall"] = recall
        return files, stored

    def _merge_small(self) -> None:
        """Merge many small parts at the end into one. Rows keep their order and numbers."""
        small = list(itertools.takewhile(lambda part: len(part) < PART_CHUNKS // 2, reversed(self._parts)))
        if len(small) >= _SMALL_PARTS:
            self._rewrite(len(self._parts) - len(small), None)

    def _compact(self) -> None:
        """Rewrite all parts, leaving out removed chunks. Rows get new numbers."""
        self._stored = {}
        self._rewrite(0, ~self.removed)
        self.removed = np.zeros(sum(map(len, self._parts)), np.bool_)

    def _rewrite(self, begin: int, kept: npt.NDArray[np.bool_] | None) -> None:
        """Rewrite the parts from number ``begin`` on, with the rows in the mask ``kept``, or all rows if it is None."""
        first = sum(map(len, self._parts[:begin]))
        for name in self._names[begin:]:
            self.store.check(f"{name}/")
        parts, self._searcher = self._parts[begin:], None
        names = [f"part-{int(self._next_name()[5:]) + i:06d}" for i in range(len(parts))]
        del self._names[begin:], self._parts[begin:]
        for part in parts:
            for piece in slices(part.rows(), _PIECE):
                size = piece.table.num_rows
                chosen = np.arange(size) if kept is None else np.flatnonzero(kept[first : first + size])
                first += size
                if len(chosen):
                    self._append(piece if len(chosen) == size else piece.choose(chosen), names)
        self._finish_part()

    def _append(self, rows: Rows, names: list[str] | None = None) -> None:
        """Write rows to the open part, which is finished when it is full or when the columns change."""
        if self._writer is not None and not self._writer.takes(rows):
            self._finish_part()
        if self._writer is None:
            folder = self.store.folder / (names.pop(0) if names else self._next_name())
            discard(folder)  # The folder may be left over from an earlier error.
            self._writer = PartWriter(folder, self.layout)
        self._writer.append(rows)
        if self._writer.chunks >= PART_CHUNKS:
            self._finish_beside()


def _analyzer(terms: dict[str, Any]) -> Analyzer:
    """Return the analyzer that a manifest describes.

    An older version stored the unit "auto" only while an index had no chunks. The newest analyzer can therefore be
    used.
    """
    version = VERSION if terms["unit"] == "auto" else terms.get("version", 1)
    return Analyzer(**{**terms, "version": version})


def _opened(folder: Path, stored: dict[str, Any]) -> dict[str, Any]:
    """Return (facts, memory-mapped file) for each approximate index."""
    return {name: (own, pa.memory_map(str(folder / own["file"]))) for name, own in stored.items()}


def _hidden(parts: Sequence[Part], require: Any) -> npt.NDArray[np.bool_]:
    """Return which rows do not meet a condition, bool[rows]. To everything that reads an index, they are removed."""
    if require is None or not parts:
        return np.zeros(sum(map(len, parts)), np.bool_)

    def check(names: Sequence[str] | None) -> None:
        for part in parts:
            part.check(names, 0, len(part))

    stored = pa.concat_tables([part.table for part in parts], promote_options="permissive")
    schema = pa.unify_schemas([part.schema for part in parts], promote_options="permissive")
    return ~filters.rows(require, Columns(stored, schema, check))


def _removed(store: Store, rows: int) -> npt.NDArray[np.bool_]:
    """Return which rows are removed according to the manifest's file, bool[rows]."""
    folder, manifest = store.folder, store.manifest
    if manifest["chunks"] != rows:
        raise ValueError(_unlike(folder / MANIFEST, manifest["chunks"], rows))
    removed = np.zeros(rows, np.bool_)
    for name in manifest["files"]:
        if name.startswith("removed-"):
            store.blocks(name).check()
            found = mapped(folder / name)
            if found.ndim != 1 or found.dtype.kind not in "ui":
                raise ValueError(damaged(folder / name, f"it holds {found.dtype} of shape {found.shape}"))
            if len(found) != manifest["removed"] or (len(found) and not 0 <= found.min() <= found.max() < rows):
                span = f" up to {int(found.max()):,}" if len(found) else ""
                wanted = f"it must hold {counted(manifest['removed'], 'row number')} below {rows:,}"
                raise ValueError(
                    damaged(folder / name, f"{wanted}; it holds {counted(len(found), 'row number')}{span}")
                )
            removed[found] = True
    if removed.sum() != manifest["removed"]:
        raise ValueError(_unlike(folder / MANIFEST, manifest["removed"], int(removed.sum())))
    return removed


def _unlike(path: Path, found: int, expected: int) -> str:
    return (
        f"{path} is damaged: it says {found:,} rows, and there are {expected:,}; restore it from a copy, or build "
        "the index again"
    )


def steady(action: Callable[[], _T], store: Store) -> _T:
    """Return the result of ``action``, which reads files of an index. Repeat it if a writer replaced them meanwhile."""
    while True:
        before = store.generation()
        try:
            return action()
        except (ValueError, FileNotFoundError):
            if store.generation() == before:
                raise
