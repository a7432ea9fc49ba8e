"""The update of a finished run to another state of its source: what it cuts again, and the list of changed chunks.

An update writes the whole folder again next to the old one, takes over the chunks of unchanged documents, and exchanges
the two folders in one step. A reader therefore sees the state before or after, and an update that was killed goes on in
the folder that it had begun.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine.arrow import compute as pc
from .._util.counting import counted
from .._util.durable_files import exchange, flush, new_file, remove, settle, uninterrupted
from ..chunks.differences import compared
from ..inputs.document_columns import arguments_of
from ..io import Source
from ..io.document_batches import documents_of
from ..segmenter import Segmenter
from .empty_tables import tables_of
from .former_run import FormerRun, chunks_of, digest_table, digests_of, merged, renumbered
from .run_folder import CHANGES, DIGESTS, aside
from .run_manifest import Manifest, differences
from .sample import Sample
from .source_batches import BatchPart, Range, parts

I64 = npt.NDArray[np.int64]

#: The columns of the list of changes, in their order.
_LISTED = ("change", "document_id", "text_id", "old_start", "old_end", "start", "end", "text")


@dataclass
class Plan:
    """The documents of the source, compared with those of the former run.

    Attributes:
        cut: The numbers of the documents that are new or changed.
        gone: The numbers in the former run of the documents that changed or are gone.
        documents: The number of documents of the source.
    """

    cut: I64
    gone: I64
    documents: int


@dataclass
class Cutter:
    """The segmentation of batches in a run that stores digests, which takes over chunks of unchanged documents."""

    made: Segmenter
    said: dict[str, Any]
    names: tuple[str, ...]
    former: FormerRun | None = None
    kept: int = 0

    def cut(self, part: BatchPart) -> tuple[dict[str, pa.Table], list[Any]]:
        """Return the tables of a batch, and the errors of its documents with their numbers in the run."""
        assert part.table is not None
        found = digests_of(part.table)
        count = len(found)
        before = np.full(count, -1, np.int64) if self.former is None else self.former.find(found)
        new = np.flatnonzero(before < 0)
        pieces, errors = [], []
        if self.former is not None and len(new) < count:
            old = np.flatnonzero(before >= 0)
            pieces.append(self.former.tables(self.names, before[old], part.first + old))
            self.kept += len(old)
        if len(new) or not pieces:
            table = part.table if len(new) == count else part.table.take(pa.array(new))
            chunks = self.made(documents_of(table), **arguments_of(self.said))
            numbers = part.first + new
            pieces.append(
                {
                    name: renumbered(own, numbers[np.asarray(own["document_index"], np.int64)])
                    for name, own in tables_of(chunks).items()
                }
            )
            errors = [each._replace(row=int(numbers[each.row])) for each in chunks.errors]
        tables = merged(pieces)
        tables[DIGESTS] = digest_table(found, part.first, [each.row - part.first for each in errors])
        return tables, errors


def beside(folder: Path) -> Path:
    """Return the folder in which an update of a run's folder is written."""
    return folder.with_name(f".{folder.name}.update")


def recover(folder: Path) -> None:
    """Finish an exchange of folders that was killed between its two steps, on systems that need two."""
    if not folder.exists() and _older(folder).is_dir():
        os.replace(_older(folder), folder)
    remove(_older(folder))


def differ_in_more_than_files(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return the differences between two runs that an update cannot make up for, which are all but those of files."""
    both = [
        {**facts, "source": {k: v for k, v in facts.get("source", {}).items() if k not in ("files", "ignored")}}
        for facts in (before, now)
    ]
    return list(differences(both[0], both[1]))


def planned(source: Source, limit: int | None, sample: Sample | None, former: FormerRun) -> Plan:
    """Read the source once, and return what an update has to do.

    Raises:
        ValueError: Two documents have the same id, or no document of the former run is in the source.
    """
    ids: list[pa.Array] = [pa.array([], pa.large_string())]
    numbers: list[I64] = [np.empty(0, np.int64)]
    size = 0
    for part in parts(source, Range(), limit, sample):
        if part.table is not None:
            found = digests_of(part.table)
            ids.append(found.ids)
            numbers.append(former.find(found))
            size += part.text_bytes
    names, before = pa.concat_arrays(ids), np.concatenate(numbers)
    check_ids(names)
    if len(former.ids) and not pc.any(pc.is_in(names, value_set=former.ids)).as_py():
        raise ValueError(
            f"{former.folder} holds {counted(len(former.ids), 'document')}, and the source has none of their ids: an "
            f"update would cut all {counted(len(names), 'document')} ({size / 1e6:,.1f} MB of text), and list every "
            "chunk as removed or added. Pass the sources and ids= of the last run, or, if the documents are new, "
            "ingest into another folder"
        )
    gone = np.ones(len(former.ids), np.bool_)
    gone[before[before >= 0]] = False
    return Plan(np.flatnonzero(before < 0), np.flatnonzero(gone), len(names))


def check_ids(ids: pa.Array) -> None:
    """Raise ValueError if two documents have the same id, so that their chunks could not be told apart."""
    if len(ids.unique()) == len(ids):
        return
    first: dict[str, int] = {}
    for number, name in enumerate(ids.to_pylist()):
        if first.setdefault(name, number) != number:
            raise ValueError(
                f"documents {first[name]} and {number} have the same id {name!r}, and an update finds documents by "
                "their ids: give each document an id of its own"
            )


def write_changes(folder: Path, manifest: Manifest, plan: Plan, former: FormerRun) -> dict[str, int]:
    """Write the list of the chunks of new, changed and removed documents, and return the number of each change."""
    import pyarrow.parquet as pq

    old, new = former.chunks_of(plan.gone), chunks_of([folder / shard.name for shard in manifest.shards], plan.cut)
    # A store knows a chunk by its text_id, which depends on the document: the id of a chunk that left it must go.
    found = compared(old, new, across=False)
    path = folder / CHANGES
    with new_file(aside(path)) as file:
        pq.write_table(found.table.select(_LISTED), file)
    settle(aside(path), path)
    return found.counts


def take_place(folder: Path) -> None:
    """Exchange a run's folder with its finished update in one step, and remove the old one."""
    new = beside(folder)
    if not exchange(new, folder):
        with uninterrupted():
            os.replace(folder, _older(folder))
            try:
                os.replace(new, folder)
            except BaseException:
                os.replace(_older(folder), folder)
                raise
    flush(folder.parent)
    remove(new)
    remove(_older(folder))


def discard(folder: Path, facts: dict[str, Any] | None) -> None:
    """Remove what an update left next to a folder, unless it is an update to the source with these facts."""
    new = beside(folder)
    if not new.is_dir():
        return
    with contextlib.suppress(ValueError):
        manifest = Manifest.load(new)
        if facts is not None and manifest is not None and manifest.facts == facts:
            return
    remove(new)


def _older(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.before")
