"""The cuts that a method decides on, before chunks are fitted to a budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .ragged import Ragged, offsets_of

if TYPE_CHECKING:
    import numpy.typing as npt

    I8 = npt.NDArray[np.int8]
    I32 = npt.NDArray[np.int32]
    I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Cuts:
    """The first sentences of the chunks of k documents, and the reasons why chunks begin there.

    All later stages treat cuts alike, whether a method of pychunk or the caller made them.

    Attributes:
        first: int32, one per chunk: its first sentence, counted from the start of its document. The first chunk of a
            document has 0.
        offsets: int64[k + 1]: the offsets of each document's chunks in ``first``, ``relevance`` and ``reason``.
        reason: int8, one per chunk: why it begins there, as a position in ``columns.CUT_REASONS``. None means the
            reason of the method's traits. The entry for a document's first chunk has no meaning.
        relevance: int8, one per chunk: 1 relevant, 0 irrelevant (PIC), -1 neither.
        score: float32, one per sentence, or with ``pairs`` one per pair of neighbouring sentences in a document. A
            chunk's score is the mean of the scores inside it.
        pairs: Whether ``score`` has one entry per pair of neighbouring sentences. Such scores also decide where a chunk
            that is too long is cut, and whether a chunk that is too short joins the chunk before or after it.

    Example:
        >>> cuts = Cuts.of([[0, 2], [0]])
        >>> cuts.first.tolist(), cuts.offsets.tolist()
        ([0, 2, 0], [0, 2, 3])
    """

    first: I32
    offsets: I64
    relevance: I8 | None = None
    score: Ragged | None = None
    pairs: bool = False
    reason: I8 | None = None

    @classmethod
    def of(cls, documents: Iterable[Any], *, score: Sequence[Any] | None = None, pairs: bool = False) -> Cuts:
        """Build cuts from one list of first sentences for each document, and optionally one list of scores.

        Raises:
            ValueError, TypeError: An entry is not a whole number, is negative, or is 2**31 or more. :meth:`check` finds
                all other errors.
        """
        rows = []
        for row, firsts in enumerate(documents):
            array = np.asarray([] if firsts is None else firsts)
            if array.size and (array.ndim != 1 or array.dtype.kind not in "iu"):
                raise ValueError(
                    f"cuts of document {row} must be a list of whole numbers, the first sentence of each chunk; "
                    f"got {str(firsts)[:60]}"
                )
            if array.size and (int(array.max()) >= 2**31 or int(array.min()) < 0):
                raise ValueError(
                    f"cuts of document {row} must be sentence numbers from 0 to {2**31 - 1:,}; got {str(firsts)[:60]}"
                )
            rows.append(array.astype(np.int32))
        first = np.concatenate(rows) if rows else np.empty(0, np.int32)
        scores = None if score is None else Ragged.of(score, np.float32)
        return cls(first, offsets_of([len(row) for row in rows]), score=scores, pairs=pairs)

    @classmethod
    def concat(cls, parts: Sequence[Cuts]) -> Cuts:
        """Concatenate the documents of several cuts. Labels and scores are kept only if all parts have them."""
        if not parts:
            return cls(np.empty(0, np.int32), np.zeros(1, np.int64))
        firsts = Ragged.concat([Ragged(part.first, part.offsets) for part in parts], np.int32)
        kinds = [part.relevance for part in parts if part.relevance is not None]
        scores = [part.score for part in parts if part.score is not None]
        reasons = [part.reason for part in parts if part.reason is not None]
        return cls(
            *firsts,
            np.concatenate(kinds) if len(kinds) == len(parts) else None,
            Ragged.concat(scores, np.float32) if len(scores) == len(parts) else None,
            parts[0].pairs,
            np.concatenate(reasons) if len(reasons) == len(parts) else None,
        )

    @property
    def documents(self) -> int:
        return len(self.offsets) - 1

    def part(self, document: int) -> I32:
        """Return the first sentences of the chunks of one document."""
        return self.first[self.offsets[document] : self.offsets[document + 1]]

    def rows(self, begin: int, end: int) -> Cuts:
        """Return the cuts of documents [begin, end). Nothing is copied."""
        score = None if self.score is None else self.score.rows(begin, end)
        return Cuts(self.first, self.offsets[begin : end + 1], self.relevance, score, self.pairs, self.reason)

    def check(self, doc_offsets: I64, first_row: int = 0) -> None:
        """Check the cuts against the numbers of sentences in each document.

        Raises:
            ValueError: The cuts do not fit the documents. The message names the document.
        """
        counts = np.diff(doc_offsets)
        if self.documents != len(counts):
            raise ValueError(
                f"cuts must hold as many lists as there are documents, {len(counts)}; got {self.documents}"
            )
        own = self.first[self.offsets[0] : self.offsets[-1]]
        starts = self.offsets[:-1] - self.offsets[0]
        chunks = np.diff(self.offsets)
        begins = np.zeros(len(own), bool)
        begins[starts[chunks > 0]] = True
        rising = np.ones(len(own), bool)
        rising[1:] = own[1:] > own[:-1]
        good = np.where(begins, own == 0, rising) & (own < np.repeat(counts, chunks))
        bad = np.repeat(np.arange(len(counts)), chunks)[~good]
        missing = np.flatnonzero((chunks == 0) & (counts > 0))
        for row in [*bad[:1].tolist(), *missing[:1].tolist()]:
            raise ValueError(
                f"cuts of document {row + first_row} must begin with 0, increase, and be less than {counts[row]}, "
                f"its number of sentences; got {str(self.part(row).tolist())[:60]}"
            )
        if self.score is not None:
            wanted = np.maximum(counts - 1, 0) if self.pairs else counts
            if self.score.documents != len(counts) or not np.array_equal(self.score.counts, wanted):
                of = "pair of adjacent sentences" if self.pairs else "sentence"
                got = f"lists of scores for {self.score.documents} of {len(counts)} documents"
                if self.score.documents == len(counts):
                    row = int(np.flatnonzero(self.score.counts != wanted)[0])
                    has = f"{self.score.counts[row]} score{'s' * bool(self.score.counts[row] != 1)}"
                    got = f"{has} for document {row + first_row}, which needs {wanted[row]}"
                raise ValueError(f"cuts must hold one score for each {of}; got {got}")
