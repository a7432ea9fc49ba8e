"""Limits on the tokens of the text that ``chunk.render()`` returns.

A chunk is read with the headings above it, the header of a table that it continues, and the marks around code. What
these add depends on where the chunk begins, so it is known only after the cut. So a document of which a chunk is over
the limit is cut again, with limits that leave room for what was missing. Vectors and scores are not computed again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine.arrow import flat_text
from .._engine.data.plan import Plan
from .._engine.data.request import Request
from ..features.model_features import CountingTokenizer
from .batch import ChunkBatch, chunk_table

I64 = npt.NDArray[np.int64]


def limit_of(plan: Plan) -> int:
    """Return the most tokens of a chunk that a plan allows, or 0 if it does not limit them."""
    sized = plan.traits.sized
    limits = [plan.max_tokens * (sized or plan.unit == "tokens"), plan.size * (sized and plan.unit == "tokens")]
    return min((limit for limit in limits if limit), default=0)


def fit(request: Request, cut: Callable[[Request], dict[str, Any]], tokenizer: CountingTokenizer) -> dict[str, Any]:
    """Return the columns of a request's chunks, which keep the limit when they are rendered.

    The column ``tokens`` has the tokens of the rendered text. A chunk stays over the limit, with a warning, only if it
    is a single character, or if what is rendered with it has no fewer tokens than the limit.

    Args:
        request: A request that has all features of its plan.
        cut: The function of the engine that returns the columns of chunks.
        tokenizer: The tokenizer that counts.
    """
    columns = cut(request)
    if "tokens" not in columns or "path" not in columns:
        return columns
    limit, room = limit_of(request.plan), np.zeros(request.documents, np.int64)
    documents = columns["document_index"] - request.first_row
    tokens = _tokens(columns, request, tokenizer, np.ones(len(documents), np.bool_))
    while limit:
        added = tokens - columns["tokens"]
        over = tokens > limit
        fixed = over & ((columns["end"] - columns["start"] == 1) | (added >= limit))
        cuttable = over & ~fixed
        if not cuttable.any():
            _warn(columns, tokens, fixed, limit)
            break
        wanted = room.copy()
        at = documents[cuttable]
        np.maximum.at(wanted, at, np.maximum(added[cuttable], room[at] + tokens[cuttable] - limit))
        wanted = np.minimum(wanted, limit - 1)
        again = wanted > room
        if not again.any():
            _warn(columns, tokens, over, limit)
            break
        kept, room = tokens[~again[documents]], wanted
        columns = cut(request.with_(room=room))
        documents = columns["document_index"] - request.first_row
        new = again[documents]
        tokens = _tokens(columns, request, tokenizer, new)
        tokens[~new] = kept
    columns["tokens"] = tokens
    return columns


def _tokens(columns: dict[str, Any], request: Request, tokenizer: CountingTokenizer, which: Any) -> I64:
    """Return the tokens of the rendered text of some chunks, and zero for the others."""
    table = chunk_table(columns, None, request.first_row)
    found = np.zeros(len(which), np.int64)
    chunks = ChunkBatch(table.filter(which), documents=request.documents, first_document=request.first_row)
    text, bounds = flat_text(pa.array([chunk.render() for chunk in chunks], pa.large_string()))
    found[which] = tokenizer.count(text, bounds, request.threads)
    return found


def _warn(columns: dict[str, Any], tokens: I64, over: npt.NDArray[np.bool_], limit: int) -> None:
    """Warn of the first chunk that stays over the limit."""
    if not over.any():
        return
    at = int(over.argmax())
    warnings.warn(
        f"document {columns['document_index'][at]}: {int(over.sum())} of its batch's chunks have more than {limit} "
        f"tokens with the headings and headers that they are rendered with; the chunk at character "
        f"{columns['start'][at]} has {tokens[at]}: raise the limit, or leave out render=True",
        stacklevel=2,
    )
