"""The functions of `pychunk._engine.native` that segment() and reading HTML need, in Python and NumPy.

PYCHUNK_BACKEND=reference selects this engine. It never replaces the native core by itself. It takes only two things
from the native core: the word lists of the sentence rules, and the WordPiece spans for recursive splitting by tokens.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.columns import CUT_REASONS
from ..data.cuts import Cuts
from ..data.headings import Headings
from ..data.ragged import Ragged
from ..data.request import Request
from ..data.tokens import Tokens
from . import vectors as linear
from .document import Document, token_ids
from .levels import agglomerate, compressed_vectors, span_vectors, token_windows
from .parsing.block_words import block_words
from .parsing.html_bytes import find_keys, find_told
from .parsing.noise_columns import noise_columns
from .parsing.noise_names import put_reasons
from .parsing.noise_net import noise_network
from .search import thresholds
from .segmentation import decide
from .structure import find_sections
from .table import segment
from .text import wordpiece
from .vectors import F32


def adjacent_sums(request: Request) -> tuple[int, int]:
    """Return (sum, count) of the scores of neighbouring sentences in a batch. The sum is in units of 2**-32."""
    total = count = 0
    for row in range(request.documents):
        document = Document(request, row)
        if document.n:
            window = request.plan.window
            scores = linear.adjacent(document.vectors, window) if window > 1 else document.affinities
            total += sum(map(thresholds.fixed_point, scores))
            count += len(scores)
    return total, count


def encode_static(text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], encoder: Any, *, threads: int) -> F32:
    """Return the unit vectors, float32[k, dim], of k texts."""
    ids, options = token_ids(encoder), encoder.tokenizer_options
    texts = [bytes(text[a:b]).decode() for a, b in pairwise(offsets)]
    rows = [linear.bag(encoder.table, wordpiece.encode(t, ids, options)) for t in texts]
    return np.array(rows, np.float32).reshape(-1, encoder.table.shape[1])


def embedding_bags(tokens: Tokens, encoder: Any, *, threads: int) -> F32:
    """Return the unit vectors, float32[n, dim], of n sentences that are already tokenized."""
    rows = [linear.bag(encoder.table, tokens.ids[a:b].tolist()) for a, b in pairwise(tokens.offsets)]
    return np.array(rows, np.float32).reshape(-1, encoder.table.shape[1])


def split(request: Request) -> tuple[Ragged, Ragged]:
    """Return the first byte of each sentence in its document, and the sentences' flags.

    If the request has page starts, no sentence crosses the start of a page, except inside a block.
    """
    starts, flags = [], []
    for row in range(request.documents):
        document = Document(request, row)
        starts.append([len(document.text[:start].encode()) for start in document.starts])
        flags.append(document.flags)
    return Ragged.of(starts, np.int64), Ragged.of(flags, np.uint8)


def headings(request: Request) -> Headings:
    """Return the sections of a request's documents and their headings. The plan's method must cut by headings."""
    documents = [Document(request, row) for row in range(request.documents)]
    found = [find_sections(document) if document.n else [] for document in documents]
    first, offsets = Ragged.of([[section.first for section in sections] for sections in found], np.int64)
    level = [section.level for sections in found for section in sections]
    tied = [cohesion.is_closed for document in documents for cohesion in document.borders[0]]
    return Headings(first, offsets, np.array(level, np.uint8), np.array(tied, np.uint8))


def cuts(request: Request, *, held: bool = False) -> Cuts:
    """Return the cuts of the request's method, before chunks are fitted to the budget.

    With ``held``, scores of pairs are those that the method compares with its threshold. They differ from the other
    scores if the method's ``window`` is more than one sentence.
    """
    decided = [decide(Document(request, row)) for row in range(request.documents)]
    kinds = [each.labels[first] for each in decided if each.labels for first, _ in each.groups]
    return Cuts(
        *Ragged.of([[first for first, _ in each.groups] for each in decided], np.int32),
        np.array(kinds, np.int8) if kinds else None,
        Ragged.of([each.held if held and len(each.held) else each.scores for each in decided], np.float32)
        if request.plan.traits.scores
        else None,
        request.plan.traits.scores == "pairs",
        np.full(sum(len(each.groups) for each in decided), CUT_REASONS.index(request.plan.traits.reason), np.int8),
    )


__all__ = [
    "adjacent_sums",
    "agglomerate",
    "block_words",
    "compressed_vectors",
    "cuts",
    "embedding_bags",
    "encode_static",
    "find_keys",
    "find_told",
    "headings",
    "noise_columns",
    "noise_network",
    "put_reasons",
    "segment",
    "span_vectors",
    "split",
    "token_windows",
]
