"""The table of a method's scores, with one row for each sentence, and the thresholds of these scores."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from .._engine.arrow import primitive
from .._engine.data.cuts import Cuts
from .._engine.data.ragged import Ragged
from .._engine.data.request import Request
from ..methods import Method

if TYPE_CHECKING:
    import numpy.typing as npt


def score_table(method: Method, request: Request, cuts: Cuts, ids: pa.Array | None) -> pa.Table:
    """Return the scores of a request's documents.

    The request's features hold the sentences, and ``cuts`` the method's scores. See :meth:`pychunk.Segmenter.scores`
    for the columns.
    """
    assert cuts.score is not None
    features = request.features
    counts = features.given("sentences").counts
    held, thresholds = method.held(cuts.score, request.plan)
    rows = np.repeat(np.arange(request.documents), counts)
    first = np.cumsum(counts) - counts
    at = np.arange(len(rows)) - np.repeat(first, counts)
    starts, ends = _characters(features.text, features.offsets, features.given("sentences"))
    score = np.full(len(rows), np.nan)
    last = np.zeros(len(rows), bool)
    last[(np.cumsum(counts) - 1)[counts > 0]] = True
    score[~last if cuts.pairs else slice(None)] = held.flat()
    begins = np.zeros(len(rows) + 1, bool)
    begins[cuts.first[cuts.offsets[0] : cuts.offsets[-1]] + np.repeat(first, np.diff(cuts.offsets))] = True
    table = {
        "document_index": primitive(rows + request.first_row),
        **({} if ids is None else {"document_id": ids.take(primitive(rows))}),
        "sentence": primitive(at),
        "start": primitive(starts),
        "end": primitive(ends),
        "score": pa.array(score, from_pandas=True),  # NaN is null
        "threshold": pa.array(np.repeat(thresholds, counts), from_pandas=True),
        "cut": pa.array(begins[1:] & ~last),
    }
    facts = {"method": method.name, "score": method.score_name, "of": "pairs" if cuts.pairs else "sentences"}
    return pa.table(table, metadata={b"pychunk": json.dumps(facts).encode()})


def no_scores(method: str) -> str:
    """Return the error for a method that has no scores."""
    return f"method {method!r} has no scores; 'pic', 'semantic', 'nsp' and 'topic' have scores: choose one of them"


def _characters(
    text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], sentences: Ragged
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return where each sentence starts and ends in its document, in characters, from positions in bytes.

    Sentences cover their document without gaps.
    """
    starts, ends = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for row in range(len(offsets) - 1):
        own = sentences.part(row)
        if len(own):
            first_bytes = (text[offsets[row] : offsets[row + 1]] & 0xC0) != 0x80
            end = np.cumsum(np.add.reduceat(first_bytes, own, dtype=np.int64))
            starts.append(np.append(0, end[:-1]))
            ends.append(end)
    return np.concatenate(starts), np.concatenate(ends)
