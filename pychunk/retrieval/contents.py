"""What an index holds: parts, removed rows, approximate indexes; as saved, and as changed since."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .. import _native
from ..durable import flush
from ..encoders.placement import Placement
from . import ingest
from .part import Layout, Part, PartWriter, Rows, slices
from .searcher import Searcher
from .store import Store, checksum
from .terms import Analyzer
from .vectors import VectorIndex, choose

#: Chunks of one part: bounds what a writer holds in memory (postings, about 1 kB a chunk of 100 words).
PART_CHUNKS = 65_536
#: So many small parts at the end are written together as one when the index is saved.
_SMALL_PARTS = 8
#: Share of removed chunks above which saving writes the rest anew.
_SPARSE = 0.5

_T = TypeVar("_T")


class Contents:
    """The contents of an index's folder, and what was added and removed since it was saved.

    Rows are the chunks of all parts in order. A part is written once; what is removed is only marked, until so much is
    that the rest is written anew.
    """

    def __init__(self, store: Store, accuracy: int, placement: Placement) -> None:
        self.store, self.accuracy, self.placement = store, accuracy, placement
        self.load()

    def load(self) -> None:
        """Take up the state that the manifest says."""
        manifest = self.store.manifest
        terms = manifest["terms"]
        analyzer = Analyzer(**terms) if terms else None
        self.layout = Layout(manifest["vectors"], manifest["encoder"]["dim"], manifest["dtype"], analyzer)
        self._names = [part["name"] for part in manifest["parts"]]
        self._parts = [Part.load(self.store.folder / name, self.layout) for name in self._names]
        self._schema: pa.Schema | None = None
        for part in self._parts:
            self._schema = ingest.joined(self._schema, part.table.schema)
        self.removed = np.zeros(manifest["chunks"], np.bool_)
        for name in manifest["files"]:
            if name.startswith("removed-"):
                self.removed[np.load(self.store.folder / name)] = True
        # Opened now: the file may be gone when the first search reads it.
        self._stored = {
            name: (own, pa.memory_map(str(self.store.folder / own["file"]))) for name, own in manifest["stored"].items()
        }
        self.generation = manifest["generation"]
        self._writer: PartWriter | None = None
        self._new_keys: set[str] = set()
        self._searcher: Searcher | None = None
        self.dirty = False

    def __len__(self) -> int:
        """Chunks that can be found."""
        return int((~self.removed).sum())

    def add(self, rows: Rows, keys: pa.Array, late: npt.NDArray[np.bool_]) -> None:
        """Append rows, of which ``late`` come again further down, and remove what has one of ``keys`` already."""
        self._schema = ingest.joined(self._schema, rows.table.schema)
        if not self._new_keys.isdisjoint(keys.to_pylist()):
            self._finish_part()
        self._mark(keys.unique(), None)
        for piece in slices(rows, 8192):
            self._append(piece)
        self._new_keys.update(keys.to_pylist())
        self.removed = np.concatenate([self.removed, late])
        self._searcher, self.dirty = None, True

    def remove(self, wanted: pa.Array, column: str) -> None:
        """Remove rows whose ``column`` is one of ``wanted``."""
        self._finish_part()
        self._mark(wanted, column)
        self._searcher, self.dirty = None, True

    def save(self) -> None:
        """Write what is not on the disk yet, and make it the state of the index in one step."""
        self._finish_part()
        if not self.dirty:
            return
        if len(self.removed) and self.removed.mean() > _SPARSE:
            self._compact()
        self._merge_small()
        manifest = dict(self.store.manifest)
        generation = manifest["generation"] + 1
        known = {part["name"]: part for part in manifest["parts"]}
        manifest["parts"] = [known.get(name) or self._part_facts(name) for name in self._names]
        manifest["files"], manifest["stored"] = self._save_vectors(generation, manifest["files"])
        if self.removed.any():
            name = f"removed-{generation:06d}.npy"
            np.save(self.store.folder / name, np.flatnonzero(self.removed), allow_pickle=False)
            flush(self.store.folder / name)
            manifest["files"][name] = checksum(self.store.folder / name)
        manifest.update(
            generation=generation,
            pychunk=_native.version,
            chunks=len(self.removed),
            sentences=sum(len(part.sentences) for part in self._parts),
            removed=int(self.removed.sum()),
        )
        self.store.commit(manifest)
        for name, own in manifest["stored"].items():
            self._stored[name] = own, pa.memory_map(str(self.store.folder / own["file"]))
        self.generation, self.dirty = generation, False

    def refresh(self) -> bool:
        """Take up what another process saved since; whether there was anything."""
        before = self.generation

        def again() -> None:
            self.store.read(verify=False)
            self.load()

        steady(again, self.store)
        return bool(self.generation != before)

    def begin_writing(self) -> None:
        """Become the writer, of what was saved last; ValueError where another process is."""
        if self.store.locked:
            return
        self.store.lock()
        before = self.generation
        if self.store.read(verify=False)["generation"] != before:
            self.load()
        self.store.sweep()

    def searcher(self) -> Searcher:
        """All that was added and not removed, ready to be searched."""
        self._finish_part()
        if self._searcher is None:
            facts = self.store.manifest
            kinds = self._kinds()
            stored = {name: file for name, (own, file) in self._stored.items() if own["kind"] == kinds[name]}
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
        return self._searcher

    def _kinds(self) -> dict[str, str]:
        kind = self.store.manifest["kind"]
        return {name: choose(kind, count) for name, count in self._counts().items()}

    def _counts(self) -> dict[str, int]:
        sentences = sum(len(part.sentences) for part in self._parts)
        return {"sentences": sentences, "chunks": sum(map(len, self._parts))}

    def _next_name(self) -> str:
        used = [int(name.split("-")[1]) for name in self._names]
        used += [int(part["name"].split("-")[1]) for part in self.store.manifest["parts"]]
        return f"part-{max(used, default=0) + 1:06d}"

    def _finish_part(self) -> None:
        """What was added so far becomes a part that can be searched."""
        if self._writer is None:
            return
        writer, self._writer = self._writer, None
        writer.finish()
        self._names.append(writer.folder.name)
        self._parts.append(Part.load(writer.folder, self.layout))
        self._new_keys.clear()

    def _mark(self, wanted: pa.Array, column: str | None) -> None:
        first = 0
        for part in self._parts:
            if column is None or column in part.table.column_names:
                own = ingest.keys(part.table) if column is None else part.table[column].cast(pa.large_string())
                found = np.asarray(pc.is_in(own, value_set=wanted))
                self.removed[first : first + len(part)] |= found
            first += len(part)

    def _part_facts(self, name: str) -> dict[str, Any]:
        files = {file: checksum(self.store.folder / name / file) for file in self.layout.files()}
        return {"name": name, "chunks": len(self._parts[self._names.index(name)]), "files": files}

    def _save_vectors(self, generation: int, before: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Files of approximate indexes, written anew where there are new rows: (checksums, what they hold)."""
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
            file = f"{name}-{generation:06d}.faiss"
            index.save(self.store.folder / file)
            flush(self.store.folder / file)
            files[file] = checksum(self.store.folder / file)
            stored[name] = {"file": file, "kind": kind, "rows": len(index)}
        return files, stored

    def _merge_small(self) -> None:
        """Many small parts at the end become one; rows keep their order and numbers."""
        small = list(itertools.takewhile(lambda part: len(part) < PART_CHUNKS // 2, reversed(self._parts)))
        if len(small) >= _SMALL_PARTS:
            self._rewrite(len(self._parts) - len(small), None)

    def _compact(self) -> None:
        """Removed chunks leave the files, and rows get new numbers."""
        self._stored = {}
        self._rewrite(0, ~self.removed)
        self.removed = np.zeros(sum(map(len, self._parts)), np.bool_)

    def _rewrite(self, begin: int, kept: npt.NDArray[np.bool_] | None) -> None:
        """Write the parts from ``begin`` on again, all their rows or those kept."""
        first = sum(map(len, self._parts[:begin]))
        parts, self._searcher = self._parts[begin:], None
        names = [f"part-{int(self._next_name()[5:]) + i:06d}" for i in range(len(parts))]
        del self._names[begin:], self._parts[begin:]
        for part in parts:
            for piece in slices(part.rows(), 8192):
                size = piece.table.num_rows
                chosen = np.arange(size) if kept is None else np.flatnonzero(kept[first : first + size])
                first += size
                if len(chosen):
                    self._append(piece if len(chosen) == size else piece.choose(chosen), names)
        self._finish_part()

    def _append(self, rows: Rows, names: list[str] | None = None) -> None:
        """Write rows to the open part, which is finished when it is full, or where the columns change."""
        if self._writer is not None and not self._writer.takes(rows.table):
            self._finish_part()
        if self._writer is None:
            name = names.pop(0) if names else self._next_name()
            self._writer = PartWriter(self.store.folder / name, self.layout)
        self._writer.append(rows)
        if self._writer.chunks >= PART_CHUNKS:
            self._finish_part()


def steady(action: Callable[[], _T], store: Store) -> _T:
    """Read files of an index; again where a writer put others in their place in the middle."""
    while True:
        before = store.generation()
        try:
            return action()
        except (ValueError, FileNotFoundError):
            if store.generation() == before:
                raise
