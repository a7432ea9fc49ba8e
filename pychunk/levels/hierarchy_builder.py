"""Requests of a Segmenter to a hierarchy: sentences, the borders of each level, vectors."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .._engine.data.plan import Plan
from .._engine.data.ragged import offsets_of
from .._engine.data.request import Request
from .._engine.engine import Engine
from ..features.model_features import Models
from ..features.sentence_features import with_sentences
from ..inputs import TextBatch
from ..methods.structure import Structure
from .compressor import Compressor, compressor_for
from .hierarchy import Hierarchy
from .level_boundaries import joined, nested
from .level_names import Level, check_levels

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt
    from typing_extensions import Unpack

    from ..inputs.document_columns import DocumentColumns
    from ..inputs.inputs import Inputs
    from ..segmenter import Segmenter

    I64 = npt.NDArray[np.int64]
    F32 = npt.NDArray[np.float32]


@dataclass(frozen=True)
class HierarchyPart:
    """What one request gives: sentences of each document, and by level first sentences and stored vectors."""

    counts: I64
    sentence_bytes: I64
    firsts: list[I64]
    tokens: I64 | None
    vectors: list[F32] | None


def segment_levels(
    segmenter: Segmenter,
    batch: Any,
    levels: Sequence[str | int],
    *,
    pooling: str | Path = "tokens",
    column: str | None = None,
    ids: Any = None,
    first_document: int = 0,
    **said: Unpack[DocumentColumns],
) -> Hierarchy:
    """Return documents at several levels, as :func:`pychunk.segment` with ``levels`` does.

    Args:
        segmenter: makes the chunks of level ``"group"`` and the vectors of sentences.
        batch, levels, pooling, column, ids, **said: as for :func:`pychunk.segment`.
        first_document: the number of the first document.

    Raises:
        ValueError: levels that are unknown, out of order or not nested; ``removed=``; ``overlap`` with level
            ``group``, whose nodes are the method's chunks; an unknown pooling, or a compressor that was made for other
            vectors.

    Example:
        >>> from pychunk import Segmenter
        >>> found = segment_levels(Segmenter("fixed", size=4, unit="words"), "One two. Three four. Five.", ["group"])
        >>> found.texts_of("group")
        ['One two. Three four.', 'Five.']
    """
    arguments = {"column": column, "ids": ids, "first_document": first_document}
    return inputs_and_levels(segmenter, batch, check_levels(levels), pooling, said, **arguments)[1]


def inputs_and_levels(
    segmenter: Segmenter,
    batch: Any,
    levels: tuple[Level, ...],
    pooling: str | Path,
    said: Mapping[str, Any],
    **arguments: Any,
) -> tuple[Inputs, Hierarchy]:
    """Return what :func:`segment_levels` returns, and the documents as they were read; arguments as `Segmenter.read`.

    Raises:
        ValueError: as :func:`segment_levels`.
    """
    if segmenter.ways:
        raise ValueError(
            "levels= goes without augment= and method 'proposition': the text beside chunks is not made for levels"
        )
    segmenter, inputs = segmenter.read(batch, said, **arguments)
    facts = segmenter.metadata(inputs)
    compressor = None if pooling == "tokens" else compressor_for(pooling, facts.get("vector_encoder"))
    found = hierarchy_of(
        levels,
        [request for request, _ in segmenter.requests(inputs)] or [segmenter.no_request(inputs)],
        inputs.texts,
        engine=segmenter.engine,
        models=segmenter.models,
        first_document=inputs.first_document,
        metadata=facts,
        compressor=compressor,
    )
    return inputs, found


def hierarchy_of(
    levels: tuple[Level, ...],
    requests: Iterable[Request],
    texts: TextBatch,
    *,
    engine: Engine,
    models: Models,
    first_document: int,
    metadata: dict[str, Any],
    compressor: Compressor | None = None,
) -> Hierarchy:
    """The levels of all documents; ``requests`` are those of the batch, in order.

    Args:
        compressor: what makes vectors of nodes from their sentences', made for their encoder; None: means by tokens.

    Raises:
        ValueError: what the levels cannot hold: chunks that overlap, text that is left out.
    """
    if compressor is not None:
        metadata = {**metadata, "pooling": compressor.fingerprint}
    parts = [part_of(levels, request, engine, models, compressor) for request in requests]
    tokens = [part.tokens for part in parts if part.tokens is not None]
    made = [part.vectors for part in parts if part.vectors is not None]
    return Hierarchy(
        levels,
        offsets_of(_all([part.counts for part in parts], np.int64)),
        _all([part.sentence_bytes for part in parts], np.int64),
        tuple(joined([part.firsts[place] for part in parts]) for place in range(len(levels))),
        texts.texts[0] if len(texts.texts) == 1 else pa.concat_arrays(texts.texts or [pa.array([], pa.large_string())]),
        _all(tokens, np.int64) if tokens else None,
        tuple(_all([each[place] for each in made], np.float32) for place in range(len(levels))) if made else None,
        texts.ids,
        first_document,
        metadata,
    )


def _all(arrays: Sequence[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    if len(arrays) == 1:
        return arrays[0]
    return np.concatenate(arrays) if arrays else np.empty(0, kind)


#: Why spans are left out that have no words (:mod:`pychunk.parsing.badges`): they may stay.
_WORDLESS = frozenset(("badge", "markup"))


def part_of(
    levels: tuple[Level, ...], request: Request, engine: Engine, models: Models, compressor: Compressor | None = None
) -> HierarchyPart:
    """The levels of the documents of one request.

    Raises:
        ValueError: spans are left out, or chunks overlap: levels tile documents.
    """
    plan = request.plan
    removed = request.features.removed
    if removed is not None and _WORDLESS.issuperset(removed.reason):
        request = request.with_(removed=None)  # badges and tags of Markdown say nothing
    elif removed is not None:
        raise ValueError(
            "levels= tile documents: they take no removed=; cut what is left out from the text before, or read pages "
            "of HTML whole: noise='off' (--noise off)"
        )
    if plan.overlap and "group" in levels:
        raise ValueError(f"level 'group' takes no overlap: levels tile documents; got overlap={plan.overlap}")
    wants_vectors = plan.chunk_vectors or plan.sentence_vectors
    done = with_sentences(request, engine)
    if wants_vectors:
        done = models.with_table_vectors(done, engine)
    if wants_vectors or any(isinstance(level, int) for level in levels):
        done = models.with_token_counts(done)
    features = done.features
    doc_offsets = features.doc_offsets
    tokens = None if features.token_counts is None else features.token_counts.flat()

    def windows(sizes: list[int]) -> list[I64]:
        assert tokens is not None
        return engine.token_windows(tokens, doc_offsets, sizes)

    def chunks() -> dict[str, I64]:
        bare = done.with_(plan=plan.with_(chunk_vectors=False, sentence_vectors=False, summaries_out=False))
        return engine.segment(models.complete(models.prepare(bare, engine), engine))

    firsts = nested(
        levels,
        features,
        headings=lambda: engine.headings(done.only_sentences().with_(plan=_by_headings(plan))),
        chunks=chunks,
        windows=windows,
        first_row=request.first_row,
    )
    vectors = None
    if wants_vectors:
        held = features.table_vectors if features.table_vectors is not None else features.vectors
        assert held is not None
        assert tokens is not None
        vectors = level_vectors(held.flat(), tokens, doc_offsets, firsts, engine, done.threads, compressor)
    return HierarchyPart(np.diff(doc_offsets), features.given("sentences").flat(), firsts, tokens, vectors)


def level_vectors(
    sentences: F32,
    weights: I64,
    doc_offsets: I64,
    firsts: Sequence[I64],
    engine: Engine,
    threads: int,
    compressor: Compressor | None = None,
) -> list[F32]:
    """Vectors of the nodes that each level stores: the sentences' own, then sums by weight, of unit length, or what a
    compressor makes of the sentences."""
    spans = []
    for finer, coarser in itertools.pairwise(firsts):
        several = np.diff(np.searchsorted(finer, coarser)) > 1
        spans.append((coarser[:-1][several], coarser[1:][several]))
    if compressor is not None:
        return [sentences, *compressor.vectors(sentences, weights, doc_offsets, spans, engine, threads)]
    return [sentences, *engine.span_vectors(sentences, weights, doc_offsets, spans, threads=threads)]


def _by_headings(plan: Plan) -> Plan:
    """A plan for which the engine looks for headings, whatever the method does."""
    return Structure().plan(Plan("structure", wrap=plan.wrap))
