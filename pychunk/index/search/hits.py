"""What a search returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ..._util.lazy_imports import by_name
from ..._util.reprs import one_line, quoted

_Each = TypeVar("_Each")


@dataclass(frozen=True, repr=False)
class Passage:
    """A chunk beside a hit, or the hit itself, in reading order."""

    chunk: int
    start: int
    end: int
    text: str

    def __repr__(self) -> str:
        return one_line("Passage", {"chunk": self.chunk, "start": self.start, "end": self.end}, self.text)


@dataclass(frozen=True, repr=False)
class Hit:
    """One chunk that was found.

    Attributes:
        row: its row in the index. document, id, chunk, chunk_id, start, end, text: as in the chunk table.
        score: what the hits are ranked by. scores: of each stage: ``dense`` (cosine; of its best sentence where the
            index holds sentences), ``sentence`` (with ``fusion="levels"`` the cosine of its best sentence), ``sparse``
            (BM25 as a share of what the query allows), ``rerank``; with document evidence each stage's own of the
            document, as ``document_dense``; and where a search skips errors, in words, why it did without ``rewrite``
            or ``rerank``; with ``plan`` the levels that were chosen, and why.
        line, line_end: lines of its first and last character in the document, from 1.
        page, page_end: where the chunks have pages, those on which its best sentence begins and ends. Where nobody
            looked at sentences (``mode="sparse"``), the page whose share of the chunk holds most of the query's terms.
            Those of the chunk itself in an index without terms, or from before chunks knew where pages begin inside
            them. None without pages: build the index with ``method="page"`` or ``page_starts=``.
        path: the headings above it, outermost first, where the chunks have a tree.
        sentence: span of the best sentence in characters of the document, where dense search looked at sentences.
        context: the text that was indexed beside the chunk's own, where it was; no part of ``text``.
        metadata: the chunk table's other columns.
        around: with ``expand``, what it stands in: the chunks around it, or its subtree, and itself, in reading order.
    """

    row: int
    document: int
    id: Any
    chunk: int
    chunk_id: str
    start: int
    end: int
    text: str
    score: float
    scores: dict[str, Any]
    sentence: tuple[int, int] | None = None
    line: int | None = None
    line_end: int | None = None
    page: int | None = None
    page_end: int | None = None
    path: list[str] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    around: tuple[Passage, ...] = ()
    context: str | None = None

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        facts = {name: getattr(self, name) for name in ("id", "chunk", "start", "end")}
        return one_line("Hit", {"score": round(self.score, 4), **facts}, self.text)

    def _repr_html_(self) -> str:
        return hits_html([self])


@dataclass(frozen=True, repr=False)
class DocumentHits:
    """A document that was found, with its hit, that of its best chunk, whose score is the document's."""

    id: Any
    document: int
    score: float
    hits: tuple[Hit, ...]

    def __repr__(self) -> str:
        shown = f"id={quoted(self.id, 32)}, document={self.document}, score={round(self.score, 4)}"
        return f"DocumentHits({shown}, hits=<{len(self.hits)}>)"

    def _repr_html_(self) -> str:
        return hits_html([self])


class Hits(list[_Each]):
    """A list of hits, of documents with hits, or of one such list a query; a notebook shows it as a table."""

    def _repr_html_(self) -> str:
        return hits_html(self)


def hits_html(hits: Any) -> str:
    """A small table of hits, best first, each with its best sentence marked."""
    return str(by_name("pychunk.chunks.notebook_tables", "hits_html")(hits))


def once(hits: Sequence[Hit], documents: Sequence[int]) -> list[Hit]:
    """Hits without what is around an earlier one already: passages that share a character with it, and hits inside it.

    ``documents``: a number for each hit's, as without ids those of two calls of ``add`` share theirs.

    Example:
        >>> first, second, third = (Passage(i, 10 * i, 10 * i + 9, "text") for i in range(3))
        >>> facts = {"document": 0, "id": "a", "chunk_id": "", "text": "", "score": 1.0, "scores": {}}
        >>> a = Hit(row=0, chunk=0, start=0, end=9, around=(first, second), **facts)
        >>> b = Hit(row=2, chunk=2, start=20, end=29, around=(second, third), **facts)
        >>> [[each.chunk for each in hit.around] for hit in once([a, b], [0, 0])]
        [[0, 1], [2]]
    """
    taken: dict[int, list[tuple[int, int]]] = {}
    kept = []
    for hit, document in zip(hits, documents, strict=True):
        others = taken.setdefault(document, [])
        own = hit.around or (Passage(hit.chunk, hit.start, hit.end, hit.text),)
        new = [each for each in own if all(each.end <= a or b <= each.start for a, b in others)]
        if any(each.chunk == hit.chunk for each in new):
            others += [(each.start, each.end) for each in new]
            kept.append(replace(hit, around=tuple(new)))
    return kept
