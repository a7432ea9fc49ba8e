"""The network that tells noise from content in pages, in float64, as csrc/parsing/noise_net.h does in integers.

All numbers are multiples of powers of two, so that float64 adds their products exactly, in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
U32 = npt.NDArray[np.uint32]

#: Weights are multiples of 1 / _STEPS, and vectors of words are multiples of 1 / _WORD_STEPS.
_STEPS, _WORD_STEPS = 1024, 64
#: Values between layers are multiples of 1 / _FLOW, and at most _MOST.
_FLOW, _MOST = 256.0, 64.0


def noise_network(groups: int, **model: Any) -> Callable[[Mapping[str, Any]], I64]:
    """Return the result of :func:`pychunk._engine.native.noise_network`, for any number of groups."""
    return partial(_noise_sums, **model)


def _noise_sums(
    page: Mapping[str, Any],
    *,
    vocabulary: Sequence[tuple[U32, npt.NDArray[np.int16]]],
    neighbours: Sequence[int],
    windows: Sequence[int],
    nets: Sequence[Sequence[tuple[npt.NDArray[Any], npt.NDArray[Any]]]],
) -> I64:
    count = len(page["weight"])
    near_words, path_words, wording, about = [(known, vectors / _WORD_STEPS) for known, vectors in vocabulary]
    at = np.minimum(np.searchsorted(near_words[0], page["names"]), len(near_words[0]) - 1)
    known = near_words[0][at] == page["names"]
    words, offsets = at[known], np.concatenate([[0], np.cumsum(known)])[page["name_offsets"]]
    parts = [page["dense"]]
    for (_, vectors), rows in ((near_words, page["near"]), (path_words, page["path"])):
        parts.append(_means_of_elements(vectors[words], offsets, rows))
    parts.append(_means(*wording, page["wording"], page["wording_rows"], count))
    of_page = _means(*about, page["about"], np.zeros(len(page["about"]), np.int64), 1)
    given = np.concatenate([*parts, np.broadcast_to(of_page, (count, of_page.shape[1]))], axis=1)
    near = _Near(page, neighbours, windows)
    found = np.empty((count, len(nets)), np.int64)
    for row, layers in enumerate(nets):
        first, share, mix, share2, mix2, out, out2 = [(weights.T / _STEPS, bias / _STEPS) for weights, bias in layers]
        hidden = _layer(given, first)
        hidden = _layer(np.concatenate([hidden, *near.seen(_layer(hidden, share))], axis=1), mix)
        once = _product(hidden, *out)
        hidden = _layer(np.concatenate([hidden, *near.seen(_layer(hidden, share2))], axis=1), mix2)
        found[:, row] = np.rint((once + _product(hidden, *out2))[:, 0] * (_STEPS * _FLOW))
    return found


def _product(values: F64, weight: F64, bias: F64) -> F64:
    return np.asarray(values @ weight + bias)


def _layer(values: F64, weights: tuple[F64, F64]) -> F64:
    return np.asarray(np.rint(np.clip(_product(values, *weights), 0, _MOST) * _FLOW) / _FLOW)


def _means_of_elements(vectors: F64, offsets: I64, rows: I64) -> F64:
    """Return for each block the mean vector of all words of the elements above it.

    ``rows``, int64[levels, b], are the numbers of these elements, with -1 for none. Element i has the words
    ``vectors[offsets[i] : offsets[i + 1]]``.
    """
    running = _running(vectors)
    sums = np.concatenate([running[offsets[1:]] - running[offsets[:-1]], np.zeros((1, vectors.shape[1]))])
    many = np.append(np.diff(offsets), 0)
    total, count = sums[rows[0]], many[rows[0]]
    for each in rows[1:]:
        total += sums[each]
        count += many[each]
    return np.asarray(np.rint(total / np.maximum(count, 1)[:, None] * _FLOW) / _FLOW)


def _means(known: U32, table: F64, values: U32, owner: I64, count: int) -> F64:
    """Return the mean vector of the words of each block, of those that the table knows; 0 if it knows none.

    ``values`` are the hashes of all words, ``owner`` the block of each, and ``count`` the number of blocks.
    """
    at = np.minimum(np.searchsorted(known, values), len(known) - 1)
    found = known[at] == values
    at, owner = at[found], owner[found]
    order = np.argsort(owner, kind="stable")
    sums = _running(table[at[order]])
    edges = np.searchsorted(owner[order], np.arange(count + 1))
    many = np.maximum(edges[1:] - edges[:-1], 1)
    return np.asarray(np.rint((sums[edges[1:]] - sums[edges[:-1]]) / many[:, None] * _FLOW) / _FLOW)


def _running(values: F64) -> F64:
    return np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])


class _Near:
    """The blocks of a page from which each block receives values: neighbours, windows, groups and the whole page."""

    def __init__(self, page: Mapping[str, Any], neighbours: Sequence[int], windows: Sequence[int]) -> None:
        count = self.count = len(page["weight"])
        at = np.arange(count)
        self.beside = [np.where((at + step >= 0) & (at + step < count), at + step, count) for step in neighbours]
        self.windows = [(np.maximum(at - size, 0), np.minimum(at + size + 1, count)) for size in windows]
        self.groups = []
        for group in page["groups"]:
            order = np.argsort(group, kind="stable")
            ordered = group[order]
            starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
            many = np.diff(np.append(starts, count))
            back = np.empty(count, np.int64)
            back[order] = np.repeat(np.arange(len(starts)), many)
            self.groups.append((order, starts, many.astype(np.float64)[:, None], back))
        self.weight = (page["weight"] + 1)[:, None]

    def seen(self, shared: F64) -> list[F64]:
        """Return what each block receives from other blocks: several means of vectors in ``shared``, float64[b, c]."""
        padded = np.concatenate([shared, np.zeros((1, shared.shape[1]))])
        parts = [padded[rows] for rows in self.beside]
        running = _running(shared)
        parts += [(running[last] - running[first]) / (last - first)[:, None] for first, last in self.windows]
        for order, starts, many, back in self.groups:
            parts.append((np.add.reduceat(shared[order], starts, axis=0) / many)[back])
        every = running[-1] / self.count
        heavy = (shared * self.weight).sum(axis=0) / self.weight.sum()
        parts += [np.broadcast_to(every, shared.shape), np.broadcast_to(heavy, shared.shape)]
        return [np.rint(part * _FLOW) / _FLOW for part in parts]
