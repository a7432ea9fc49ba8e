"""The inverted file of one part of an index: for each term the chunks that have it, and how often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..._engine import arrow, native
from ..._util.durable_files import new_file
from ..files.arrays import mapped, save_array
from ..files.arrow_tables import read_table
from ..files.block_checksums import Blocks, damaged
from . import characters
from .analyzer import Analyzer

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
Whole = npt.NDArray[np.integer[Any]]

#: An n-gram size so large that any word stays whole.
_WHOLE = 1 << 40

FILES = ("terms.arrow", "posting_offsets.npy", "posting_rows.npy", "posting_counts.npy", "lengths.npy")


@dataclass(frozen=True)
class Postings:
    """The postings of a part: term ``t`` is in ``rows[offsets[t]:offsets[t + 1]]``, ``counts`` times in each.

    Terms are sorted by code points. On the disk, offsets, rows and counts have the narrowest integer type that holds
    all their values, and terms have Arrow's type string if they have fewer than 2^31 bytes together.

    Attributes:
        terms: The m terms, large_string[m].
        offsets: The offsets of each term's postings, int64[m + 1].
        rows: The row of each of p postings, rising within a term, int32[p].
        counts: How often the row has the term, int32[p].
        lengths: The number of terms of each of n rows, int32[n].
        blocks: The blocks of each file, which are checked when they are first read. Empty: they are not checked.
    """

    terms: pa.Array
    offsets: Whole
    rows: Whole
    counts: Whole
    lengths: I32
    blocks: Mapping[str, Blocks] = field(default_factory=dict, repr=False)

    @cached_property
    def words(self) -> pa.Array:
        """The terms. Before they are returned, they and the offsets of their postings are checked.

        Raises:
            ValueError: A file is damaged. The message names it.
        """
        if not self.blocks:
            return self.terms
        for name in FILES[:2]:
            self.blocks[name].check()
        try:
            self.terms.validate(full=True)
        except pa.ArrowException as error:
            raise ValueError(damaged(self.blocks[FILES[0]].path, f"{error!s:.200}")) from error
        if self.offsets[:1].any() or (self.offsets[1:] < self.offsets[:-1]).any():
            raise ValueError(damaged(self.blocks[FILES[1]].path, "offsets must begin with 0 and rise"))
        return self.terms

    @cached_property
    def _sorted(self) -> native.SortedTerms:
        return native.SortedTerms(*arrow.flat_text(self.words))

    def check_lengths(self) -> None:
        """Raise ValueError if the file of the rows' lengths is damaged. The message names the file."""
        if self.blocks:
            self.blocks[FILES[4]].check()
            if self.lengths.min(initial=0) < 0:
                raise ValueError(damaged(self.blocks[FILES[4]].path, "a length is below 0"))

    def _check(self, begin: int, end: int) -> None:
        """Check the blocks of postings [begin, end) that were not read before."""
        for name, array in ((FILES[2], self.rows), (FILES[3], self.counts)):
            own, size = self.blocks[name], array.itemsize
            ahead = own.size - array.nbytes if own.new else 0
            for first, last in own.check(ahead + begin * size, ahead + end * size) if own.new else ():
                values = array[max(0, (first - ahead) // size) : max(0, -(-(last - ahead) // size))]
                if name == FILES[2] and len(values) and int(values.max()) >= len(self.lengths):
                    raise ValueError(damaged(own.path, f"postings must be of rows below {len(self.lengths):,}"))

    def borders(self, terms: Sequence[str]) -> tuple[I64, I64]:
        """Return (first, end) of the postings of each of n terms, int64[n] each; 0 and 0 for a term that no row has."""
        places = self._sorted.find([term.encode("utf-8", "surrogatepass") for term in terms])
        known = places >= 0
        at = places[known]
        begins, ends = np.zeros((2, len(places)), np.int64)
        begins[known], ends[known] = self.offsets[at], self.offsets[at + 1]
        if self.blocks:
            for begin, end in zip(begins[known].tolist(), ends[known].tolist(), strict=True):
                self._check(begin, end)
        return begins, ends

    def find(self, terms: Sequence[str]) -> list[tuple[Whole, Whole]]:
        """Return (rows, counts) of the postings of each term; both are empty for a term that no row has."""
        bounds = zip(*(each.tolist() for each in self.borders(terms)), strict=True)
        return [(self.rows[begin:end], self.counts[begin:end]) for begin, end in bounds]

    @classmethod
    def load(cls, folder: Path, blocks: Mapping[str, Blocks] | None = None) -> Postings:
        """Open the postings of a part's folder, memory-mapped.

        ``blocks`` has the blocks of each file, for checks. None: this process wrote the part, so it is not checked.

        Raises:
            ValueError: A file is damaged. The message names it.
        """
        with pa.memory_map(str(folder / FILES[0])) as source:
            try:
                terms = read_table(source)["term"]
                terms.validate(full=terms.num_chunks > 1)  # Several chunks are joined below, which reads their offsets.
            except (pa.ArrowException, OSError, KeyError, ValueError) as error:
                raise ValueError(damaged(folder / FILES[0], f"{error!s:.200}")) from error
        if terms.type not in (pa.string(), pa.large_string()) or terms.null_count:
            raise ValueError(damaged(folder / FILES[0], "terms must be texts"))
        own = blocks or {}
        offsets, rows, counts, lengths = (
            _mapped(folder / name, own[name].data if name in own else None) for name in FILES[1:]
        )
        return cls(terms.combine_chunks(), offsets, rows, counts, lengths, own)

    def sizes(self, chunks: int) -> list[tuple[str, int, int]]:
        """Return (file, number of its values, required number) for each file of a part with ``chunks`` rows."""
        last = int(self.offsets[-1]) if len(self.offsets) else 0
        found = (len(self.offsets), len(self.rows), len(self.counts), len(self.lengths))
        return list(zip(FILES[1:], found, (len(self.terms) + 1, last, last, chunks), strict=True))

    def save(self, folder: Path) -> None:
        """Write the postings to the files in a part's folder. When this returns, they are on the disk."""
        text, offsets = arrow.flat_text(self.terms)
        few = offsets[-1] <= np.iinfo(np.int32).max
        table = pa.table({"term": arrow.strings(text, offsets.astype(np.int32)) if few else self.terms})
        with new_file(folder / FILES[0]) as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        arrays: tuple[npt.NDArray[Any], ...] = (*map(narrow, (self.offsets, self.rows, self.counts)), self.lengths)
        for name, array in zip(FILES[1:], arrays, strict=True):
            save_array(folder / name, array)


def _mapped(path: Path, data: npt.NDArray[np.uint8] | None) -> npt.NDArray[Any]:
    found = mapped(path, data)
    if found.ndim != 1 or found.dtype.kind not in "ui" or not found.dtype.isnative:
        raise ValueError(damaged(path, f"it holds {found.dtype} of shape {found.shape}"))
    return found


def narrow(values: Whole) -> Whole:
    """Return integers of at least 0 in the narrowest type that holds all of them.

    A posting then mostly takes 3 bytes instead of 8.
    """
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


#: The most threads that count at once. Each has its own table of words, some 10 MB for a part.
_MOST_THREADS = 8
#: The least number of bytes of text for each thread. With less, another thread would not save time.
_SHARE = 1 << 18


def _most_threads() -> int:
    return min(_MOST_THREADS, native.default_threads())


#: The result of :meth:`PostingsBuilder.count`: (the terms of the rows as numbers, row after row; the count of each of
#: these in its row; how many different terms each row has; the length of each row).
Counted = tuple[I32, I32, I32, I32]


class PostingsBuilder:
    """A builder that counts the terms of rows in order, in the native core. It takes 8 bytes of memory a posting.

    The terms are those of :meth:`Analyzer.terms`. N-grams that unit "auto" adds do not count in a row's length. For any
    number of threads, the postings are those of ``pychunk._engine.reference.search.postings``. With ``threads=None``,
    there are as many threads as save time.

    Example:
        >>> builder = PostingsBuilder(Analyzer())
        >>> builder.add(builder.count(pa.chunked_array([["To be or not to be."]])))
        >>> postings = builder.finish()
        >>> postings.terms.to_pylist(), postings.counts.tolist(), postings.lengths.tolist()
        (['be', 'not', 'or', 'to'], [2, 1, 1, 2], [6])
    """

    def __init__(self, analyzer: Analyzer, *, threads: int | None = None) -> None:
        self._threads = threads
        self._folded = analyzer.folded
        self._folding = characters.folding(diacritics=analyzer.fold_diacritics) if analyzer.version > 1 else None
        english, others = map(sorted, analyzer.frequent if analyzer.unit == "auto" else ((), ()))
        self._maker = native.PostingsMaker(
            characters.word_characters(analyzer.version, pairs=analyzer.cjk_bigrams),
            self._folding,
            ngram=0 if analyzer.unit == "words" else min(analyzer.ngram, _WHOLE),
            stem=analyzer.stem,
            stop_words=sorted(analyzer.stop_words),
            english=english,
            others=others,
        )
        self._batches: list[Counted] = []

    def count(self, texts: pa.ChunkedArray, contexts: pa.ChunkedArray | None = None) -> Counted:
        """Count the terms of the next rows, which are strings without nulls.

        The rows are part of the postings only after the result is passed to :meth:`add`.

        Args:
            texts: The text of each row.
            contexts: The context of each row, whose terms count as if it were a line before the text. The counter reads
                a context that the row before has, too, only once.

        Raises:
            ValueError: A text is not valid UTF-8.
        """
        text, offsets = self._flat(texts)
        before = None if contexts is None else self._flat(contexts)
        size = sum(int(own[-1] - own[0]) for _, own in [(text, offsets), *([before] if before else [])])
        threads = self._threads or min(1 + size // _SHARE, _most_threads())
        return self._maker.count(text, offsets, threads, before)

    def _flat(self, texts: pa.ChunkedArray) -> tuple[npt.NDArray[np.uint8], I64]:
        array = arrow.one_array(texts.cast(pa.large_string()))
        if self._folding is None:
            array = pa.array(map(self._folded, array.to_pylist()), pa.large_string())
        return arrow.flat_text(array)

    def add(self, counted: Counted) -> None:
        """Include rows that :meth:`count` has counted."""
        self._batches.append(counted)

    def finish(self) -> Postings:
        """Return the postings of all rows."""
        batches = [batch[:3] for batch in self._batches]
        terms, term_offsets, offsets, rows, counts = self._maker.finish(batches, self._threads or _most_threads())
        lengths = np.concatenate([np.empty(0, np.int32), *(batch[3] for batch in self._batches)])
        return Postings(arrow.strings(terms, term_offsets), offsets, rows, counts, lengths)
