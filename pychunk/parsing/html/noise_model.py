"""The network that distinguishes noise from content in pages; ``training/noise.py`` trains it."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._engine.engine import backend_name, engine
from ..._util.weights import read_weights

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from .noise_features import NoiseFeatures

    F64 = npt.NDArray[np.float64]
    I64 = npt.NDArray[np.int64]
    _Layer = tuple[npt.NDArray[Any], npt.NDArray[Any]]

SHIPPED = Path(__file__).resolve().parents[2] / "models"
FACTS, WEIGHTS = "noise.json", "noise.npz"
#: Weights are multiples of 1 / STEPS, below 16; word vectors have multiples of 1 / WORD_STEPS, below 2.
STEPS, WORD_STEPS = 1024, 64
#: The values between layers are multiples of 1 / 256, at most 64.
_FLOW, _MOST = 256.0, 64.0
#: The neighbours of a block whose summaries are inputs for it, by their distance, and the windows whose mean summaries
#: are inputs, too, by the number of blocks on each side.
NEIGHBOURS, WINDOWS = (-1, 1, -2, 2), (3, 12)
#: The levels of the tree whose elements' means are inputs for a block.
GROUPS = (0, 1, 3)
#: The layers of a network, in the order in which they are applied.
_PARTS = ("in", "share", "mix", "share2", "mix2", "out", "out2")


class NoiseModel:
    """A model that computes the probability that each block of a page is content.

    A block's features and the mean vectors of its words pass through a layer. The blocks exchange a summary of that
    layer with neighbours, blocks in the same elements, blocks with the same names, and the whole page. A second layer
    follows. Then the exchange and a further layer are repeated once.

    All numbers are multiples of a power of two, so sums of products are exact in float64, in any order. The scores are
    therefore the same on every machine, for any number of threads.

    Args:
        path: The folder with ``noise.json`` and ``noise.npz``. Default: the model that pychunk ships.

    Raises:
        ValueError: A file is missing, damaged, or of a newer format.
    """

    def __init__(self, path: str | Path = SHIPPED) -> None:
        self.facts, arrays = read_weights(Path(path) / FACTS, "model of noise", "install pychunk again", ("scale",))
        self.take(arrays)

    @classmethod
    def of(cls, arrays: dict[str, npt.NDArray[Any]], facts: dict[str, Any]) -> NoiseModel:
        """Return a model made from arrays in memory."""
        made = cls.__new__(cls)
        made.facts = facts
        made.take(arrays)
        return made

    def take(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        """Convert weights from the stored form and use them as this model's weights."""
        names, wordings, pages = arrays["names"], arrays["wordings"], arrays["pages"]
        known = {"near": names, "path": names, "wording": wordings, "page": pages}
        self.vocabulary = [(known[name], arrays[name].astype(np.int16)) for name in known]
        nets = [_in_whole_numbers(arrays, net) for net in range(int(arrays["nets"]))]
        self.nets = [layers for layers, _ in nets]
        self._networks: dict[str, Callable[[dict[str, npt.NDArray[Any]]], I64]] = {}
        #: True if all sums fit the native core's int32; otherwise the reference engine computes the network.
        self.is_small = all(small for _, small in nets)

    def __getstate__(self) -> dict[str, Any]:
        # Another process makes its own.
        return {**vars(self), "_networks": {}}

    def content(self, features: NoiseFeatures) -> F64:
        """Return the probability that each block is content: float64[b], in multiples of 1 / 1024."""
        count = len(features.weight)
        if not count:
            return np.zeros(0)
        total = self.sums(features, None if self.is_small else "reference")
        scale = float(self.facts["scale"]) / len(self.nets)
        return np.rint(1024 / (1 + np.exp(np.clip(-total * scale, -30, 30)))) / 1024

    def sums(self, features: NoiseFeatures, backend: str | None = None) -> F64:
        """Return float64[b]: the sums before the logistic function, from the engine ``backend``."""
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
        return np.asarray(self._network(backend)(page).sum(axis=1) / (STEPS * _FLOW))

    def _network(self, backend: str | None) -> Callable[[dict[str, npt.NDArray[Any]]], I64]:
        """Return the function of an engine that computes the networks' outputs."""
        backend = backend or backend_name()
        if backend not in self._networks:
            self._networks[backend] = engine(backend).noise_network(
                vocabulary=self.vocabulary,
                neighbours=list(NEIGHBOURS),
                windows=list(WINDOWS),
                nets=self.nets,
                groups=len(GROUPS) + 1,
            )
        return self._networks[backend]


def _in_whole_numbers(arrays: dict[str, npt.NDArray[Any]], net: int) -> tuple[list[_Layer], bool]:
    """Return a net's layers as integers, and whether all their sums fit into int32, which the native core uses."""
    tables = sum(arrays[name].shape[1] for name in ("near", "path", "wording", "page"))
    found: list[_Layer] = []
    small = True
    for part in _PARTS:
        weights = arrays[f"{net}_{part}_weight"].astype(np.int64)
        bias = arrays[f"{net}_{part}_bias"].astype(np.int64)
        most = np.full(len(weights), int(_MOST * _FLOW))
        if part == "in":
            most[:] = int(8 * _FLOW)  # features are below 8, and word vectors below 2
            most[len(most) - tables :] = int(2 * _FLOW)
        sums = (most @ np.abs(weights) + np.abs(bias) * int(_FLOW)).max()
        small &= bool(sums < 2**31 and np.abs(weights).max() < 2**15)
        found.append((np.ascontiguousarray(weights.T), bias))
    if not small:
        return found, False
    return [(weights.astype(np.int16), bias.astype(np.int32)) for weights, bias in found], True


@functools.lru_cache(maxsize=4)
def load(path: str | Path = SHIPPED) -> NoiseModel:
    """Return the model in a folder, which is loaded once."""
    return NoiseModel(path)
