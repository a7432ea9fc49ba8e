"""The construction of hits: the rows and scores that a search found, with their values in the chunk table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..._engine.data.columns import COLUMNS
from ...chunks.text_ids import PATTERN
from ..scoring import fusion
from ..scoring.fusion import I64
from ..store import context_column, proposition_column
from . import hit_pages
from .hits import Hit

if TYPE_CHECKING:
    from ..scoring.ranking import Found
    from .searcher import Searcher

#: The columns that are fields of a hit. An older index may lack some of them.
_SHOWN = tuple(column.name for column in COLUMNS if column.in_hits)

#: The types of columns that an older index may have as columns of the user, of other types. A list's are its items'.
_TYPES = {"sections": pa.types.is_large_list, "holes": pa.types.is_struct, "text_id": pa.types.is_large_string}


def _is_shown(schema: pa.Schema, name: str) -> bool:
    """Return whether a column of chunks is a field of a hit, and not a column of the user with the same name."""
    if name not in _TYPES:
        return True
    at = schema.get_field_index(name)
    kind = schema.field(at).type if at >= 0 else pa.null()
    if name == "text_id":
        return bool(_TYPES[name](kind))
    return bool(pa.types.is_large_list(kind) and _TYPES[name](kind.value_type))


def hits(searcher: Searcher, found: Sequence[Found], queries: Sequence[str] = ()) -> list[list[Hit]]:
    """Return the hits of each query.

    Args:
        searcher: The searcher that found the rows.
        found: The result of :meth:`Searcher.rank`.
        queries: The texts of the queries. If a hit extends over several pages and no best sentence is known, the
            query's terms determine its page.
    """
    if not any(len(ranked.chunks) for ranked, *_ in found):
        return [[] for _ in found]
    values = iter(searcher.chunks.values(np.concatenate([ranked.chunks for ranked, *_ in found])))
    fields = [name for name in _SHOWN if _is_shown(searcher.schema, name)]
    fields += [context_column.CONTEXT] * searcher.has_context
    lists = []
    for number, (ranked, names, sentences) in enumerate(found):
        query = queries[number] if queries else ""
        spans = [None] * len(ranked.chunks) if sentences is None else _spans_of(searcher, sentences)
        parts = [part.tolist() for part in ranked.parts]
        each = zip(ranked.chunks.tolist(), ranked.scores.tolist(), spans, *parts, strict=True)
        own_hits = []
        for row, score, span, *scores in each:
            own = next(values)
            breaks = own.pop("page_breaks", None)
            propositions = own.pop(proposition_column.PROPOSITIONS, None) if searcher.has_propositions else None
            proposition = None
            if span is not None and span[0] == proposition_column.NO_SPAN:
                proposition, span = proposition_column.text_of(propositions, span), None
            shown = {name: own.pop(name) for name in fields if name in own}
            if (text_id := shown.get("text_id")) is not None and not re.match(PATTERN, text_id):
                own["text_id"] = shown.pop("text_id")  # A column of the user in an index of an older version.
            if breaks:
                shown.update(_pages(searcher, shown, breaks, span, query))
            own_hits.append(
                Hit(
                    row=row,
                    document_id=shown.pop("document_id", None),
                    score=score,
                    scores=dict(zip(names, scores, strict=True)),
                    sentence=span,
                    proposition=proposition,
                    metadata=own,
                    **shown,
                )
            )
        lists.append(own_hits)
    return lists


def _spans_of(searcher: Searcher, sentences: I64) -> list[tuple[int, int] | None]:
    """Return the span of each sentence, given by row, in characters of its document; None for row -1.

    The span of a proposition is its row in the stored spans. See :mod:`.proposition_column`.
    """
    searcher.check_spans()
    found = np.zeros((len(sentences), 2), np.int64)
    part = np.searchsorted(searcher.span_first, sentences, side="right") - 1
    for each in fusion.distinct(part[sentences >= 0]).tolist():
        own = part == each
        found[own] = searcher.spans[each][sentences[own] - searcher.span_first[each]]
    pairs = zip(found.tolist(), sentences.tolist(), strict=True)
    return [(start, end) if row >= 0 else None for (start, end), row in pairs]


def _pages(
    searcher: Searcher, chunk: Mapping[str, Any], breaks: Sequence[int], span: tuple[int, int] | None, query: str
) -> dict[str, int]:
    """Return ``page`` and ``page_end`` of a hit on several pages, from its best sentence or the query's terms.

    The result is empty if neither is known.
    """
    if span is not None:
        return dict(zip(("page", "page_end"), hit_pages.pages_of(chunk["page"], breaks, *span), strict=True))
    analyzer = searcher.layout.analyzer
    if not query or searcher.bm25 is None or analyzer is None:
        return {}
    weights = searcher.bm25.idf(analyzer.terms(query))
    page = hit_pages.by_terms(chunk["page"], breaks, chunk["start"], chunk["text"], weights, analyzer)
    return {"page": page, "page_end": page}
