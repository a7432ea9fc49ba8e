"""Late chunking (Guenther et al., 2024), which gives the vector of a span its context.

A transformer reads up to 512 tokens of a document at once, and the states of its tokens are summed by sentence. Windows
hold whole sentences of one document in order. A sentence that is longer than a window continues in the next. The spans
are exact, because sentences are tokenised in the same way as for their own vectors.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pychunk._engine.arrow import flat_text
from pychunk._engine.data.tokens import Tokens

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]
#: The tokens of a window, including the two special tokens at its ends.
WINDOW = 512


def windows_of(offsets: I64, doc_offsets: I64, size: int) -> tuple[I64, I64]:
    """Return the starts of windows of at most ``size`` tokens, and of the pieces of sentences in them, with the end.

    Example:
        >>> windows, pieces = windows_of(np.array([0, 3, 5, 12]), np.array([0, 2, 3]), 4)
        >>> windows.tolist(), pieces.tolist()
        ([0, 3, 5, 9, 12], [0, 3, 5, 9, 12])
    """
    windows: list[int] = []
    pieces: list[int] = []
    for first, last in pairwise(doc_offsets.tolist()):
        begin = -1
        for sentence in range(first, last):
            at, end = int(offsets[sentence]), int(offsets[sentence + 1])
            while at < end:
                if begin < 0 or end - begin > size:  # a longer sentence begins a window and fills it
                    begin = at
                    windows.append(at)
                pieces.append(at)
                at = min(end, begin + size)
    return np.array([*windows, offsets[-1]], np.int64), np.array([*pieces, offsets[-1]], np.int64)


def sentence_sums(encoder: Any, found: Any, threads: int) -> F32:
    """Return float32[n, dim]: the sums of the token states of each sentence of a hierarchy."""
    own = copy.copy(encoder)  # the same session
    own.template = replace(encoder.template, max_length=WINDOW)
    around = len(own.template.prefix) + len(own.template.suffix)
    text, bounds = flat_text(pa.array(found.texts_of("sentence"), pa.large_string()))
    tokens = own.tokens_of(text, bounds, threads)
    windows, pieces = windows_of(tokens.offsets, found.doc_offsets, WINDOW - around)
    sentence = np.searchsorted(tokens.offsets, pieces[:-1], "right") - 1
    place = np.searchsorted(pieces, windows)
    of_pieces = np.zeros((len(pieces) - 1, encoder.dim), np.float32)

    def sink(states: npt.NDArray[Any], chosen: I64, lengths: I64) -> None:
        for state, window in zip(states, chosen, strict=True):
            first, last = place[window], place[window + 1]
            begin, end = windows[window], windows[window + 1]
            inside = state[len(own.template.prefix) :][: end - begin]
            of_pieces[first:last] = np.add.reduceat(inside, pieces[first:last] - begin)

    whole = Tokens(tokens.ids, windows, np.diff(windows))
    own.run(whole, np.arange(len(windows) - 1), None, sink, threads=threads)
    out = np.zeros((found.count("sentence"), encoder.dim), np.float32)
    np.add.at(out, sentence, of_pieces)
    return out
