"""Pairs of sentences for training and measuring next-sentence prediction: neighbours and two kinds of strangers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pychunk._engine import native
from pychunk._engine.arrow import flat_text
from pychunk._engine.data.features import Features
from pychunk._engine.data.tokens import Tokens
from pychunk.encoders import static_encoder

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]

#: The kinds of pairs, by the second sentence.
NEXT, SAME_DOCUMENT, OTHER_DOCUMENT = 0, 1, 2


@dataclass(frozen=True)
class Sentences:
    """The WordPiece ids of all sentences end to end, and the documents as runs of sentences."""

    tokens: Tokens
    documents: I64

    def __len__(self) -> int:
        return len(self.tokens.counts)

    @property
    def lengths(self) -> I64:
        """The number of tokens of each sentence."""
        return np.diff(self.tokens.offsets)

    def of(self, sentence: int) -> I32:
        """Return the ids of one sentence."""
        return self.tokens.ids[self.tokens.offsets[sentence] : self.tokens.offsets[sentence + 1]]


@dataclass(frozen=True)
class Pairs:
    """The numbers of the sentences ``first`` and ``second``, and the kind of each pair."""

    first: I64
    second: I64
    kind: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.kind)

    def take(self, rows: npt.NDArray[np.bool_] | I64) -> Pairs:
        """Return some of the pairs."""
        return Pairs(self.first[rows], self.second[rows], self.kind[rows])


def tokenize(texts: Sequence[str]) -> Sentences:
    """Split and tokenize documents as pychunk does for chunks, with BERT's uncased vocabulary."""
    text, offsets = flat_text(pa.array(texts, pa.large_string()))
    starts, _ = native.split_texts(text, offsets, threads=1)
    features = Features(text, offsets, sentences=starts)
    return Sentences(native.tokenize(static_encoder.load(), text, features.bounds), features.doc_offsets)


def draw(documents: I64, count: int, same_share: float, seed: int | Sequence[int]) -> Pairs:
    """Draw ``count`` pairs, half of them neighbours; ``same_share`` of the strangers are from the same document.

    ``documents`` are runs of sentences, as in :class:`Sentences`. A stranger is any sentence except the first and the
    one that follows it. Documents of fewer than four sentences are left out.

    Raises:
        ValueError: There is one document alone, so that no stranger is from another one.
    """
    if len(documents) < 3 and same_share < 1:
        raise ValueError("strangers of other documents need two documents; got one")
    random = np.random.default_rng(seed)
    sizes, sentences = np.diff(documents), int(documents[-1])
    document_of = np.repeat(np.arange(len(sizes)), sizes)
    position = np.arange(sentences) - documents[:-1][document_of]
    able = np.flatnonzero((sizes[document_of] >= 4) & (position + 1 < sizes[document_of]))
    first = random.permutation(able) if count // 2 <= len(able) else random.choice(able, count // 2)
    first = np.repeat(first[: count // 2], 2)
    kind = np.where(random.random(len(first)) < same_share, SAME_DOCUMENT, OTHER_DOCUMENT).astype(np.int8)
    kind[::2] = NEXT
    start, size = documents[:-1][document_of[first]], sizes[document_of[first]]
    # One of the size - 2 sentences of the document that are neither the first nor the next.
    near = (random.random(len(first)) * (size - 2)).astype(np.int64)
    same = start + near + 2 * (near >= first - start)
    # One of the sentences outside the document.
    far = (random.random(len(first)) * (sentences - size)).astype(np.int64)
    other = far + size * (far >= start)
    second = np.select([kind == NEXT, kind == SAME_DOCUMENT], [first + 1, same], other)
    return Pairs(first, second, kind)


def fill(
    sentences: Sentences, pairs: Pairs, max_length: int, cls: int, sep: int
) -> tuple[list[I64], list[tuple[int, int]]]:
    """Return ``[CLS] a [SEP] b [SEP]`` of every pair, and the lengths of both parts.

    A pair of more than ``max_length`` tokens is cut to this length, the longer sentence first.
    """
    rows, lengths = [], []
    for first, second in zip(pairs.first, pairs.second, strict=True):
        a, b = sentences.of(first), sentences.of(second)
        room = max_length - 3
        keep_a, keep_b = len(a), len(b)
        if keep_a + keep_b > room:
            keep_a = min(keep_a, max(room - keep_b, room - room // 2))
            keep_b = min(keep_b, room - keep_a)
        rows.append(np.concatenate([[cls], a[:keep_a], [sep], b[:keep_b], [sep]]).astype(np.int64))
        lengths.append((keep_a + 2, keep_b + 1))
    return rows, lengths


def batches(lengths: I64, tokens: int, seed: int | Sequence[int]) -> list[I64]:
    """Return row numbers of pairs of one length, up to ``tokens`` in a batch, in random order; nothing is padded."""
    random = np.random.default_rng(seed)
    order = np.lexsort((random.random(len(lengths)), lengths))
    found = []
    for run in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
        size = max(1, tokens // int(lengths[run[0]]))
        found += [run[i : i + size] for i in range(0, len(run), size)]
    return [found[i] for i in random.permutation(len(found))]
