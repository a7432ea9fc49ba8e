"""The documents of a source that are copies of an earlier one, which a run with ``dedupe`` leaves out."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine import native
from .._engine.arrow import flat_text
from .._util.durable_files import new_file, settle
from ..duplicates import LEAST, find_duplicates
from ..io import Source
from .run_folder import DUPLICATES, aside
from .sample import Sample
from .source_batches import BatchPart, Range, dropped_of, parts, text_bytes_of

#: The share of common text from which on documents are near-copies, if the caller names none.
SHARE = 0.8

I64 = npt.NDArray[np.int64]


def share_of(dedupe: str | float | None) -> float | None:
    """Return the least share of a near-copy that ``dedupe`` names, or None for exact copies.

    Raises:
        ValueError: ``dedupe`` is neither ``"exact"`` nor ``"near"`` nor a share.
    """
    if dedupe == "exact":
        return None
    share = SHARE if dedupe == "near" else dedupe
    if not isinstance(share, (int, float)) or isinstance(share, bool) or not LEAST <= share <= 1:
        raise ValueError(f"dedupe must be 'exact', 'near', or the least share from {LEAST} to 1; got {dedupe!r:.80}")
    return float(share)


class UniqueDocuments:
    """The documents of a source without the copies, in a pass that reads the source once more.

    Attributes:
        table: The copies: ``row`` and ``of`` (the numbers of the copy and of the document that is kept, among all that
            are read), ``document_id``, ``of_id`` and ``share``.
    """

    def __init__(self, source: Source, share: float | None, limit: int | None, sample: Sample | None) -> None:
        self._source, self._limit, self._sample = source, limit, sample
        ids: list[pa.Array] = [pa.array([], pa.large_string())]
        texts: list[pa.Array] = [pa.array([], pa.large_string())]
        hashes = [np.empty((0, 2), np.uint64)]
        for part in self._parts():
            if part.table is not None:
                ids += part.table["id"].cast(pa.large_string()).chunks
                chunks = part.table["text"].chunks
                if share is None:
                    hashes += [native.extend_row_hashes(*flat_text(each), _zeros(len(each))) for each in chunks]
                else:
                    texts += chunks
        if share is None:
            found = _equal(np.concatenate(hashes))
        else:
            found = find_duplicates(pa.chunked_array(texts), share, threads=source.threads)
        names = pa.chunked_array(ids)
        columns = {"document_id": names.take(found["row"]), "of_id": names.take(found["of"])}
        self.table = pa.table({"row": found["row"], "of": found["of"], **columns, "share": found["share"]})
        self._left_out = np.asarray(found["row"], np.int64)

    def write(self, folder: Path) -> int:
        """Write the list of copies, and return their number."""
        import pyarrow.parquet as pq

        with new_file(aside(folder / DUPLICATES)) as file:
            pq.write_table(self.table, file)
        settle(aside(folder / DUPLICATES), folder / DUPLICATES)
        return len(self.table)

    def parts(self, where: Range) -> Generator[BatchPart, None, None]:
        """Yield the parts of a range without the copies, after reading all batches before it, too."""
        first = 0
        with contextlib.closing(self._parts()) as found:
            for part in found:
                if part.table is None:
                    yield replace(part, first=first)
                    continue
                if where.end is not None and part.number >= where.end:
                    return
                begin, end = np.searchsorted(self._left_out, [part.first, part.first + len(part.table)])
                kept = np.ones(len(part.table), np.bool_)
                kept[self._left_out[begin:end] - part.first] = False
                table = part.table.filter(pa.array(kept))
                if part.number >= where.batch:
                    yield replace(
                        part,
                        table=table if len(table) else None,
                        first=first,
                        table_rows=len(table),
                        text_bytes=text_bytes_of(table),
                        dropped=dropped_of(table),
                    )
                first += len(table)

    def _parts(self) -> Generator[BatchPart, None, None]:
        return parts(self._source, Range(), self._limit, self._sample)


def _zeros(count: int) -> npt.NDArray[np.uint64]:
    return np.zeros((count, 2), np.uint64)


def _equal(hashes: npt.NDArray[np.uint64]) -> pa.Table:
    """Return the rows whose hash an earlier row has, with the first such row."""
    order = np.lexsort((np.arange(len(hashes)), hashes[:, 1], hashes[:, 0]))
    own = hashes[order]
    begins = np.ones(len(own), np.bool_)
    begins[1:] = (own[1:] != own[:-1]).any(1)
    firsts = order[np.flatnonzero(begins)[np.cumsum(begins) - 1]] if len(own) else order
    rows, of = order[~begins], firsts[~begins]
    at = np.argsort(rows)
    return pa.table({"row": rows[at], "of": of[at], "share": np.ones(len(rows))})
