"""The inverted file of one part of an index: for each term the chunks that hold it, and how often."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..plumbing.durable import new_file

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]

FILES = ("terms.arrow", "posting_offsets.npy", "posting_rows.npy", "posting_counts.npy", "lengths.npy")


@dataclass(frozen=True)
class Postings:
    """``rows[offsets[t]:offsets[t + 1]]`` hold term ``t``, ``counts`` times; terms are sorted by code points.

    Attributes:
        terms: large_string[t]. offsets: int64[t + 1]. rows: int32[p], increasing within a term. counts: int32[p].
        lengths: terms of each row, int32[n].
    """

    terms: pa.Array
    offsets: I64
    rows: I32
    counts: I32
    lengths: I32

    def find(self, term: str) -> tuple[I32, I32]:
        """(rows, counts) of a term; empty where nothing holds it."""
        at = bisect_left(range(len(self.terms)), term, key=lambda i: str(self.terms[i].as_py()))
        if at == len(self.terms) or self.terms[at].as_py() != term:
            return self.rows[:0], self.counts[:0]
        part = slice(int(self.offsets[at]), int(self.offsets[at + 1]))
        return self.rows[part], self.counts[part]

    @classmethod
    def load(cls, folder: Path) -> Postings:
        """From a part's folder, memory-mapped."""
        with pa.memory_map(str(folder / FILES[0])) as source:
            terms = pa.ipc.open_file(source).read_all()["term"]
        return cls(terms.combine_chunks(), *(np.load(folder / name, mmap_mode="r") for name in FILES[1:]))

    def sizes(self, chunks: int) -> list[tuple[str, int, int]]:
        """(file, its rows, the rows it must have) of a part of so many chunks."""
        last = int(self.offsets[-1]) if len(self.offsets) else 0
        found = (len(self.offsets), len(self.rows), len(self.counts), len(self.lengths))
        return list(zip(FILES[1:], found, (len(self.terms) + 1, last, last, chunks), strict=True))

    def save(self, folder: Path) -> None:
        """Into a part's folder, and on the disk."""
        table = pa.table({"term": self.terms})
        with new_file(folder / FILES[0]) as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        arrays: tuple[npt.NDArray[Any], ...] = (self.offsets, self.rows, self.counts, self.lengths)
        for name, array in zip(FILES[1:], arrays, strict=True):
            save_array(folder / name, array)


def save_array(path: Path, array: npt.NDArray[Any]) -> None:
    """``numpy.save``, on the disk when it returns; a full disk is an ``OSError`` with its number."""
    with new_file(path) as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(np.ascontiguousarray(array).data)


class PostingsBuilder:
    """Collects the terms of rows in order; 12 bytes a term and row until :meth:`finish`."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(itertools.count().__next__)
        self._parts: list[tuple[I32, I32, I32]] = []
        self._lengths: list[int] = []

    def add(self, texts: Iterable[list[str]]) -> None:
        """The terms of the next rows."""
        numbers: list[int] = []
        counts: list[int] = []
        sizes: list[int] = []
        first = len(self._lengths)
        for terms in texts:
            self._lengths.append(len(terms))
            found = Counter(terms)
            sizes.append(len(found))
            numbers.extend(map(self._numbers.__getitem__, found))  # a new term gets the next number
            counts.extend(found.values())
        rows = np.repeat(np.arange(first, first + len(sizes), dtype=np.int32), sizes)
        self._parts.append((np.array(numbers, np.int32), rows, np.array(counts, np.int32)))

    def finish(self) -> Postings:
        """The postings of all rows."""
        numbers, rows, counts = (np.concatenate(each) for each in zip(*self._parts, strict=True))
        terms = sorted(self._numbers)
        rank = np.empty(len(terms), np.int32)
        rank[[self._numbers[term] for term in terms]] = np.arange(len(terms), dtype=np.int32)
        numbers = rank[numbers]
        order = np.argsort(numbers, kind="stable")  # rows stay increasing within a term
        offsets = np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=len(terms)))]).astype(np.int64)
        lengths = np.array(self._lengths, np.int32)
        return Postings(pa.array(terms, pa.large_string()), offsets, rows[order], counts[order], lengths)
