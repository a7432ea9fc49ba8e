"""The scores of a chunk's document: BM25 of all its chunks as one text, and the mean of its highest cosines."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..._engine import native
from ..dense.scan import VectorScan
from ..lexical.bm25 import F32, I64, Terms, counted_terms, weighed
from ..lexical.postings import Postings
from .scorers import SLACK, Batch, Mask, ScanScorer

U32 = npt.NDArray[np.uint32]

#: The most postings of documents that are kept for later queries, at 8 bytes each. Frequent terms occur in many
#: queries, and their postings take longest to count.
_HELD = 1 << 23
#: The number of highest cosines of a document's vectors whose mean is its score. With fewer vectors, all count.
BEST = 3


class Documents:
    """The assignment of rows to documents.

    Args:
        document_of: A number for each row's document, int64[n]. Any numbers are allowed.
        alive: Which rows are not removed, bool[n]. The methods return no removed rows.

    Attributes:
        of: The document of each row, int64[n]. Documents are numbered from 0, in the order of ``document_of``.
        count: The number of documents.
        there: The number of documents that have a row that is not removed.
    """

    def __init__(self, document_of: I64, alive: Mask) -> None:
        known, numbers = np.unique(document_of, return_inverse=True)
        self.of = np.ascontiguousarray(numbers.reshape(-1), np.int64)
        self.alive, self.count = alive, len(known)
        self.there = int(np.count_nonzero(np.bincount(self.of[alive], minlength=self.count)))

    @cached_property
    def _rows(self) -> tuple[I64, I64]:
        """The rows that are not removed, sorted by document, and the offset of each document, int64[count + 1]."""
        alive = np.flatnonzero(self.alive)
        order = alive[np.argsort(self.of[alive], kind="stable")]
        sizes = np.bincount(self.of[order], minlength=self.count)
        return order, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def rows(self, documents: I64) -> tuple[I64, I64]:
        """Return the rows of documents, one document after the other, and the number of rows of each."""
        every, first = self._rows
        sizes = first[documents + 1] - first[documents]
        begins = np.cumsum(sizes) - sizes
        return every[np.arange(int(sizes.sum())) + np.repeat(first[documents] - begins, sizes)], sizes

    def whole(self, allowed: Mask | None) -> Mask | None:
        """Return all rows, bool[n], of the documents that have an allowed row; None if all are allowed.

        A document's score is computed from all its rows.
        """
        if allowed is None:
            return None
        some = np.zeros(self.count, np.bool_)
        some[self.of[allowed]] = True
        return np.asarray(some[self.of] & self.alive, np.bool_)


class DocumentBM25:
    """The BM25 scores of documents, each as the text of all its chunks that are not removed.

    See :class:`~pychunk.index.lexical.bm25.BM25`. A term's count in a document is the sum of its counts in the chunks,
    and a document's length is the sum of the chunks' lengths. Document frequency, mean length and the highest possible
    score are computed from documents. Text in which chunks overlap counts once for each of these chunks.

    Args:
        parts: The postings of the parts. Their rows are numbered consecutively across parts.
        documents: The documents of these rows.
        k1, b: The parameters of BM25, as for chunks.
    """

    def __init__(self, parts: Sequence[Postings], documents: Documents, *, k1: float, b: float) -> None:
        self.parts, self.documents = list(parts), documents
        lengths = np.concatenate([np.empty(0, np.int32), *(part.lengths for part in self.parts)])
        alive = documents.alive
        own = np.bincount(documents.of[alive], weights=lengths[alive], minlength=documents.count)
        mean = float(own.sum()) / documents.there if documents.there else 1.0
        self._base = np.asarray(k1 * (1 - b + b * own / max(mean, 1e-9)), np.float32)
        ends = np.cumsum([0, *(len(part.lengths) for part in self.parts)]).tolist()
        self._places = [slice(begin, end) for begin, end in itertools.pairwise(ends)]
        self._whole = bool(alive.all())
        self._known: dict[str, tuple[U32, U32]] = {}
        self._held = 0

    def scores(self, queries: Sequence[Terms], threads: int | None = None) -> F32:
        """Return the scores of documents from 0 to 1 for the terms of each query, float32[q, documents]."""
        counted, every = counted_terms(queries)
        rows, counts, ends = self._postings(every)
        numbers, weights, offsets, bounds = weighed(counted, every, np.diff(ends).tolist(), self.documents.there)
        return native.bm25_scores(
            [(rows, counts, ends[:-1].copy(), ends[1:].copy(), self.documents.count)],
            offsets,
            numbers,
            weights,
            bounds,
            self._base,
            None,
            native.default_threads() if threads is None else threads,
        )

    def _postings(self, terms: Sequence[str]) -> tuple[U32, U32, I64]:
        """Return (documents, counts, offsets): the postings of all terms, and where those of each term begin."""
        new = [term for term in terms if term not in self._known]
        found = dict(zip(new, self._counted(new), strict=True))
        each = [found.get(term) or self._known[term] for term in terms]
        size = sum(map(len, (documents for documents, _ in found.values())))
        if self._held + size <= _HELD:
            self._known.update(found)
            self._held += size
        ends = np.cumsum([0, *(len(documents) for documents, _ in each)])
        none = np.empty(0, np.uint32)
        documents, counts = (np.concatenate([none, *(own[place] for own in each)]) for place in (0, 1))
        return documents, counts, ends.astype(np.int64)

    def _counted(self, terms: Sequence[str]) -> list[tuple[U32, U32]]:
        """Return (the documents that have a term; the term's count in each of them) for each term."""
        borders = [part.borders(terms) for part in self.parts]
        found = []
        for term in range(len(terms)):
            own = np.zeros(self.documents.count, np.float64)
            for part, place, (begins, last) in zip(self.parts, self._places, borders, strict=True):
                here = slice(int(begins[term]), int(last[term]))
                rows, times = part.rows[here], part.counts[here]
                if not self._whole:
                    alive = self.documents.alive[place][rows]
                    rows, times = rows[alive], times[alive]
                own += np.bincount(self.documents.of[place][rows], weights=times, minlength=self.documents.count)
            documents = np.flatnonzero(own)
            found.append((documents.astype(np.uint32), own[documents].astype(np.uint32)))
        return found


@dataclass(frozen=True)
class VectorDocumentScores:
    """The score of documents by vectors, which is the mean of their :data:`BEST` highest cosines.

    Args:
        scan: The scan that computes cosines of rows of vectors.
        documents: The assignment of chunks to documents.
        offsets: The offsets of each chunk's vectors, int64[n + 1] for n chunks. None: each chunk has one vector.
    """

    scan: VectorScan
    documents: Documents
    offsets: I64 | None

    def scores(self, query: F32, documents: I64) -> F32:
        """Return the score of each document for a query's unit vector, float32. It is 0 for one without vectors."""
        chunks, sizes = self.documents.rows(documents)
        if self.offsets is None:
            vectors = chunks
        else:
            each = self.offsets[chunks + 1] - self.offsets[chunks]
            before = np.cumsum(each) - each
            vectors = np.arange(int(each.sum())) + np.repeat(self.offsets[chunks] - before, each)
            sizes = np.add.reduceat(np.append(each, 0), np.cumsum(sizes) - sizes) * (sizes > 0)
        cosines = self.scan.score_rows(query, vectors)
        return means_of_best(cosines, sizes)


def means_of_best(cosines: F32, sizes: I64) -> F32:
    """Return the mean of the :data:`BEST` highest cosines of each group, added from the highest on; 0 if it is empty.

    ``sizes`` has the number of cosines of each group; groups follow one another in ``cosines``.

    Example:
        >>> means_of_best(np.float32([.5, .25, .75, .5, .125]), np.array([4, 0, 1])).tolist()
        [0.5833333134651184, 0.0, 0.125]
    """
    # Each cosine is sorted as an integer of 64 bits. The upper half is the number of its group, and the lower half the
    # cosine, such that the highest comes first. For 20,000 cosines, this takes a fifth of the time of lexsort.
    bits = np.ascontiguousarray(cosines, np.float32).view(np.uint32)
    rising = np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31))
    keys = np.repeat(np.arange(len(sizes), dtype=np.uint64), sizes) << np.uint64(32) | ~rising
    keys.sort()
    first = np.cumsum(sizes) - sizes
    total = np.zeros(len(sizes), np.float32)
    for place in range(BEST):
        there = sizes > place
        best = ~keys[first[there] + place].astype(np.uint32)
        total[there] += np.where(best >> 31, best & np.uint32((1 << 31) - 1), ~best).view(np.float32)
    return np.asarray(total / np.clip(sizes, 1, BEST), np.float32)


class NearDocuments:
    """The scores of chunks by the vectors of their documents, for several queries.

    Args:
        by: The scorer of documents.
        near: The scorer of chunks by their best vectors. It searches all chunks of documents with an allowed chunk.
        queries: Unit vectors, float32[q, dim].
        allowed: The chunks that may be found, bool[chunks]. None: all.
    """

    def __init__(self, by: VectorDocumentScores, near: Batch, queries: F32, allowed: Mask | None) -> None:
        self.by, self.near, self.queries, self.allowed = by, near, queries, allowed

    def fetch(self, numbers: Sequence[int], count: int) -> None:
        """Search for the ``count`` best chunks of these queries together, unless a scan has already found them."""
        if not isinstance(self.near, ScanScorer) or any(self.near.found.get(each, (0,))[0] < count for each in numbers):
            self.near.fetch(numbers, count)

    def source(self, number: int) -> NearDocument:
        """Return the source of one query."""
        return NearDocument(self, number)


class NearDocument:
    """One query of a :class:`NearDocuments`."""

    def __init__(self, batch: NearDocuments, number: int) -> None:
        self.batch, self.query = batch, batch.queries[number]
        self.near = batch.near.source(number)
        self.exact = self.near.exact
        self._known: dict[int, float] = {}

    def top(self, count: int) -> tuple[F32, I64, bool]:
        """Return (scores, chunks, whether no further chunks exist): the chunks of the documents of the best chunks.

        The best chunks are the ``count`` best by their own vectors. A document's score is at most the cosine of its
        best vector. A chunk of any other document therefore scores at most as much as the last of the best chunks. A
        score below this bound is raised to it, because the last returned score must bound the scores of all chunks that
        are not returned.
        """
        scores, chunks, ended = self.near.top(count)
        documents = self.batch.by.documents
        found, _ = documents.rows(np.unique(documents.of[chunks]))
        if self.batch.allowed is not None:
            found = found[self.batch.allowed[found]]
        own = self.score(found)
        if not ended and self.exact and len(scores):
            own = np.maximum(own, scores[-1] + np.float32(SLACK))
        best = np.lexsort((found, -own))
        return own[best], found[best], ended

    def score(self, chunks: I64) -> F32:
        """Return the score of each chunk's document."""
        own, at = np.unique(self.batch.by.documents.of[chunks], return_inverse=True)
        new = np.array([each for each in own.tolist() if each not in self._known], np.int64)
        if len(new):
            self._known.update(zip(new.tolist(), self.batch.by.scores(self.query, new).tolist(), strict=True))
        values = np.array([self._known[each] for each in own.tolist()], np.float32)
        return values[at.reshape(-1)]
