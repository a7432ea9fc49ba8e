"""The sentences of removed spans, which levels leave out, and the holes that they make in the text of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._engine.data.ragged import offsets_of
from .._engine.data.removed_spans import RemovedSpans

if TYPE_CHECKING:
    import numpy.typing as npt

    I64 = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]
    U8 = npt.NDArray[np.uint8]

#: The reasons of removed spans that have no words (:mod:`pychunk.parsing.badges`). Nodes keep such spans.
WORDLESS = frozenset(("badge", "markup"))


class Holes(NamedTuple):
    """The holes of a batch, which are runs of removed sentences within one document, in order.

    Attributes:
        first, last: The first sentence of each hole, and the sentence after its last, int64[h].
        lead: The number of characters of white space at the beginning of the hole, int64[h].
        size: The number of characters of the hole without white space at its ends, int64[h].
        breaks: Whether the hole has a line break inside, or in the white space around it, bool[h].
    """

    first: I64
    last: I64
    lead: I64
    size: I64
    breaks: Flags


def with_words(removed: RemovedSpans | None) -> RemovedSpans | None:
    """Return the removed spans that have words, or None if there are none.

    Example:
        >>> spans = [(0, 4, "badge", 1.0), (5, 9, "navigation", 0.9)]
        >>> with_words(RemovedSpans.of([spans])).reason, with_words(RemovedSpans.of([spans[:1]]))
        (('navigation',), None)
    """
    if removed is None or WORDLESS.isdisjoint(removed.reason):
        return removed if removed is not None and removed.reason else None
    rows = [[span for span in removed.part(row) if span[2] not in WORDLESS] for row in range(removed.documents)]
    return RemovedSpans.of(rows) if any(rows) else None


def holes_of(text: U8, start: I64, end: I64, removed: Flags, doc_offsets: I64) -> Holes:
    """Return the holes that removed sentences make in their documents.

    Args:
        text: The text of all documents, one after the other, in UTF-8.
        start: The first byte of each of the n sentences in ``text``, int64[n].
        end: The byte after the last one of each sentence, int64[n].
        removed: Whether each sentence is removed, bool[n].
        doc_offsets: The first sentence of each of the k documents, then n, int64[k + 1].
    """
    edge = np.zeros(len(removed) + 1, np.bool_)
    edge[doc_offsets] = True
    first = np.flatnonzero(removed & (edge[:-1] | ~np.append(False, removed[:-1])))
    last = np.flatnonzero(removed & (edge[1:] | ~np.append(removed[1:], False))) + 1
    lead, size, breaks = [], [], []
    for a, b in zip(first.tolist(), last.tolist(), strict=True):
        whole = text[start[a] : end[b - 1]].tobytes().decode()
        before = "" if edge[a] else text[start[a - 1] : end[a - 1]].tobytes().decode()
        lead.append(len(whole) - len(whole.lstrip()))
        size.append(len(whole.strip()))
        breaks.append(_has_break(before[len(before.rstrip()) :]) or _has_break(whole))
    return Holes(first, last, np.array(lead, np.int64), np.array(size, np.int64), np.array(breaks, np.bool_))


def _has_break(text: str) -> bool:
    return text.splitlines() not in ([], [text])


def kept_starts(starts: Flags, removed: Flags, doc_offsets: I64) -> Flags:
    """Return the sentences at which nodes begin, bool[n], so that none but the first of a document is removed.

    A boundary before a removed sentence moves to the next kept sentence. The boundary before the first kept sentence
    moves to the beginning of its document.

    Args:
        starts: The sentences at which the text of a node begins, removed or not, bool[n].
        removed: Whether each sentence is removed, bool[n].
        doc_offsets: The first sentence of each of the k documents, then n, int64[k + 1].

    Example:
        >>> flags = np.array([True, False, True, False])
        >>> kept_starts(flags, np.array([True, False, True, False]), np.array([0, 4])).tolist()
        [True, False, False, True]
    """
    kept = np.flatnonzero(~removed)
    before = offsets_of(starts)
    document = np.searchsorted(doc_offsets, kept, "right") - 1
    out = np.zeros(len(removed), np.bool_)
    out[doc_offsets[:-1][np.diff(doc_offsets) > 0]] = True
    begins = (np.diff(before[kept + 1]) > 0) & (np.diff(document) == 0)
    out[kept[1:]] |= begins
    return out


class KeptSentences:
    """The numbers of kept sentences, which count without the removed ones.

    Args:
        removed: Whether each sentence is removed, bool[n].
        doc_offsets: The first sentence of each of the k documents, then n, int64[k + 1].

    Attributes:
        numbers: The number of each kept sentence among all sentences, int64[m].
        before: The number of kept sentences before each sentence, then m, int64[n + 1].
        doc_offsets: The first kept sentence of each document, then m, int64[k + 1].
    """

    def __init__(self, removed: Flags, doc_offsets: I64) -> None:
        self._removed, self._doc_offsets = removed, doc_offsets
        self.numbers: I64 = np.flatnonzero(~removed)
        self.before = offsets_of(~removed)
        self.doc_offsets: I64 = self.before[doc_offsets]

    def firsts(self, firsts: Sequence[I64]) -> list[I64]:
        """Return the first kept sentence of each node with a kept sentence, then m, for each level."""
        return [np.unique(self.before[first]) for first in firsts]

    def of_all(self, first: I64) -> I64:
        """Return the first sentences, among all sentences, of nodes given by kept sentences.

        The first node of each document begins at the document's start. A document without kept sentences is one node.
        """
        starts = np.zeros(len(self._removed), np.bool_)
        starts[self.numbers[first]] = True
        out: I64 = np.flatnonzero(kept_starts(starts, self._removed, self._doc_offsets))
        return out
