"""The assembly of hits into one text with its sources, for a person or a language model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

import pyarrow as pa

from ...chunks.render import as_read, frame, has_tree, pieces
from .. import argument_checks
from .hit_pages import pages_text
from .hits import DocumentHits, Hit, Passage

ORDERS = ("rank", "document")


@dataclass(frozen=True)
class Part:
    """A span of a document that is in the assembled text. Removed text inside a passage divides it into parts.

    Attributes:
        source: The number in the mark above the part, from 1.
        rank: The rank of the best hit that brought the part, from 0.
        document_id, document_index: The values of that hit.
        start, end: The span in characters of the document.
        page, page_end: The first and last page of the hits that brought the part, or None without pages.
        text_start, text_end: The span of the same characters in the assembled text.
    """

    source: int
    rank: int
    document_id: Any
    document_index: int
    start: int
    end: int
    page: int | None
    page_end: int | None
    text_start: int
    text_end: int


@dataclass(frozen=True)
class Reading:
    """A merged passage as a language model reads it by itself, with headings, table header and closed code.

    Attributes:
        text: The text.
        parts: The parts whose text it has: one, or several if text inside it was removed.
    """

    text: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class AssembledText:
    """The result of :func:`assemble`. ``str()`` returns its text.

    Attributes:
        text: The text.
        parts: The parts of documents in it.
        readings: The same parts, each as a language model reads it by itself.
    """

    text: str
    parts: tuple[Part, ...]
    readings: tuple[Reading, ...] = ()

    def __str__(self) -> str:
        return self.text

    @property
    def words(self) -> int:
        """The number of words of the text, including marks. Words are separated by white space."""
        return len(self.text.split())

    @cached_property
    def table(self) -> pa.Table:
        """The parts as a table, with ids as text."""
        rows = [
            {**vars(part), "document_id": None if part.document_id is None else str(part.document_id)}
            for part in self.parts
        ]
        whole = {name: pa.int64() for name in Part.__dataclass_fields__}
        return pa.Table.from_pylist(rows, pa.schema({**whole, "document_id": pa.large_string()}))


@dataclass(frozen=True)
class _Run:
    """A span of a document that one or several hits brought, with the best of these hits.

    ``path``, ``sections`` and ``header`` are those of its first chunk, and ``holes`` those of all its chunks.
    """

    hit: Hit
    rank: int
    chunk: int  # The number of the last chunk in the span.
    start: int
    end: int
    text: str
    pages: tuple[int, ...]
    path: list[str] | None
    sections: list[list[str]] | None
    header: str | None
    holes: list[dict[str, int]] | None

    @property
    def pieces(self) -> list[tuple[str, int, int]]:
        """The pieces of the text between its holes. See :func:`pychunk.chunks.render.pieces`."""
        return pieces(self) if has_tree(self) else [("", 0, len(self.text))]

    @property
    def key(self) -> tuple[str, str]:
        return type(self.hit.document_id).__name__, str(
            self.hit.document_index if self.hit.document_id is None else self.hit.document_id
        )


def assemble(
    hits: Iterable[Hit | DocumentHits], words: int | None = None, order: str = "rank", marks: bool = True
) -> AssembledText:
    r"""Return one text with the hits of one query, in which each source has a mark, and no text is repeated.

    Overlapping passages of one document are merged. Chunks that follow each other form one source, under one mark. Hits
    are added with the passages around them (``expansion=``) as long as the whole text, including marks, has at most
    ``words`` words. If a hit does not fit, it is tried without the passages around it. If it still does not fit, it is
    skipped, and the next hits are tried.

    If documents have a tree of headings, each source is written as :meth:`pychunk.Hit.render` writes a hit: below the
    headings above it, with the header of a table that it continues, closed code, and no removed text.

    Args:
        hits: The hits, best first, as ``search`` returns them for one query.
        words: The most words of the text. None: no limit.
        order: ``"rank"``: sources are ordered by their best hit. ``"document"``: documents are ordered by their best
            hit, and the sources of each document are in reading order.
        marks: Whether a line such as ``[2: leaflet.pdf, page 7]`` is put before each source. It has the number of the
            source, the document's id and, if there are pages, the pages of the hits.

    Raises:
        ValueError: The order is unknown, or ``words`` is below 1.
        TypeError: ``hits`` has an item that is no hit, such as a list of hits for each of several queries.

    Example:
        >>> hit = Hit(0, 0, "cats.pdf", 0, "", 0, 10, "Cats purr.", 1.0, {}, page=3, page_end=3)
        >>> assemble([hit]).text
        '[1: cats.pdf, page 3]\nCats purr.'
    """
    if order not in ORDERS:
        raise ValueError(f"order must be {' or '.join(map(repr, ORDERS))}; got {order!r:.80}")
    if words is not None:
        argument_checks.whole("words", words, 1)
    kept: list[_Run] = []
    for rank, hit in enumerate(_flat(hits)):
        own = Passage.of(hit)
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
            raise TypeError(
                "assemble() takes the hits of one query, each a Hit or DocumentHits; got an item of type "
                f"{type(hit).__name__}: pass search(...)[0], not search(...)"
            )
        found += hit.hits if isinstance(hit, DocumentHits) else [hit]
    return found


def _run(hit: Hit, rank: int, passage: Passage) -> _Run:
    pages = () if hit.page is None else (hit.page, hit.page if hit.page_end is None else hit.page_end)
    known = [passage.path, passage.sections, passage.header, passage.holes] if has_tree(passage) else [None] * 4
    if len(passage.text) != passage.end - passage.start:
        known[3] = None  # The positions of holes in the text are unknown.
    return _Run(hit, rank, passage.chunk_index, passage.start, passage.end, passage.text, pages, *known)


def _merged(runs: Sequence[_Run]) -> list[_Run]:
    """Return the runs of each document in reading order, with runs that touch or overlap joined."""
    found: list[_Run] = []
    for run in sorted(runs, key=lambda run: (run.key, run.start, run.end, run.rank)):
        joined = _joined(found[-1], run) if found else None
        if joined is None:
            found.append(run)
        else:
            found[-1] = joined
    return found


def _joined(before: _Run, after: _Run) -> _Run | None:
    """Join two runs that touch or overlap. Return None if they do not, or if a text and its span differ."""
    shared = before.end - after.start
    if before.key != after.key or shared < 0 or any(len(run.text) != run.end - run.start for run in (before, after)):
        return None
    if not before.text[after.start - before.start :].startswith(after.text[:shared]):
        return None  # In an index without ids, two documents may have one number. Their texts then differ.
    best = min(before, after, key=lambda run: run.rank)
    return replace(
        before,
        hit=best.hit,
        rank=best.rank,
        chunk=max(before.chunk, after.chunk),
        end=max(before.end, after.end),
        text=before.text + after.text[shared:],
        pages=tuple(sorted({*before.pages, *after.pages})),
        holes=_joined_holes(before.holes, after.holes),
    )


def _joined_holes(
    before: list[dict[str, int]] | None, after: list[dict[str, int]] | None
) -> list[dict[str, int]] | None:
    """Return the holes of two runs in their order, each once. A hole inside another one adds nothing."""
    if not before or not after:
        return before or after
    found: list[dict[str, int]] = []
    for hole in sorted([*before, *after], key=lambda hole: (hole["start"], -hole["end"])):
        if not found or hole["end"] > found[-1]["end"]:
            found.append(hole)
    return found


def _laid_out(runs: Sequence[_Run], order: str, marks: bool) -> AssembledText:
    """Return the text of runs that are merged and in reading order. Runs that follow each other share a mark."""
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
    text, parts, readings = "", list[Part](), list[Reading]()
    for number, source in enumerate(sources, 1):
        pages = sorted({page for run in source for page in run.pages})
        text += "\n\n" if text else ""
        text += _mark(number, source[0].hit, pages) + "\n" if marks else ""
        body = "\n".join(_body(run) for run in source)
        opening, closing = frame(source[0], body) if any(map(has_tree, source)) else ("", "")
        text += opening
        for place, run in enumerate(source):
            text += "\n" if place else ""
            page, page_end = (run.pages[0], run.pages[-1]) if run.pages else (None, None)
            own = []
            for joint, begin, end in run.pieces:
                text += joint
                span = len(text), len(text) + end - begin
                facts = run.hit.document_id, run.hit.document_index
                own.append(Part(number, run.rank, *facts, run.start + begin, _end(run, end), page, page_end, *span))
                text += run.text[begin:end]
            parts += own
            if own:  # Nothing is left of a run if all of its text was removed.
                readings.append(Reading(as_read(run), tuple(own)))
        text += closing
    return AssembledText(text, tuple(parts), tuple(readings))


def _body(run: _Run) -> str:
    """Return the text of a run without its holes."""
    return "".join(joint + run.text[begin:end] for joint, begin, end in run.pieces)


def _end(run: _Run, end: int) -> int:
    """Return the position in the document of a position in the text of a run."""
    return run.end if end == len(run.text) else run.start + end


def _follows(before: _Run, after: _Run) -> bool:
    """Return whether only white space, which is trimmed from chunks, is between two runs in the document."""
    return after.start >= before.end and after.chunk - before.chunk <= 1


def _mark(number: int, hit: Hit, pages: Sequence[int]) -> str:
    name = " ".join(str(hit.document_index if hit.document_id is None else hit.document_id).split())
    return f"[{number}: {name}{', ' + pages_text(pages[0], pages[-1]) if pages else ''}]"
