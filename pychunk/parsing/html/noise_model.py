"""The network that tells noise from content in pages, and its arithmetic (``training/noise.py``)."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._engine.engine import engine
from ..._util.weights import read_weights

if TYPE_CHECKING:
    import numpy.typing as npt

    from .noise_features import NoiseFeatures

    F64 = npt.NDArray[np.float64]
    I64 = npt.NDArray[np.int64]
    _Layer = tuple[npt.NDArray[Any], npt.NDArray[Any]]

SHIPPED = Path(__file__).resolve().parents[2] / "models"
FACTS, WEIGHTS = "noise.json", "noise.npz"
#: Weights are multiples of 1 / this, below 16; those of words of 1 / WORD_STEPS, below 2.
STEPS, WORD_STEPS = 1024, 64
#: What flows between layers: multiples of 1 / 256, at most 64.
_FLOW, _MOST = 256.0, 64.0
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
        names, wordings, pages = arrays["names"], arrays["wordings"], arrays["pages"]
        known = {"near": names, "path": names, "wording": wordings, "page": pages}
        self.vocabulary = [(known[name], arrays[name].astype(np.int16)) for name in known]
        nets = [_in_whole_numbers(arrays, net) for net in range(int(arrays["nets"]))]
        self.nets = [layers for layers, _ in nets]
        #: Whether the native core can add it all up; a network that is beyond it is left to the reference.
        self.is_small = all(small for _, small in nets)

    def content(self, features: NoiseFeatures) -> F64:
        """float64[b]: how likely each block is content, in multiples of 1 / 1024."""
        count = len(features.weight)
        if not count:
            return np.zeros(0)
        total = self.sums(features, None if self.is_small else "reference")
        scale = float(self.facts["scale"]) / len(self.nets)
        return np.rint(1024 / (1 + np.exp(np.clip(-total * scale, -30, 30)))) / 1024

    def sums(self, features: NoiseFeatures, backend: str | None = None) -> F64:
        """float64[b]: sums before the logistic function, by the engine of a name."""
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
        found = engine(backend).noise_sums(
            page,
            vocabulary=self.vocabulary,
            neighbours=list(NEIGHBOURS),
            windows=list(WINDOWS),
            nets=self.nets,
        )
        return np.asarray(found.sum(axis=1) / (STEPS * _FLOW))


def _in_whole_numbers(arrays: dict[str, npt.NDArray[Any]], net: int) -> tuple[list[_Layer], bool]:
    """Return layers of whole numbers, and whether every sum fits into int32, which is what the native core takes."""
    tables = sum(arrays[name].shape[1] for name in ("near", "path", "wording", "page"))
    found: list[_Layer] = []
    small = True
    for part in _PARTS:
        weights = arrays[f"{net}_{part}_weight"].astype(np.int64)
        bias = arrays[f"{net}_{part}_bias"].astype(np.int64)
        most = np.full(len(weights), int(_MOST * _FLOW))
        if part == "in":
            most[:] = int(8 * _FLOW)  # of features; of words it is 2
            most[len(most) - tables :] = int(2 * _FLOW)
        sums = (most @ np.abs(weights) + np.abs(bias) * int(_FLOW)).max()
        small &= bool(sums < 2**31 and np.abs(weights).max() < 2**15)
        found.append((np.ascontiguousarray(weights.T), bias))
    if not small:
        return found, False
    return [(weights.astype(np.int16), bias.astype(np.int32)) for weights, bias in found], True


@functools.lru_cache(maxsize=4)
def load(path: str | Path = SHIPPED) -> NoiseModel:
    """The model in a folder, loaded once."""
    return NoiseModel(path)
