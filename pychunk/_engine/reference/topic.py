"""The topic network and its cuts, one sentence at a time (csrc/vectors/topic.h, topic_inputs.h, topic_cut.h)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from ..data.models import TopicHead
from .search.thresholds import fixed_point
from .text.sentence_splitter import BLANK_LINE, PARAGRAPH
from .vectors import F32, dot, total

WORD = re.compile(rb"[0-9A-Za-z\x80-\xff]+")
WINDOWS = (1, 2, 4, 8)
F = np.float32


def affinities(head: TopicHead, sentences: Sequence[str], flags: Sequence[int], vectors: F32) -> F32:
    """Return the probability that each sentence continues the topic of the sentence before it, float32[n - 1].

    ``sentences`` include the white space after them. ``flags`` are those of the sentence splitter.
    """
    n = len(sentences)
    if n < 2:
        return np.zeros(0, np.float32)
    weights, told, first, second, bias, out, skip = head.parts
    rows, words = text_inputs(head, sentences, flags)
    mean = total(vectors) * F(1.0 / n)
    rows[:, :7] = cosines(vectors, mean)
    of_mean, of_rows = np.zeros((1, weights.shape[1]), np.float32), np.zeros((n, weights.shape[1]), np.float32)
    add_products(mean[None], weights, of_mean)
    add_products(vectors, weights, of_rows)
    hidden = np.stack([bias + first[a] + second[b] for a, b in words])
    hidden[:, : weights.shape[1]] += of_rows - of_mean
    add_products(rows, told, hidden)
    hidden = np.maximum(hidden, F(0))
    channels = len(bias)
    for layer, offset, dilation in zip(head.layers[::2], head.layers[1::2], head.dilations, strict=True):
        sums = np.tile(offset, (n, 1))
        taps = len(layer) // channels
        for tap in range(taps):
            shift = (tap - taps // 2) * dilation
            begin, end = max(0, -shift), min(n, n - shift)
            if begin < end:
                part = sums[begin:end]
                add_products(hidden[begin + shift : end + shift], layer[tap * channels : (tap + 1) * channels], part)
        hidden = hidden + np.maximum(sums, F(0))
    logits = [F(F(F(head.out_bias) + F(dot(h, out))) + F(dot(row, skip))) for h, row in zip(hidden, rows, strict=True)]
    return np.array([logistic(float(logit)) for logit in logits[1:]], np.float32)


def add_products(x: F32, weights: F32, sums: F32) -> None:
    """Add ``x @ weights`` to ``sums``. To each sum, its products are added one by one, in the order of the columns."""
    for column, row in zip(x.T, weights, strict=True):
        sums += column[:, None] * row


def logistic(x: float) -> float:
    """Return 1 / (1 + exp(x)), computed by a fixed sequence of operations."""
    return 1.0 / (1.0 + exponential(x))


def exponential(x: float) -> float:
    """Return exp(x), computed by a fixed sequence of operations. x is clipped to [-60, 60]."""
    x = min(max(x, -60.0), 60.0)
    k = float(np.rint(x * 1.4426950408889634))
    r = x - k * 0.6931471805599453
    series = 0.0
    for i in range(11, -1, -1):
        series = series * r + 1.0 / math.factorial(i)
    return math.ldexp(series, int(k))


def text_inputs(head: TopicHead, sentences: Sequence[str], flags: Sequence[int]) -> tuple[F32, list[list[int]]]:
    """Return for each sentence its 17 inputs, and the classes of its first two words.

    The first 7 inputs are the cosines, which the caller fills in.
    """
    n = len(sentences)
    classes = {int(key): i + 3 for i, key in enumerate(head.words)}
    rows = np.zeros((n, 17), np.float32)
    words, content, links = [], [], [0] * (n + 1)
    met: dict[bytes, int] = {}
    ends = np.cumsum([len(sentence.encode()) for sentence in sentences])
    # The words that begin in each sentence. A word may continue in the next sentence.
    begun: list[list[bytes]] = [[] for _ in sentences]
    for word in WORD.finditer("".join(sentences).encode().lower()):
        begun[int(np.searchsorted(ends, word.start(), side="right"))].append(word.group())
    for s, sentence in enumerate(sentences):
        own = sentence.strip().encode()
        found = begun[s]
        keys = [int.from_bytes(word[:8], "little") for word in found[:2]]
        words.append(
            [1 if word.isdigit() else classes.get(key, 2) for word, key in zip(found[:2], keys, strict=True)]
            + [0] * (2 - len(keys))
        )
        stems = {word[:6] for word in found if len(word) >= 5}
        back = [s - met[stem] for stem in stems if stem in met]
        for distance in back:
            if distance <= 10:
                links[s - distance + 1] += 1
                links[s + 1] -= 1
        met.update(dict.fromkeys(stems, s))
        content.append(len(stems))
        of = F(max(1, len(stems)))
        rows[s, 7] = log_length(len(own))
        rows[s, 8] = F(sum(d <= 2 for d in back)) / of
        rows[s, 9] = F(sum(d <= 10 for d in back)) / of
        rows[s, 10] = F(len(stems) - len(back)) / of
        begins = bool(flags[s] & PARAGRAPH)
        alone = begins and (s + 1 == n or bool(flags[s + 1] & PARAGRAPH))
        heading = own.startswith(b"#") or (alone and s + 1 < n and len(own) <= 80)
        item = own.startswith((b"- ", b"* ", "\u2022".encode())) or re.match(rb"[0-9]{1,3}[.)]", own) is not None
        rows[s, 12:] = [begins, bool(flags[s] & BLANK_LINE), alone, heading, item]
    for s in range(n):
        rows[s, 11] = F(sum(links[: s + 1])) / F(1 + sum(content[max(0, s - 3) : s + 3]))
    return rows, words


def log_length(size: int) -> float:
    """Return log2(1 + size), which is exact for powers of two and interpolated linearly between them."""
    exponent = (size + 1).bit_length() - 1
    return exponent - 1 + math.ldexp(float(size + 1), -exponent)


def cosines(vectors: F32, mean: F32) -> F32:
    """Return the 7 cosines of each sentence, float32[n, 7].

    Six of them compare a window of sentences that ends before this sentence with a window that begins with it. The last
    one compares the sentence with the document's ``mean``.
    """
    n, around = len(vectors), 16
    x = np.zeros((n + 2 * around, vectors.shape[1]), np.float32)  # zeros before the first and after the last sentence
    x[around : around + n] = vectors - mean

    def back(sums: F32, steps: int) -> F32:
        moved = np.zeros_like(sums)
        moved[steps:] = sums[:-steps]
        return moved

    sums = {1: x}
    for window in WINDOWS[1:]:
        half = sums[window // 2]
        sums[window] = half + back(half, window // 2)

    def between(w: int, left: int, v: int, right: int) -> F32:
        a, b = sums[w][left + around], sums[v][right + around]
        return cosine(dot(a, b), dot(a, a), dot(b, b))

    rows = np.zeros((n, 7), np.float32)
    for s in range(n):
        rows[s, 6] = cosine(dot(vectors[s], mean), dot(mean, mean), 1.0)
        if s > 0:
            rows[s, :4] = [between(w, s - 1, w, s - 1 + w) for w in WINDOWS]
            rows[s, 4:6] = [between(4, s - 1, 1, s), between(1, s - 1, 4, s + 3)]
    return rows


def cosine(product: float, left: float, right: float) -> F32:
    """Return the cosine of two vectors from their dot product and the square of the length of each."""
    inverse = [F(0) if square < float(F(1e-8)) else F(1.0 / math.sqrt(square)) for square in (left, right)]
    found: F32 = F(product) * inverse[0] * inverse[1]
    return found


def cut_within(found: Sequence[float], threshold: float, tokens: Sequence[int], least: int, most: int) -> list[int]:
    """Return the first sentences of the best partition into chunks of ``least`` to ``most`` tokens.

    csrc/methods/topic_cut.h defines which partition is best.
    """
    limit = round(threshold * 2**32)
    best = [(0, 0)]
    first: list[int] = []
    for j in range(1, len(tokens) + 1):
        options = []
        for i in range(j):
            length = sum(tokens[i:j])
            if most and length > most and i + 1 < j:
                continue
            short, value = best[i]
            gain = limit - fixed_point(found[i - 1]) if i else 0
            options.append((-short - (length < least), value + gain, -i))
        short, value, start = max(options)
        best.append((-short, value))
        first.append(-start)
    cuts, j = [], len(tokens)
    while j > 0:
        j = first[j - 1]
        cuts.append(j)
    return cuts[::-1]
