"""Late chunking: vectors of sentences from the states of their tokens, after a transformer has read whole documents.

The method is that of Günther et al., 2024 (https://arxiv.org/abs/2409.04701).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .._engine import native
from .._engine.data.ragged import offsets_of
from .._engine.data.tokens import Tokens
from .token_windows import windows
from .transformer import TransformerEncoder

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def checked(encoder: Any) -> TransformerEncoder:
    """Return the encoder if it can be used for late chunking.

    Raises:
        ValueError: It cannot. The message says what to do.
    """
    if not isinstance(encoder, TransformerEncoder):
        raise ValueError(
            f"late_chunking=True needs a transformer whose token states pychunk reads, and {encoder.fingerprint} has "
            "none: pass pychunk.Vectors(..., encoder='minilm', late_chunking=True), or leave out late_chunking"
        )
    if encoder.facts.pooling != "mean":
        raise ValueError(
            "late_chunking=True needs an encoder whose vectors are the mean of its token states; "
            f"{encoder.path} has pooling {encoder.facts.pooling!r}: choose another encoder, or leave out late_chunking"
        )
    if encoder.placement.device is not None:
        raise ValueError(
            f"late_chunking=True runs on the CPU only; got the device {encoder.placement.device.name}: leave out the "
            "device, or late_chunking"
        )
    return encoder


def late_vectors(
    encoder: TransformerEncoder, found: Tokens, doc_offsets: I64, removed: Flags | None = None, **options: Any
) -> F32:
    """Return vectors float32[n, dim] of n sentences, each the mean of its tokens' states after reading its document.

    The model reads a document at once, between its special tokens and after its prompt for passages. It reads longer
    documents in windows (:func:`windows_of`). A sentence of more than ``encoder.room`` tokens is divided into parts,
    which are read like sentences. Its vector is the mean of theirs, weighted by tokens. A sentence that is removed, or
    has no tokens, is not read and has the zero vector.

    Args:
        encoder: A transformer that :func:`checked` accepts.
        found: The tokens of the sentences.
        doc_offsets: The first sentence of each of the k documents, then n, int64[k + 1].
        removed: Whether each sentence is removed, bool[n]; None if none is.
        **options: ``threads``, ``report`` and ``batch_tokens``. See :meth:`TransformerEncoder.encode_spans`.
    """
    if removed is not None:
        found = _without(found, removed)
    unit, divided = encoder.facts.normalize, windows(found, encoder.room)
    parts, first = found, doc_offsets
    if divided is not None:
        parts, first = divided.tokens, divided.first[doc_offsets]
    sizes = np.diff(parts.offsets)
    begins = windows_of(sizes, first, encoder.room)
    offsets = parts.offsets[begins]
    read = np.flatnonzero(np.diff(offsets))
    out = np.zeros((len(sizes), encoder.dim), np.float32)
    before = len(encoder.template.prefix)

    def pool(states: npt.NDArray[Any], chosen: I64, lengths: I64) -> None:
        for row, window in zip(states, read[chosen], strict=True):
            at = before
            for part in range(begins[window], begins[window + 1]):
                own = row[None, at : at + sizes[part]]
                at += sizes[part]
                if sizes[part]:
                    native.pool(own, np.array([part]), sizes, out, pooling="mean", unit=unit)

    encoder.run(Tokens(parts.ids, offsets, np.diff(offsets)), read, None, pool, **options)
    return out if divided is None else divided.pooled(out, unit)


def _without(found: Tokens, removed: Flags) -> Tokens:
    """Return the tokens of the same sentences, of which those that are removed have none."""
    sizes = np.diff(found.offsets)
    kept = np.where(removed, 0, sizes)
    return Tokens(found.ids[np.repeat(~removed, sizes)], offsets_of(kept), kept)


def windows_of(sizes: I64, doc_offsets: I64, room: int) -> I64:
    """Return the first sentence of each window, then the number of sentences, int64[windows + 1].

    A window holds consecutive sentences of one document. A document has as few windows as possible, and their numbers
    of tokens are as equal as whole sentences allow.

    Args:
        sizes: The number of tokens of each of the n sentences, at most ``room``, int64[n].
        doc_offsets: The first sentence of each of the k documents, then n, int64[k + 1].
        room: The most tokens of a window.

    Example:
        >>> windows_of(np.array([3, 3, 3, 3, 2, 9]), np.array([0, 5, 5, 6]), 10).tolist()
        [0, 2, 5, 6]
    """
    before = offsets_of(sizes)
    found: list[int] = []
    for first, last in pairwise(doc_offsets.tolist()):
        if first == last:
            continue
        found.append(first)
        if before[last] - before[first] > room:
            found += _cuts(before[first : last + 1], first, room)
    return np.array([*found, len(sizes)], np.int64)


def _cuts(before: I64, first: int, room: int) -> list[int]:
    """Return the first sentence of each further window of a document that has more than one.

    ``before`` is the number of tokens before each sentence of the document, then of all. The document's first sentence
    has the number ``first``.
    """
    # least[i] is the first sentence from which i windows suffice for the rest of the document.
    least = [len(before) - 1]
    while least[-1] > 0:
        least.append(int(np.searchsorted(before, before[least[-1]] - room)))
    out, begin = [], 0
    for left in range(len(least) - 1, 1, -1):
        target = before[begin] + (before[-1] - before[begin]) / left
        at = int(np.searchsorted(before, target))
        if at > begin + 1 and target - before[at - 1] <= before[at] - target:
            at -= 1
        begin = min(max(at, least[left - 1]), int(np.searchsorted(before, before[begin] + room, "right")) - 1)
        out.append(first + begin)
    return out
