"""The network that tells noise from content in pages, and its arithmetic (``training/noise.py``)."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._engine import native as _native
from ..._engine.engine import backend_name
from ..._util.weights import read_weights

if TYPE_CHECKING:
    import numpy.typing as npt

    from .noise_features import NoiseFeatures

    F64 = npt.NDArray[np.float64]
    I64 = npt.NDArray[np.int64]
    _Whole = tuple[npt.NDArray[np.int16], npt.NDArray[np.int32]]

SHIPPED = Path(__file__).resolve().parents[2] / "models"
FACTS, WEIGHTS = "noise.json", "noise.npz"
#: Weights are multiples of 1 / this, below 16; those of words of 1 / WORD_STEPS, below 2.
STEPS, WORD_STEPS = 1024, 64
#: What flows between layers: multiples of 1 / 256, at most 64.
_FLOW, _MOST = 256.0, 64.0
#: Multiplications of one product of OpenBLAS in one thread.
_ALONE = 250_000
#: Neighbours that a block sees the summaries of, and windows (blocks on each side) that it sees the means of.
NEIGHBOURS, WINDOWS = (-1, 1, -2, 2), (3, 12)
#: Levels of the tree over which means are taken.
GROUPS = (0, 1, 3)
#: Layers of a network, in the order that they are passed.
_PARTS = ("in", "share", "mix", "share2", "mix2", "out", "out2")


class NoiseModel:
    """Weights, and how likely each block of a page is content.

    A block's features and the mean vectors of its words pass a layer; a summary of that layer is exchanged with
    neighbours, with all that is in the same elements, with all that is named alike and with the whole page; then a
    second layer, and the same once more.

    All numbers are multiples of powers of two that a product in float64 adds exactly, in any order: the same scores
    come out on every machine, for any number of threads.

    Args:
        path: folder with ``noise.json`` and ``noise.npz``; default: the model that pychunk ships.

    Raises:
        ValueError: a file is missing, damaged, or of a newer format.
    """

    def __init__(self, path: str | Path = SHIPPED) -> None:
        self.facts, arrays = read_weights(Path(path) / FACTS, "model of noise", "install pychunk again", ("scale",))
        self.take(arrays)

    @classmethod
    def of(cls, arrays: dict[str, npt.NDArray[Any]], facts: dict[str, Any]) -> NoiseModel:
        """From arrays in memory."""
        made = cls.__new__(cls)
        made.facts = facts
        made.take(arrays)
        return made

    def take(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        """Takes weights as they are stored."""
        self.names, self.wordings, self.pages = arrays["names"], arrays["wordings"], arrays["pages"]
        self.words = {
            name: arrays[name].astype(np.float64) / WORD_STEPS for name in ("near", "path", "wording", "page")
        }
        self.nets: list[list[tuple[F64, F64]]] = []
        for net in range(int(arrays["nets"])):
            self.nets.append(
                [
                    (
                        arrays[f"{net}_{part}_weight"].astype(np.float64) / STEPS,
                        arrays[f"{net}_{part}_bias"].astype(np.float64) / STEPS,
                    )
                    for part in _PARTS
                ]
            )
        known = {"near": self.names, "path": self.names, "wording": self.wordings, "page": self.pages}
        self.vocabulary = [(known[name], arrays[name].astype(np.int16)) for name in known]
        whole = [_in_whole_numbers(arrays, net) for net in range(len(self.nets))]
        self.nets_in_whole = None if None in whole else whole

    def content(self, features: NoiseFeatures) -> F64:
        """float64[b]: how likely each block is content, in multiples of 1 / 1024."""
        count = len(features.weight)
        if not count:
            return np.zeros(0)
        native = self.nets_in_whole is not None and backend_name() == "native"
        total = self._native_sums(features) if native else self._sums(features)
        scale = float(self.facts["scale"]) / len(self.nets)
        return np.rint(1024 / (1 + np.exp(np.clip(-total * scale, -30, 30)))) / 1024

    def _sums(self, features: NoiseFeatures) -> F64:
        """float64[b]: sums before the logistic function; the reference."""
        count = len(features.weight)
        at = np.minimum(np.searchsorted(self.names, features.names.values), len(self.names) - 1)
        known = self.names[at] == features.names.values
        words, offsets = at[known], np.concatenate([[0], np.cumsum(known)])[features.names.offsets]
        parts = [features.dense]
        for name, rows in (("near", features.near), ("path", features.path)):
            parts.append(_means_of_elements(self.words[name][words], offsets, rows))
        parts.append(_means(self.words["wording"], self.wordings, *features.wording, count))
        page = _means(self.words["page"], self.pages, features.page, np.zeros(len(features.page), np.int64), 1)
        given = np.concatenate([*parts, np.broadcast_to(page, (count, page.shape[1]))], axis=1)
        near = _Near(features)
        total = np.zeros(count)
        for first, share, mix, share2, mix2, out, out2 in self.nets:
            hidden = _layer(given, first)
            hidden = _layer(np.concatenate([hidden, *near.seen(_layer(hidden, share))], axis=1), mix)
            once = _product(hidden, *out)
            hidden = _layer(np.concatenate([hidden, *near.seen(_layer(hidden, share2))], axis=1), mix2)
            total += (once + _product(hidden, *out2))[:, 0]
        return total

    def _native_sums(self, features: NoiseFeatures) -> F64:
        """The same by the native core."""
        page = {
            "dense": features.dense,
            "names": features.names.values,
            "name_offsets": features.names.offsets,
            "near": features.near,
            "path": features.path,
            "wording": features.wording[0],
            "wording_rows": features.wording[1],
            "about": features.page,
            "groups": np.stack([*(features.above[level] for level in GROUPS), features.like]),
            "weight": features.weight,
        }
        found = _native.noise_sums(
            page,
            vocabulary=self.vocabulary,
            neighbours=list(NEIGHBOURS),
            windows=list(WINDOWS),
            nets=self.nets_in_whole,
        )
        return np.asarray(found.sum(axis=1) / (STEPS * _FLOW))


def _in_whole_numbers(arrays: dict[str, npt.NDArray[Any]], net: int) -> list[_Whole] | None:
    """Layers as the native core takes them; None where a sum may be beyond int32."""
    tables = sum(arrays[name].shape[1] for name in ("near", "path", "wording", "page"))
    found = []
    for part in _PARTS:
        weights = arrays[f"{net}_{part}_weight"].astype(np.int64)
        bias = arrays[f"{net}_{part}_bias"].astype(np.int64)
        most = np.full(len(weights), int(_MOST * _FLOW))
        if part == "in":
            most[:] = int(8 * _FLOW)  # of features; of words it is 2
            most[len(most) - tables :] = int(2 * _FLOW)
        if (most @ np.abs(weights) + np.abs(bias) * int(_FLOW)).max() >= 2**31 or np.abs(weights).max() >= 2**15:
            return None
        found.append((np.ascontiguousarray(weights.T.astype(np.int16)), bias.astype(np.int32)))
    return found


def _layer(values: F64, weights: tuple[F64, F64]) -> F64:
    return np.asarray(np.rint(np.clip(_product(values, *weights), 0, _MOST) * _FLOW) / _FLOW)


def _product(values: F64, weight: F64, bias: F64) -> F64:
    """``values @ weight + bias``, in slabs of rows that OpenBLAS does not deal out to threads: a page is too small to
    wait for them, and readers have threads of their own (with other work on the machine a product took 19 ms, so .2).
    """
    rows = max(8, _ALONE // weight.size)
    found = np.empty((len(values), weight.shape[1]))
    for first in range(0, len(values), rows):
        np.matmul(values[first : first + rows], weight, out=found[first : first + rows])
    found += bias
    return found


def _means_of_elements(vectors: F64, offsets: I64, rows: I64) -> F64:
    """The mean vector of the words of elements ``rows`` (int64[levels, b], -1: none) of each block."""
    running = _running(vectors)
    sums = np.concatenate([running[offsets[1:]] - running[offsets[:-1]], np.zeros((1, vectors.shape[1]))])
    many = np.append(np.diff(offsets), 0)
    total, count = sums[rows[0]], many[rows[0]]
    for each in rows[1:]:
        total += sums[each]
        count += many[each]
    return np.asarray(np.rint(total / np.maximum(count, 1)[:, None] * _FLOW) / _FLOW)


def _means(table: F64, known: npt.NDArray[np.uint32], values: npt.NDArray[np.uint32], owner: I64, count: int) -> F64:
    """The mean vector of the known words of each block, 0 without any."""
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
    """Which blocks see each other, of one page."""

    def __init__(self, features: NoiseFeatures) -> None:
        count = self.count = len(features.weight)
        at = np.arange(count)
        self.beside = [np.where((at + step >= 0) & (at + step < count), at + step, count) for step in NEIGHBOURS]
        self.windows = [(np.maximum(at - size, 0), np.minimum(at + size + 1, count)) for size in WINDOWS]
        self.groups = []
        for group in (*(features.above[level] for level in GROUPS), features.like):
            order = np.argsort(group, kind="stable")
            ordered = group[order]
            starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
            many = np.diff(np.append(starts, count))
            back = np.empty(count, np.int64)
            back[order] = np.repeat(np.arange(len(starts)), many)
            self.groups.append((order, starts, many.astype(np.float64)[:, None], back))
        self.weight = (features.weight + 1)[:, None]

    def seen(self, shared: F64) -> list[F64]:
        """What each block sees of the others' summaries, float64[b, c] each."""
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


@functools.lru_cache(maxsize=4)
def load(path: str | Path = SHIPPED) -> NoiseModel:
    """The model in a folder, loaded once."""
    return NoiseModel(path)
