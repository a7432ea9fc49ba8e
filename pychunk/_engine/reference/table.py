"""The chunk table of a request, computed row by row."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.columns import CUT_REASONS
from ..data.request import Request
from . import vectors as linear
from .document import Document, trim
from .hashing import chunk_id, text_id
from .search import thresholds
from .segmentation import Cut
from .structure import Section, outline_of, outline_rows
from .summaries import summaries
from .vectors import F32


def _kind(document: Document, labels: Sequence[int], parts: list[Part], own: int, counted: bool) -> int:
    """Return the label of a chunk: 1 relevant, 0 irrelevant, -1 neither.

    If its sentences have different labels, the label whose sentences have more tokens counts, or more bytes if tokens
    are not counted. If both have the same length, the chunk is relevant.
    """
    if not len(labels):
        return -1
    held = [
        (labels[part.sentence], part.tokens if counted else len(document.text[part.begin : part.end].encode()))
        for part in parts
        if part.sentence >= own
    ]
    if len({label for label, _ in held}) == 1:
        return int(held[0][0])
    return int(sum({1: weight, 0: -weight, -1: 0}[label] for label, weight in held) >= 0)


def _counts_tokens(request: Request) -> bool:
    plan = request.plan
    encodes = plan.needs_vectors and (request.table is not None or request.features.vectors is None)
    return plan.needs_tokens or encodes


def _reason(cut: Cut, end: int, last: int) -> int:
    """Return the reason why a chunk ends at character ``end``. ``last`` is the sentence after its last one."""
    document, traits = cut.document, cut.plan.traits
    text = cut.plan.cuts_text and document.request.cuts is None
    if not document.text[end:].strip():
        return CUT_REASONS.index("end")
    if text:
        before_removed = last < document.n and document.removed[last]
        return CUT_REASONS.index("removed" if before_removed else traits.reason)
    whole = last < document.n and trim(document.text, end, document.starts[last])[0] == document.starts[last]
    if whole and last in cut.begins:
        return cut.begins[last]
    return CUT_REASONS.index("size" if traits.sized and not whole else "budget")


@dataclass(frozen=True)
class Part:
    """The part of a chunk that lies in one sentence: characters [begin, end), and the number of tokens, if counted."""

    sentence: int
    begin: int
    end: int
    whole: bool
    tokens: int


def segment(request: Request) -> dict[str, Any]:
    """Return the columns of a batch's chunk table by name; see :func:`pychunk._engine.native.segment`."""
    rows: list[dict[str, Any]] = []
    sections_of: list[list[Section]] = []
    for row in range(request.documents):
        document = Document(request, row)
        cut = Cut(document)
        own: list[dict[str, Any]] = []
        sentences: list[tuple[int, int]] = []
        previous = 0
        for span in cut.spans:
            begin, end = trim(document.text, *span[:2])
            if begin < end:
                own.append(_row(document, cut, (begin, end, *span[2:]), len(own), previous))
                sentences.append((_own_first(document, begin, end, span, previous), span[3]))
                previous = end
        if _has_outline(request):
            by_method = request.plan.traits.outline and request.cuts is None
            outline = cut.decision.outline if by_method else outline_of(document)
            outline_rows(document, outline, own, sentences)
            sections_of.append(outline.sections)
        rows += own
    return _columns(request, rows) | _outline_columns(request, rows, sections_of)


def _own_first(document: Document, begin: int, end: int, span: tuple[int, int, int, int, int], previous: int) -> int:
    """Return the first sentence of which a chunk has text that the previous chunk does not have."""
    if previous <= begin:
        return span[4]
    at, stop = trim(document.text, min(previous, end), end)
    return max(span[4], bisect_right(document.starts, at) - 1) if at < stop else span[3] - 1


def _has_outline(request: Request) -> bool:
    return request.plan.traits.outline or request.features.blocks is not None


def _outline_columns(request: Request, rows: list[dict[str, Any]], sections_of: list[list[Section]]) -> dict[str, Any]:
    if not _has_outline(request):
        return {}
    out: dict[str, Any] = {
        name: np.array([row[name] for row in rows], np.int64)
        for name in ("parent", "depth", "subtree", "part", "parts")
    }
    headings = [section.heading.encode() for own in sections_of for section in own]
    before = np.cumsum([0, *map(len, sections_of)])
    parents = [
        s.parent if s.parent < 0 else base + s.parent
        for own, base in zip(sections_of, before[:-1], strict=True)
        for s in own
    ]
    headers = [row["header"].encode() for row in rows]

    def numbers(name: str) -> list[int]:
        bases = [(before[row["document_index"] - request.first_row], row[name]) for row in rows]
        return [-1 if i < 0 else base + i for base, own in bases for i in own]

    def offsets(values: Iterable[Sized]) -> npt.NDArray[np.int64]:
        return np.cumsum([0, *map(len, values)]).astype(np.int64)

    return {
        **out,
        "heading_text": np.frombuffer(b"".join(headings), np.uint8),
        "heading_offsets": offsets(headings),
        "heading_parents": np.array(parents, np.int64),
        "path": np.array(numbers("path"), np.int64),
        "path_offsets": offsets(row["path"] for row in rows),
        "sections": np.array(numbers("sections"), np.int64),
        "section_offsets": offsets(row["sections"] for row in rows),
        "header": np.frombuffer(b"".join(headers), np.uint8),
        "header_offsets": offsets(headers),
    }


def _row(
    document: Document, cut: Cut, span: tuple[int, int, int, int, int], position: int, previous: int
) -> dict[str, Any]:
    """Return the row of one chunk, whose ``span`` is (begin, end, first, last, own).

    It has the characters [begin, end) and the sentences [first, last), of which those before ``own`` are repeated from
    the chunk before.
    """
    begin, end, first, last, own = span
    request, plan, text = document.request, document.plan, document.text[span[0] : span[1]]
    name = document.data if request.ids is None else bytes(request.ids.part(document.row))
    counted = _counts_tokens(request)
    parts = [_part(document, s, begin, end, counted) for s in range(first, last)]
    pairs = plan.traits.scores == "pairs" if request.cuts is None else request.cuts.pairs
    scores = np.array(cut.decision.scores[own : last - pairs], np.float32)
    row = {
        "document_index": request.first_row + document.row,
        "chunk_index": position,
        "start": begin,
        "end": end,
        "start_byte": len(document.text[:begin].encode()),
        "end_byte": len(document.text[:end].encode()),
        "overlap": max(0, min(previous, end) - begin),
        "relevance": _kind(document, cut.decision.labels, parts, own, counted),
        "score": thresholds.mean(scores) if len(scores) else np.nan,
        "tokens": document.count(text) if counted else 0,
        "end_reason": _reason(cut, end, last),
        "line": document.text.count("\n", 0, begin) + 1,
        "end_line": document.text.count("\n", 0, end) + 1,
        "page": document.page_at(begin),
        "page_end": document.page_at(end - 1),
        "text": text.encode(),
        "chunk_id": chunk_id(name, begin, end, text),
    }
    if plan.chunk_vectors or plan.sentence_vectors:
        solid = [part for part in parts if part.begin < part.end]
        row["sentences"] = solid
        row["sentence_vectors"] = [_vector(document, part) for part in solid]
        weights = [part.tokens for part in solid] if any(part.tokens for part in solid) else [1] * len(solid)
        row["weights"] = [np.float32(weight) for weight in weights]
    return row


def _part(document: Document, sentence: int, begin: int, end: int, counted: bool) -> Part:
    start, stop = document.starts[sentence], document.ends[sentence]
    at = trim(document.text, max(begin, start), min(end, stop))
    whole = at == trim(document.text, start, stop)
    tokens = (document.tokens[sentence] if whole else document.count(document.text[slice(*at)])) if counted else 0
    return Part(sentence, *at, whole, tokens)


def _vector(document: Document, part: Part) -> F32:
    """Return the vector of a part of a chunk.

    If the part is a piece of a sentence, pychunk encodes the piece. If it cannot, because the caller passed the
    vectors, the piece has the vector of the whole sentence.
    """
    given = document.request.table is None or document.features.table_vectors is not None
    if not (part.whole or given):
        return document.vector(document.text[part.begin : part.end])
    own: F32 = document.table_vectors[part.sentence]
    return own


def _text_ids(request: Request, rows: list[dict[str, Any]]) -> Iterator[str]:
    equal = Counter[tuple[int, bytes]]()
    for row in rows:
        document, text = row["document_index"], row["text"]
        name = None if request.ids is None else bytes(request.ids.part(document - request.first_row))
        yield text_id(name, text.decode(), equal[document, text])
        equal[document, text] += 1


def _columns(request: Request, rows: list[dict[str, Any]]) -> dict[str, Any]:
    plan = request.plan

    def column(name: str, kind: type) -> Any:
        return np.array([row[name] for row in rows], kind)

    whole = ["document_index", "chunk_index", "start", "end", "start_byte", "end_byte", "line", "end_line", "overlap"]
    whole += ["tokens"] * _counts_tokens(request)
    whole += ["page", "page_end"] * (plan.traits.pages or request.features.page_starts is not None)
    out: dict[str, Any] = {name: column(name, np.int64) for name in whole}
    out["relevance"], out["score"], out["end_reason"] = (
        column(name, kind) for name, kind in (("relevance", np.int8), ("score", np.float32), ("end_reason", np.int8))
    )
    out["text"] = np.frombuffer(b"".join(row["text"] for row in rows), np.uint8)
    out["text_offsets"] = np.cumsum([0, *(len(row["text"]) for row in rows)]).astype(np.int64)
    out["chunk_id"] = np.frombuffer("".join(row["chunk_id"] for row in rows).encode(), np.uint8)
    out["text_id"] = np.frombuffer("".join(_text_ids(request, rows)).encode(), np.uint8)
    dim = _dim(request)
    if plan.chunk_vectors:
        scaled = [[w * v for w, v in zip(row["weights"], row["sentence_vectors"], strict=True)] for row in rows]
        vectors = [linear.normalize(linear.total(np.stack(each))) for each in scaled]
        out["vector"] = np.array(vectors, np.float32).reshape(-1, dim)
    if plan.sentence_vectors:
        parts = [part for row in rows for part in row["sentences"]]
        out["sentence_offsets"] = np.cumsum([0, *(len(row["sentences"]) for row in rows)]).astype(np.int64)
        out["sentence_start"] = np.array([part.begin for part in parts], np.int64)
        out["sentence_end"] = np.array([part.end for part in parts], np.int64)
        found = [vector for row in rows for vector in row["sentence_vectors"]]
        out["sentence_vectors"] = np.array(found, np.float32).reshape(-1, dim)
    if plan.summaries_out:
        seen = request.table if request.features.vectors is None else request.features.vectors.values
        out |= summaries(request, 0 if seen is None else int(seen.shape[1]))
    out["tokens_met"] = out["fallback_tokens"] = 0
    return out


def _dim(request: Request) -> int:
    """Return the width of the vectors in the table."""
    features = request.features
    shown = features.vectors if features.table_vectors is None else features.table_vectors
    if shown is not None:
        return int(shown.values.shape[1])
    return 0 if request.table is None else int(request.table.shape[1])
