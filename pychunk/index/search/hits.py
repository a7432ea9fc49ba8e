"""The results of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ..._util.lazy_imports import by_name
from ..._util.reprs import one_line, quoted

_Each = TypeVar("_Each")


@dataclass(frozen=True, repr=False)
class Passage:
    """A chunk that an expansion returns with a hit: the hit's own chunk or one of the chunks around it.

    ``path``, ``sections``, ``header`` and ``holes`` are as in :class:`Hit`. Passages are compared without them.
    """

    chunk_index: int
    start: int
    end: int
    text: str
    path: list[str] | None = field(default=None, compare=False)
    sections: list[list[str]] | None = field(default=None, compare=False)
    header: str | None = field(default=None, compare=False)
    holes: list[dict[str, int]] | None = field(default=None, compare=False)

    @classmethod
    def of(cls, chunk: Hit | Mapping[str, Any]) -> Passage:
        """Return the passage of a hit's own chunk, or of a row of the chunk table."""
        values = chunk if isinstance(chunk, Mapping) else vars(chunk)
        return cls(**{name: values[name] for name in cls.__dataclass_fields__ if name in values})

    def __repr__(self) -> str:
        return one_line("Passage", {"chunk_index": self.chunk_index, "start": self.start, "end": self.end}, self.text)


@dataclass(frozen=True, repr=False)
class Hit:
    """A chunk that a search returns.

    Attributes:
        row: The row of the chunk in :attr:`pychunk.Index.table`.
        document_index, document_id, chunk_index, chunk_id, start, end, text: The values of these columns of the chunk
            table.
        score: The score by which the hits are ranked.
        scores: The scores that the stages of the search gave the hit, by name. ``dense`` is the cosine of the hit's
            best sentence or proposition, and ``chunk`` that of the chunk's own vector, if the index has such vectors.
            With fusion ``"levels"``, however, ``sentence`` is the cosine of the best sentence, and ``dense`` that of
            the chunk's own vector. ``sparse`` is BM25 as a share of the highest score that the query allows.
            ``rerank`` is the reranker's score. With ``document_weight`` there are also scores of the document, such as
            ``document_dense``. If a stage failed and was skipped, ``rewrite`` or ``rerank`` has the reason in words.
            With a planner, ``plan`` has the chosen levels and the reason for them.
        line, end_line: The lines of the chunk's first and last character in the document, from 1.
        page, page_end: The pages on which the best sentence begins and ends, if the chunks have pages. In a search that
            uses no sentences (``mode="sparse"``), both are the page on which the chunk has most of the query's terms.
            They are the pages of the whole chunk if the index has no terms, or if its chunks were made by a version of
            pychunk that did not store page breaks. None if the chunks have no pages: build the index with
            ``method="page"`` or the column ``page_starts``.
        path: The headings above the chunk, outermost first, if the chunks have a tree.
        sections, header, holes: The values of these columns of the chunk table, if it has them.
        sentence: The span of the best sentence in characters of the document, if dense search used sentences. None if
            a proposition of the chunk is better than all of its sentences.
        proposition: The best proposition of the chunk, if it is better than all sentences of the chunk.
        context: The text that was indexed together with the chunk's text, if any. ``text`` does not contain it.
        text_id: The value of this column of the chunk table; None if an older version of pychunk made the chunks.
        metadata: The values of the other columns of the chunk table.
        around: With an expansion, the chunks around the hit, or the chunks of its subtree or section. They include the
            hit, and are in reading order.
    """

    row: int
    document_index: int
    document_id: Any
    chunk_index: int
    chunk_id: str
    start: int
    end: int
    text: str
    score: float
    scores: dict[str, Any]
    sentence: tuple[int, int] | None = None
    line: int | None = None
    end_line: int | None = None
    page: int | None = None
    page_end: int | None = None
    path: list[str] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    around: tuple[Passage, ...] = ()
    context: str | None = None
    sections: list[list[str]] | None = None
    header: str | None = None
    holes: list[dict[str, int]] | None = None
    proposition: str | None = None
    text_id: str | None = None

    def __str__(self) -> str:
        return self.text

    def render(self, *, path: bool = True, header: bool = True, fences: bool = True) -> str:
        """Return the text with headings, table header and closed code. See :meth:`pychunk.Chunk.render`."""
        return str(by_name("pychunk.chunks.render", "rendered")(self, path=path, header=header, fences=fences))

    def __repr__(self) -> str:
        facts = {name: getattr(self, name) for name in ("document_id", "chunk_index", "start", "end")}
        return one_line("Hit", {"score": round(self.score, 4), **facts}, self.text)

    def _repr_html_(self) -> str:
        return hits_html([self])


@dataclass(frozen=True, repr=False)
class DocumentHits:
    """A document that a search returns, with the hit of its best chunk. The document's score is that of this hit."""

    document_id: Any
    document_index: int
    score: float
    hits: tuple[Hit, ...]

    def __repr__(self) -> str:
        shown = f"document_id={quoted(self.document_id, 32)}, document_index={self.document_index}"
        shown = f"{shown}, score={round(self.score, 4)}"
        return f"DocumentHits({shown}, hits=<{len(self.hits)}>)"

    def _repr_html_(self) -> str:
        return hits_html([self])


class Hits(list[_Each]):
    """A list of hits or of documents, or a list of such lists, one for each query. A notebook shows it as a table."""

    def _repr_html_(self) -> str:
        return hits_html(self)


def hits_html(hits: Any) -> str:
    """Return a small table of hits, best first, each with its best sentence marked."""
    return str(by_name("pychunk.chunks.notebook_tables", "hits_html")(hits))


def once(hits: Sequence[Hit], documents: Sequence[int]) -> list[Hit]:
    """Return hits after removing from each the text that an earlier hit already brought.

    A passage that shares a character with a passage of an earlier hit is removed. A hit whose own chunk is removed in
    this way is removed as a whole. ``documents`` has a number for each hit's document; ``document_index`` cannot be
    used, because documents of two calls of ``add`` may share it.

    Example:
        >>> first, second, third = (Passage(i, 10 * i, 10 * i + 9, "text") for i in range(3))
        >>> facts = {"document_index": 0, "document_id": "a", "chunk_id": "", "text": "", "score": 1.0, "scores": {}}
        >>> a = Hit(row=0, chunk_index=0, start=0, end=9, around=(first, second), **facts)
        >>> b = Hit(row=2, chunk_index=2, start=20, end=29, around=(second, third), **facts)
        >>> [[each.chunk_index for each in hit.around] for hit in once([a, b], [0, 0])]
        [[0, 1], [2]]
    """
    taken: dict[int, list[tuple[int, int]]] = {}
    kept = []
    for hit, document in zip(hits, documents, strict=True):
        others = taken.setdefault(document, [])
        own = hit.around or (Passage.of(hit),)
        new = [each for each in own if all(each.end <= a or b <= each.start for a, b in others)]
        if any(each.chunk_index == hit.chunk_index for each in new):
            others += [(each.start, each.end) for each in new]
            kept.append(replace(hit, around=tuple(new)))
    return kept
