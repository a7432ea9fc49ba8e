"""The construction of a hierarchy from a Segmenter's requests: sentences, the boundaries of each level, and vectors."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .._engine.data.plan import Plan
from .._engine.data.ragged import offsets_of
from .._engine.data.request import Request
from .._engine.engine import Engine
from ..features.model_features import Models
from ..features.removed_text import removed_sentences
from ..features.sentence_features import with_sentences
from ..inputs import TextBatch
from ..methods.structure import Structure
from .compressor import Compressor, check_not_late, compressor_for
from .hierarchy import Hierarchy
from .level_boundaries import joined, nested
from .level_names import Level, check_levels
from .removed_sentences import KeptSentences, with_words

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from ..inputs.document_columns import DocumentColumns
    from ..inputs.inputs import Inputs
    from ..segmenter import Segmenter

    I64 = npt.NDArray[np.int64]
    F32 = npt.NDArray[np.float32]
    Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class HierarchyPart:
    """The result of one request: the sentences of its documents, and the nodes and stored vectors of each level."""

    counts: I64
    sentence_bytes: I64
    firsts: list[I64]
    tokens: I64 | None
    vectors: list[F32] | None
    removed: Flags | None = None


def hierarchy_by(
    segmenter: Segmenter,
    batch: Any,
    levels: Sequence[str | int],
    *,
    pooling: str | Path = "tokens",
    columns: DocumentColumns | None = None,
    ids: Any = None,
    first_document: int = 0,
) -> Hierarchy:
    """Return documents at several levels, as :func:`pychunk.segment_levels` does.

    Args:
        segmenter: The segmenter that makes the chunks of level ``"group"`` and the vectors of sentences.
        batch: The documents, as in :func:`pychunk.segment`.
        levels: The levels from fine to coarse.
        pooling: The way to compute the vectors of nodes from the vectors of sentences: ``"tokens"``,
            ``"compressor"``, or a compressor's directory.
        columns: The columns of documents by role. See :func:`pychunk.segment`.
        ids: The ids of the documents, or the name of a column.
        first_document: The number of the first document.

    Raises:
        ValueError: The levels are unknown, out of order or not nested. Or ``overlap`` is passed with level ``group``,
            whose nodes are the method's chunks. Or the pooling is unknown, or its compressor was made for the vectors
            of another encoder, or for vectors without late chunking.

    Example:
        >>> from pychunk import Segmenter
        >>> found = hierarchy_by(Segmenter("fixed", size=4, unit="words"), "One two. Three four. Five.", ["group"])
        >>> found.texts_of("group")
        ['One two. Three four.', 'Five.']
    """
    arguments = {"ids": ids, "first_document": first_document}
    return inputs_and_levels(segmenter, batch, check_levels(levels), pooling, columns, **arguments)[1]


def inputs_and_levels(
    segmenter: Segmenter,
    batch: Any,
    levels: tuple[Level, ...],
    pooling: str | Path,
    columns: DocumentColumns | None,
    **arguments: Any,
) -> tuple[Inputs, Hierarchy]:
    """Return the documents as they were read, and the result of :func:`hierarchy_by`.

    ``arguments`` are further arguments of ``Segmenter.read``.

    Raises:
        ValueError: See :func:`hierarchy_by`.
    """
    if segmenter.ways:
        raise ValueError(
            "levels= cannot be combined with augment= or method 'proposition', because contexts are not made for "
            f"levels; got {', '.join(map(str, segmenter.ways))}: leave it out"
        )
    if segmenter.models.special:
        raise ValueError(
            f"levels count no special tokens; got a Tokenizer with special={segmenter.models.special}: pass its "
            "source, and make the sizes of levels smaller by this number"
        )
    if segmenter.models.tokenizer is not None and segmenter.models.tokenizer.render:
        raise ValueError(
            "levels count the tokens of a node's text alone; got a Tokenizer with render=True: pass its source, and "
            "make the sizes of levels smaller by the length of a path"
        )
    segmenter, inputs = segmenter.read(batch, columns, **arguments)
    facts = segmenter.metadata(inputs)
    compressor = None
    if pooling != "tokens":
        check_not_late(facts)
        compressor = compressor_for(pooling, facts.get("vector_encoder"))
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
    """Return the hierarchy of all documents.

    Args:
        levels: The levels, from fine to coarse.
        requests: The requests of the batch, in order.
        texts: The documents.
        engine: The engine that computes sentences and boundaries.
        models: The models that compute vectors and token counts.
        first_document: The number of the first document.
        metadata: The metadata of the hierarchy.
        compressor: The compressor that computes the vectors of nodes from the vectors of their sentences. It must be
            made for the encoder of these vectors. If it is None, the vectors are means weighted by tokens.

    Raises:
        ValueError: Chunks of the level ``group`` overlap.
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
        _removed(parts),
    )


def _removed(parts: Sequence[HierarchyPart]) -> Flags | None:
    """Return whether each sentence of all parts is removed, or None if no sentence is."""
    if all(part.removed is None for part in parts):
        return None
    of_parts = [
        np.zeros(len(part.sentence_bytes), np.bool_) if part.removed is None else part.removed for part in parts
    ]
    return _all(of_parts, np.bool_)


def _all(arrays: Sequence[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    if len(arrays) == 1:
        return arrays[0]
    return np.concatenate(arrays) if arrays else np.empty(0, kind)


def part_of(
    levels: tuple[Level, ...], request: Request, engine: Engine, models: Models, compressor: Compressor | None = None
) -> HierarchyPart:
    """Return the levels of the documents of one request.

    Raises:
        ValueError: Chunks overlap. The nodes of a level must cover documents without overlap.
    """
    plan = request.plan
    if request.features.removed is not None:
        request = request.with_(removed=with_words(request.features.removed))
    if plan.overlap and "group" in levels:
        raise ValueError(
            f"level 'group' takes no overlap: levels tile documents; got overlap={plan.overlap}: leave it out"
        )
    wants_vectors = plan.chunk_vectors or plan.sentence_vectors
    done = with_sentences(request, engine)
    if wants_vectors:
        done = models.with_table_vectors(done, engine)
    if wants_vectors or any(isinstance(level, int) for level in levels):
        done = models.with_token_counts(done)
    features = done.features
    doc_offsets = features.doc_offsets
    removed = removed_sentences(features)
    tokens = None if features.token_counts is None else features.token_counts.flat()
    if removed is not None and tokens is not None:
        tokens = np.where(removed, 0, tokens)

    def windows(sizes: list[int]) -> list[I64]:
        assert tokens is not None
        if removed is None:
            return engine.token_windows(tokens, doc_offsets, sizes)
        kept = KeptSentences(removed, doc_offsets)
        return engine.token_windows(tokens[kept.numbers], kept.doc_offsets, sizes)

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
        removed=removed,
    )
    vectors = None
    if wants_vectors:
        held = features.table_vectors if features.table_vectors is not None else features.vectors
        assert held is not None
        assert tokens is not None
        vectors = level_vectors(
            held.flat(), tokens, doc_offsets, firsts, engine, done.threads, compressor, removed=removed
        )
    return HierarchyPart(np.diff(doc_offsets), features.given("sentences").flat(), firsts, tokens, vectors, removed)


def level_vectors(
    sentences: F32,
    weights: I64,
    doc_offsets: I64,
    firsts: Sequence[I64],
    engine: Engine,
    threads: int,
    compressor: Compressor | None = None,
    *,
    removed: Flags | None = None,
) -> list[F32]:
    """Return for each level the vectors of the nodes that it stores.

    The finest level has the vectors of the sentences. The vectors of other levels are weighted sums of sentence
    vectors, scaled to unit length, or the vectors that the compressor computes from the sentences. The vectors of
    removed sentences are 0 and are in no other vector.
    """
    if removed is not None:
        kept = KeptSentences(removed, doc_offsets)
        own = (sentences[kept.numbers], weights[kept.numbers], kept.doc_offsets, kept.firsts(firsts))
        made = level_vectors(*own, engine, threads, compressor)
        return [np.where(removed[:, None], np.float32(0), sentences), *made[1:]]
    spans = []
    for finer, coarser in itertools.pairwise(firsts):
        several = np.diff(np.searchsorted(finer, coarser)) > 1
        spans.append((coarser[:-1][several], coarser[1:][several]))
    if compressor is not None:
        return [sentences, *compressor.vectors(sentences, weights, doc_offsets, spans, engine, threads)]
    return [sentences, *engine.span_vectors(sentences, weights, doc_offsets, spans, threads=threads)]


def _by_headings(plan: Plan) -> Plan:
    """Return a plan with which the engine looks for headings, whatever method the segmenter has."""
    return Structure().plan(Plan("structure", unwrap_lines=plan.unwrap_lines))
