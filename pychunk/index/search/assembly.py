"""Hits as one text for a reader, a person or a language model, with its sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

import pyarrow as pa

from .. import argument_checks
from .hit_pages import pages_text
from .hits import DocumentHits, Hit, Passage

ORDERS = ("rank", "document")


@dataclass(frozen=True)
class Part:
    """A run of characters of one document, and where they stand in the assembled text.

    Attributes:
        source: number of the mark that it stands under, from 1. rank: of the best hit that brought it, from 0.
        id, document: as in the hit. start, end: characters of the document.
        page, page_end: of the hits' best sentences; None without pages.
        text_start, text_end: characters of the assembled text, which are those of the document.
    """

    source: int
    rank: int
    id: Any
    document: int
    start: int
    end: int
    page: int | None
    page_end: int | None
    text_start: int
    text_end: int


@dataclass(frozen=True)
class AssembledText:
    """What :func:`assemble` returns; ``str`` of it is the text."""

    text: str
    parts: tuple[Part, ...]

    def __str__(self) -> str:
        return self.text

    @property
    def words(self) -> int:
        """Words of the text, marks among them, as white space separates them."""
        return len(self.text.split())

    @cached_property
    def table(self) -> pa.Table:
        """The parts as a table, ids as text."""
        rows = [{**vars(part), "id": None if part.id is None else str(part.id)} for part in self.parts]
        whole = {name: pa.int64() for name in Part.__dataclass_fields__}
        return pa.Table.from_pylist(rows, pa.schema({**whole, "id": pa.large_string()}))


@dataclass(frozen=True)
class _Run:
    """Characters of a document that hits brought, and the hits."""

    hit: Hit
    rank: int
    chunk: int  # the last one in it
    start: int
    end: int
    text: str
    pages: tuple[int, ...]

    @property
    def key(self) -> tuple[str, str]:
        return type(self.hit.id).__name__, str(self.hit.document if self.hit.id is None else self.hit.id)


def assemble(
    hits: Iterable[Hit | DocumentHits], words: int | None = None, order: str = "rank", marks: bool = True
) -> AssembledText:
    """The text of the hits of one query, each character of a document once, under marks that name its source.

    Passages of one document that overlap are merged; chunks that follow each other stand under one mark. Hits come in
    with what is around them (``expand=``) as long as the whole, marks counted, has at most ``words`` words: one that
    does not fit is tried without what is around it, then passed over, and the next ones are tried.

    Args:
        hits: best first, as ``search`` returns them for one query.
        words: at most so many; None: no limit.
        order: ``"rank"``: sources by their best hit; ``"document"``: documents by their best hit, each in reading
            order.
        marks: ``[2: leaflet.pdf, page 7]`` in a line before each source: its number, the document's id, and the pages
            of the best sentences, where there are pages.

    Raises:
        ValueError: another order; ``words`` below 1. TypeError: hits of several queries.

    Example:
        >>> hit = Hit(0, 0, "cats.pdf", 0, "", 0, 10, "Cats purr.", 1.0, {}, page=3, page_end=3)
        >>> assemble([hit]).text
        '[1: cats.pdf, page 3]\\nCats purr.'
    """
    if order not in ORDERS:
        raise ValueError(f"order must be {' or '.join(map(repr, ORDERS))}; got {order!r}")
    if words is not None:
        argument_checks.whole("words", words, 1)
    kept: list[_Run] = []
    for rank, hit in enumerate(_flat(hits)):
        own = Passage(hit.chunk, hit.start, hit.end, hit.text)
        for passages in dict.fromkeys([hit.around or (own,), (own,)]):
            wanted = _merged([*kept, *(_run(hit, rank, passage) for passage in passages)])
            if words is None or _laid_out(wanted, order, marks).words <= words:
                kept = wanted
                break
    return _laid_out(kept, order, marks)


def _flat(hits: Iterable[Any]) -> list[Hit]:
    found: list[Hit] = []
    for hit in hits:
        if not isinstance(hit, (Hit, DocumentHits)):
            raise TypeError(f"assemble() takes the hits of one query, search(...)[0]; got {type(hit).__name__} in it")
        found += hit.hits if isinstance(hit, DocumentHits) else [hit]
    return found


def _run(hit: Hit, rank: int, passage: Passage) -> _Run:
    pages = () if hit.page is None else (hit.page, hit.page if hit.page_end is None else hit.page_end)
    return _Run(hit, rank, passage.chunk, passage.start, passage.end, passage.text, pages)


def _merged(runs: Sequence[_Run]) -> list[_Run]:
    """Runs of each document in reading order, those joined that share characters."""
    found: list[_Run] = []
    for run in sorted(runs, key=lambda run: (run.key, run.start, run.end, run.rank)):
        joined = _joined(found[-1], run) if found else None
        if joined is None:
            found.append(run)
        else:
            found[-1] = joined
    return found


def _joined(before: _Run, after: _Run) -> _Run | None:
    """One run of two that share characters; None of others, and of texts that are not those of their spans."""
    shared = before.end - after.start
    if before.key != after.key or shared < 0 or any(len(run.text) != run.end - run.start for run in (before, after)):
        return None
    if not before.text[after.start - before.start :].startswith(after.text[:shared]):
        return None  # documents of one number that are not the same, in an index without ids
    best = min(before, after, key=lambda run: run.rank)
    return replace(
        best,
        chunk=max(before.chunk, after.chunk),
        start=before.start,
        end=max(before.end, after.end),
        text=before.text + after.text[shared:],
        pages=tuple(sorted({*before.pages, *after.pages})),
    )


def _laid_out(runs: Sequence[_Run], order: str, marks: bool) -> AssembledText:
    """Runs, merged and in reading order, as a text: those that follow each other under one mark."""
    sources: list[list[_Run]] = []
    for run in runs:
        follows = bool(sources) and sources[-1][-1].key == run.key and _follows(sources[-1][-1], run)
        sources[-1].append(run) if follows else sources.append([run])
    best = {id(source): min(run.rank for run in source) for source in sources}
    if order == "rank":
        sources.sort(key=lambda source: best[id(source)])
    else:
        documents = [list(group) for _, group in groupby(sources, key=lambda source: source[0].key)]
        documents.sort(key=lambda group: min(best[id(source)] for source in group))
        sources = [source for group in documents for source in group]
    text, parts = "", []
    for number, source in enumerate(sources, 1):
        pages = sorted({page for run in source for page in run.pages})
        text += "\n\n" if text else ""
        text += _mark(number, source[0].hit, pages) + "\n" if marks else ""
        for place, run in enumerate(source):
            text += "\n" if place else ""
            page, page_end = (run.pages[0], run.pages[-1]) if run.pages else (None, None)
            span = len(text), len(text) + len(run.text)
            facts = run.hit.id, run.hit.document, run.start, run.end
            parts.append(Part(number, run.rank, *facts, page, page_end, *span))
            text += run.text
    return AssembledText(text, tuple(parts))


def _follows(before: _Run, after: _Run) -> bool:
    """Whether nothing of the document is between two runs but the white space that chunks are trimmed of."""
    return after.start >= before.end and after.chunk - before.chunk <= 1


def _mark(number: int, hit: Hit, pages: Sequence[int]) -> str:
    name = " ".join(str(hit.document if hit.id is None else hit.id).split())
    return f"[{number}: {name}{', ' + pages_text(pages[0], pages[-1]) if pages else ''}]"
