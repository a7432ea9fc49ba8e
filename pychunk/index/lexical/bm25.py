"""BM25 over the parts of an index, with the statistics of all rows that are not removed."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._engine import native
from .postings import Postings

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]
#: The terms of a query: a list, or a mapping with the count of each term.
Terms = Sequence[str] | Mapping[str, float]
#: The most scores that are cached from one call to the next: 32 MB.
KEPT = 1 << 23
#: The most terms for which the positions of their postings in all parts are cached, at some 400 bytes for each term and
#: part. Finding them takes 1 ms for a query of twenty terms with 17 parts.
_KNOWN = 1024


class BM25:
    """The BM25 scores of all rows for the terms of a query, as shares of the highest score that a row could have.

    The score is ``sum(idf(t) * f / (f + k1 * (1 - b + b * length / mean length))) / sum(idf(t))`` over the query's
    terms t that the index has, with ``idf = ln(1 + (n - df + 0.5) / (df + 0.5))`` (Robertson and Zaragoza, 2009, in
    Lucene's form). Here f is the count of t in the row, df the number of rows that have t, and n the number of rows.
    Because a share is from 0 to 1, it is comparable with a cosine, whatever the query's length and the size of the
    corpus.

    Args:
        parts: The postings of the parts. Their rows are numbered consecutively across parts.
        alive: Which rows are not removed, bool[n]. Removed rows count in no statistic and score 0.
        k1: The saturation of term counts. With a higher ``k1``, further occurrences of a term add more.
        b: The normalization by length, from 0 (none) to 1 (full).

    Attributes:
        norms: ``k1 * (1 - b + b * length / mean length)`` of each row, float32[n].
    """

    def __init__(self, parts: Sequence[Postings], alive: npt.NDArray[np.bool_], *, k1: float, b: float) -> None:
        self.parts, self.alive = list(parts), alive
        for part in self.parts:
            part.check_lengths()
        lengths = [part.lengths for part in self.parts]
        every = np.concatenate(lengths) if lengths else np.empty(0, np.int32)
        self.rows = int(alive.sum())
        mean = float(every[alive].mean()) if self.rows else 1.0
        self.norms = np.asarray(k1 * (1 - b + b * every / max(mean, 1e-9)), np.float32)
        ends = np.cumsum([0, *map(len, lengths)]).tolist()
        self._places = [slice(begin, end) for begin, end in itertools.pairwise(ends)]
        self._whole = self.rows == len(alive)
        self._kept: dict[tuple[Any, ...], F32] = {}
        self._known: dict[str, npt.NDArray[np.int64]] = {}

    def scores(self, queries: Sequence[Terms], threads: int | None = None) -> F32:
        """Return scores from 0 to 1 for the terms of each of q queries, float32[q, n].

        A term that is twice in a list counts twice. In a mapping, the count of a term may have a fraction. The scores
        of the last call are cached if there are at most :data:`KEPT`, because a planner's first pass and the search
        that it plans request the same scores.
        """
        if len(queries) * len(self.norms) > KEPT:
            return self._scores(queries, threads)
        asked = [tuple(each.items()) if isinstance(each, Mapping) else tuple(each) for each in queries]
        kept = self._kept
        if not all(each in kept for each in asked):
            found = self._scores(queries, threads)
            found.setflags(write=False)
            kept = self._kept = dict(zip(asked, found, strict=True))
        if len(asked) == 1:
            return kept[asked[0]][None]
        return np.array([kept[each] for each in asked], np.float32).reshape(len(asked), len(self.norms))

    def _scores(self, queries: Sequence[Terms], threads: int | None) -> F32:
        counted, every = counted_terms(queries)
        borders = self._borders(every)
        frequencies = self._frequencies(borders, len(every))
        numbers, weights, ends, bounds = weighed(counted, every, frequencies, self.rows)
        return native.bm25_scores(
            [(part.rows, part.counts, *own, len(part.lengths)) for part, own in zip(self.parts, borders, strict=True)],
            ends,
            numbers,
            weights,
            bounds,
            self.norms,
            None if self._whole else self.alive,
            native.default_threads() if threads is None else threads,
        )

    def idf(self, terms: Sequence[str]) -> dict[str, float]:
        """Return the idf of each term that the index has, by term. Terms that it lacks are left out."""
        every = list(dict.fromkeys(terms))
        found = self._frequencies(self._borders(every), len(every))
        return {term: idf_of(frequency, self.rows) for term, frequency in zip(every, found, strict=True) if frequency}

    def held(self, terms: Sequence[str], rows: I64) -> npt.NDArray[np.bool_]:
        """Return which of ``rows`` have which terms, bool[terms, rows], by a binary search in each term's postings."""
        found = np.zeros((len(terms), len(rows)), np.bool_)
        for part, place, borders in zip(self.parts, self._places, self._borders(terms), strict=True):
            own = np.flatnonzero((rows >= place.start) & (rows < place.stop))
            if not len(own):
                continue
            wanted = (rows[own] - place.start).astype(part.rows.dtype)
            for term, (begin, end) in enumerate(zip(*(each.tolist() for each in borders), strict=True)):
                if begin < end:
                    of_term = part.rows[begin:end]
                    at = np.minimum(np.searchsorted(of_term, wanted), end - begin - 1)
                    found[term, own] = of_term[at] == wanted
        return found

    def _borders(self, terms: Sequence[str]) -> list[tuple[I64, I64]]:
        """Return (first, end) of the postings of each term, for each part.

        They are cached, because a planner and the search that it plans look up the same terms.
        """
        if len(terms) > _KNOWN:
            return [part.borders(terms) for part in self.parts]
        known = self._known
        new = [term for term in dict.fromkeys(terms) if term not in known]
        if new:
            known = dict(known) if len(known) + len(new) <= _KNOWN else {}
            new = [term for term in dict.fromkeys(terms) if term not in known]
            found = np.array([part.borders(new) for part in self.parts], np.int64).reshape(-1, 2, len(new))
            known.update(zip(new, found.transpose(2, 1, 0), strict=True))
            self._known = known
        both = np.array([known[term] for term in terms], np.int64).reshape(len(terms), 2, len(self.parts))
        return list(zip(both[:, 0].T.copy(), both[:, 1].T.copy(), strict=True))

    def _frequencies(self, borders: Sequence[tuple[I64, I64]], terms: int) -> list[int]:
        """Return for each term the number of rows that have it, not counting removed rows."""
        if self._whole:
            every = (ends - begins for begins, ends in borders)
            return [int(each) for each in sum(every, np.zeros(terms, np.int64))]
        found = [0] * terms
        for part, place, (begins, ends) in zip(self.parts, self._places, borders, strict=True):
            for term, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
                if end > begin:
                    found[term] += native.count_alive(part.rows[begin:end], self.alive[place])
        return found


def idf_of(frequency: int, rows: int) -> float:
    """Return the inverse document frequency (idf) of a term that ``frequency`` of all ``rows`` have."""
    return float(np.log1p((rows - frequency + 0.5) / (frequency + 0.5)))


def counted_terms(queries: Sequence[Terms]) -> tuple[list[Mapping[str, float]], list[str]]:
    """Return (for each query the count of each of its terms; the terms of all queries, each once)."""
    counted: list[Mapping[str, float]] = [terms if isinstance(terms, Mapping) else Counter(terms) for terms in queries]
    return counted, list(dict.fromkeys(itertools.chain.from_iterable(counted)))


def weighed(
    counted: Sequence[Mapping[str, float]], every: Sequence[str], frequencies: Sequence[int], rows: int
) -> tuple[I64, F32, I64, F32]:
    """Return the weights of the terms of queries, in the form that the native core takes.

    Args:
        counted: For each query, the count of each of its terms.
        every: All terms, each once.
        frequencies: The number of rows that have each of these terms.
        rows: The number of all rows.

    Returns:
        (the terms of all queries, one query after the other, as positions in ``every``; the weights of these terms; the
        offset of each query's first term, then the number of terms; the highest score that each query allows).
    """
    idf = {}  # The position and the idf of each term that any row has.
    for number, (term, frequency) in enumerate(zip(every, frequencies, strict=True)):
        if frequency:
            idf[term] = number, idf_of(frequency, rows)
    numbers: list[int] = []
    weights: list[float] = []
    ends, bounds = [0], list[float]()
    for own in counted:
        bound = 0.0
        for term, times in own.items():
            if term in idf:
                number, weight = idf[term]
                numbers.append(number)
                weights.append(times * weight)
                bound += times * weight  # This does not use sum(), which rounds differently from Python 3.12 on.
        bounds.append(bound)
        ends.append(len(numbers))
    return (
        np.array(numbers, np.int64),
        np.array(weights, np.float32),
        np.array(ends, np.int64),
        np.array(bounds, np.float32),
    )
