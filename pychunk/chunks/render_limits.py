"""Limits on the tokens of the text that ``chunk.render()`` returns.

A chunk is read with the headings above it, the header of a table that it continues, and the marks around code. What
these add depends on where the chunk begins, so it is known only after the cut. So chunks that are over the limit are
cut again, into about equal parts; all others stay. Vectors and scores are not computed again.
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
from .._engine.data.ragged import Ragged
from .._engine.data.request import Request
from .._util.counting import counted
from ..features.model_features import CountingTokenizer
from .batch import ChunkBatch
from .chunk_table import chunk_table

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
        cut: The function that returns the columns of the chunks of a request, with the tokens of their text.
        tokenizer: The tokenizer that counts.
    """
    columns = cut(request)
    if "path" not in columns:
        return columns
    limit, lower = limit_of(request.plan), _LowerLimits(request.documents)
    documents = columns["document_index"] - request.first_row
    tokens = _tokens(columns, request, tokenizer, np.ones(len(documents), np.bool_))
    while limit:
        over = np.flatnonzero(tokens > limit)
        changed = lower.add(documents[over], columns["start_byte"][over], columns["tokens"][over], tokens[over], limit)
        if not len(changed):
            _warn(columns, tokens, limit)
            break
        again = np.zeros(request.documents, np.bool_)
        again[changed] = True
        kept = tokens[~again[documents]]
        columns = cut(request.with_(lower_limits=lower.ragged()))
        documents = columns["document_index"] - request.first_row
        new = again[documents]
        tokens = _tokens(columns, request, tokenizer, new)
        tokens[~new] = kept
    columns["tokens"] = tokens
    return columns


class _LowerLimits:
    """The lower limits of a request's documents; see :class:`.Features`."""

    def __init__(self, documents: int) -> None:
        self._known: list[dict[int, int]] = [{} for _ in range(documents)]

    def add(self, documents: I64, starts: I64, own: I64, tokens: I64, limit: int) -> I64:
        """Add limits for chunks that are over the limit, and return the documents that get any.

        A chunk gets none if its text can have no tokens, or if it stayed as it was under an earlier lower limit,
        because it is a single character.

        Args:
            documents: The document of each chunk.
            starts: Its first byte.
            own: The tokens of its text.
            tokens: The tokens of its rendered text.
            limit: The most tokens of a rendered text.
        """
        changed = []
        for document, start, size, whole in zip(
            *(each.tolist() for each in (documents, starts, own, tokens)), strict=True
        ):
            room = limit - (whole - size)
            if room < 1:
                continue
            parts = max(2, -(-size // room))
            # A quarter more than an equal share, because parts end with sentences.
            most = min(room, -(-size // parts) + size // (4 * parts))
            if most < self._known[document].get(start, size):
                self._known[document][start] = most
                changed.append(document)
        return np.array(changed, np.int64)

    def ragged(self) -> Ragged:
        """Return the limits as pairs (byte, tokens)."""
        rows = [[number for pair in sorted(known.items()) for number in pair] for known in self._known]
        return Ragged.of(rows, np.int64)


def _tokens(columns: dict[str, Any], request: Request, tokenizer: CountingTokenizer, which: Any) -> I64:
    """Return the tokens of the rendered text of some chunks, and zero for the others."""
    table = chunk_table(columns, None, request.first_row)
    found = np.zeros(len(which), np.int64)
    chunks = ChunkBatch(table.filter(which), documents=request.documents, first_document=request.first_row)
    text, bounds = flat_text(pa.array([chunk.render() for chunk in chunks], pa.large_string()))
    found[which] = tokenizer.count(text, bounds, request.threads)
    return found


def _warn(columns: dict[str, Any], tokens: I64, limit: int) -> None:
    """Warn of the first chunk that stays over the limit."""
    over = np.flatnonzero(tokens > limit)
    if not len(over):
        return
    at = over[0]
    more = f" (and {counted(len(over) - 1, 'more chunk')})" if len(over) > 1 else ""
    warnings.warn(
        f"document {columns['document_index'][at]}: the chunk at character {columns['start'][at]}{more} has "
        f"{counted(int(tokens[at]), 'token')} with the headings and headers that it is rendered with, and the limit is "
        f"{limit}: raise the limit, or leave out render=True",
        stacklevel=2,
    )
