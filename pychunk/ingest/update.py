"""The update of a finished run to another state of its source: what it cuts again, and the list of changed chunks.

New and changed documents go to new shards, after those of the last run. Of these, a shard without changed or removed
documents is linked, and the others are written without their chunks. All this happens in a folder next to the old one.
Then the two folders change places in one step. A reader therefore sees the state before or after. An update that was
killed goes on in the folder that it had begun.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine.arrow import primitive
from .._util.counting import counted
from .._util.durable_files import exchange, flush, new_file, remove, settle, uninterrupted
from ..chunks.differences import compared
from ..io import Source
from .former_run import FormerRun
from .kept_shards import KeptShards, chunks_of
from .row_digests import Digests, digests_of
from .run_folder import CHANGES, aside, shard_number
from .run_manifest import Manifest, differences
from .run_report import Report
from .sample import Sample
from .source_batches import BatchPart, Range, dropped_of, parts, text_bytes_of
from .verification import damage

I64 = npt.NDArray[np.int64]

#: The columns of the list of changes, in their order.
_LISTED = ("change", "document_id", "text_id", "old_start", "old_end", "start", "end", "text")
#: What :attr:`Update._at` holds for a document that was not found yet, and for one of a file that is not read again.
_ABSENT, _NOT_READ = -1, -2


def digested(found: Generator[BatchPart, None, None]) -> Generator[BatchPart, None, None]:
    """Yield parts with the digests of their documents."""
    with contextlib.closing(found):
        for part in found:
            yield part if part.table is None else replace(part, digests=digests_of(part.table))


class Update:
    """An update: the documents of the source that are new or changed, and the documents of the last run to keep.

    Attributes:
        former: The last run.
        source: The files that are read.
        first_shard: The number of the first shard that the update adds.
        kept: Whether each document of the last run is unchanged, once all parts were read; bool[n].
        files: The file of each unchanged document that is in another file now, by its row in the last run.
    """

    def __init__(self, former: FormerRun, source: Source, limit: int | None, sample: Sample | None) -> None:
        self.former = former
        self.first_shard = max((shard_number(shard.name) for shard in former.shards), default=-1) + 1
        skipped = set() if limit is not None or sample is not None else former.unchanged_files(source)
        chosen = [pair for pair in zip(source.files, source.kinds, strict=True) if pair[0].path not in skipped]
        self.source = replace(source, files=[file for file, _ in chosen], kinds=[kind for _, kind in chosen])
        self._limit, self._sample = limit, sample
        self._unread = former.rows_of(skipped)
        self._restart()

    def _restart(self) -> None:
        self._at: I64 = np.where(self._unread, _NOT_READ, _ABSENT)
        self.kept = self._unread.copy()
        self.files: dict[int, str] = {}

    def parts(self, where: Range) -> Generator[BatchPart, None, None]:
        """Yield the new and changed documents of a range of batches, after reading all batches before it, too.

        Raises:
            ValueError: Two documents have the same id, or no document of the last run is in the source.
        """
        self._restart()
        first = self.former.next_number
        with contextlib.closing(self._read()) as found:
            for part in found:
                if part.table is None:
                    yield replace(part, first=first)
                    continue
                digests = digests_of(part.table)
                new = self._new(part, digests)
                if part.number >= where.batch:
                    table = part.table.take(primitive(new))
                    yield replace(
                        part,
                        table=table if len(new) else None,
                        first=first,
                        table_rows=len(new),
                        text_bytes=text_bytes_of(table),
                        dropped=dropped_of(table),
                        digests=digests.choose(new),
                    )
                first += len(new)

    def _read(self) -> Generator[BatchPart, None, None]:
        """Yield all parts of the source, if it has an id of the last run.

        Usually the first part shows that. Else the documents are counted up to the first known one.
        """
        found = parts(self.source, Range(), self._limit, self._sample)
        with contextlib.closing(found):
            if not len(self.former) or self._unread.any():
                yield from found
                return
            documents = size = read = 0
            for part in found:
                read += 1
                if part.table is not None:
                    documents, size = documents + len(part.table), size + part.text_bytes
                    if (self.former.find(digests_of(part.table))[0] >= 0).any():
                        break
            else:
                raise ValueError(
                    f"{self.former.folder} holds {counted(len(self.former), 'document')}, and the source has none of "
                    f"their ids: an update would cut and encode all {counted(documents, 'document')} "
                    f"({size / 1e6:,.1f} MB of text), and list every chunk as removed or added. Pass the sources and "
                    "ids= of the last run, or, if the documents are new, ingest into another folder"
                )
            if read == 1:
                yield part
                yield from found
                return
        yield from parts(self.source, Range(), self._limit, self._sample)

    def _new(self, part: BatchPart, digests: Digests) -> I64:
        """Return the rows of new and changed documents, and note which documents of the last run the part has."""
        rows, same = self.former.find(digests)
        known = np.flatnonzero(rows >= 0)
        own = rows[known]
        _, firsts = np.unique(own, return_index=True)
        again = self._at[own] != _ABSENT
        again |= ~np.isin(np.arange(len(own)), firsts)
        if again.any():
            at = int(np.flatnonzero(again)[0])
            earlier = int(self._at[own[at]])
            if earlier == _ABSENT:
                earlier = part.first + int(known[np.flatnonzero(own == own[at])[0]])
            self._refuse(int(own[at]), earlier, part, int(known[at]))
        self._at[own] = part.first + known
        self.kept[rows[same]] = True
        if same.any():
            assert part.table is not None
            files = part.table["file"].filter(pa.array(same))
            moved = np.flatnonzero(self.former.moved(rows[same], files))
            self.files.update(zip(rows[same][moved].tolist(), files.take(primitive(moved)).to_pylist(), strict=True))
        return np.flatnonzero(~same)

    def _refuse(self, row: int, earlier: int, part: BatchPart, own: int) -> None:
        assert part.table is not None
        file = part.table["file"][own].as_py()
        numbers = f"documents {earlier} and {part.first + own}"
        if earlier == _NOT_READ:
            numbers = f"a document of {self.former.file_of(row)} and one of {file}"
        raise ValueError(
            f"{numbers} have the same id {self.former.ids[row].as_py()!r}, and an update finds documents by their ids: "
            "give each document an id of its own"
        )

    def finish(self, report: Report, manifest: Manifest, empty: dict[str, Any], chosen: dict[str, Any]) -> None:
        """Add the shards of the last run and the list of changes to the new shards in the folder of the report."""
        place = report.folder
        new = manifest.shards
        kept = KeptShards(self.former, self.kept, self.files, empty, chosen["compression"], chosen["shard_bytes"])
        kept.write(place)
        report.changes = _write_changes(place, kept.gone, [place / shard.name for shard in new])
        if kept.shards and new and not sum(shard.documents + shard.letters for shard in new):
            for shard in new:
                for path, _, _ in shard.files(place):
                    path.unlink()
            new = []
        manifest.shards, manifest.updated = [*kept.shards, *new], True
        manifest.save(place)
        report.kept = int(self.kept.sum())


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
        {**facts, "source": {k: v for k, v in facts.get("source", {}).items() if k not in ("files", "ignored", "kind")}}
        for facts in (before, now)
    ]
    return list(differences(both[0], both[1]))


def _write_changes(folder: Path, gone: Any, paths: list[Path]) -> dict[str, int]:
    """Write the list of the chunks of new, changed and removed documents, and return the number of each change."""
    import pyarrow.parquet as pq

    # A store knows a chunk by its text_id, which depends on the document: the id of a chunk that left it must go.
    found = compared(gone, chunks_of(paths), across=False)
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
    for left in (new, new, _older(folder)):  # The second try is for a file that could not be removed.
        remove(left)


def begun(folder: Path, facts: dict[str, Any], first_shard: int) -> Path:
    """Return the folder of an update, which holds what an interrupted update to the same state has written so far."""
    place = beside(folder)
    if place.is_dir():
        with contextlib.suppress(ValueError):
            manifest = Manifest.load(place)
            if manifest is not None and manifest.facts == facts:
                # Linked shards of a finished update that has not taken its place yet are linked again.
                manifest.shards = [each for each in manifest.shards if shard_number(each.name) >= first_shard]
                if not damage(place, manifest.shards, hashes=True):
                    manifest.updated = False
                    manifest.save(place)
                    return place
        remove(place)
    place.mkdir()
    return place


def _older(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.before")
