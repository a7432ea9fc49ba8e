"""Where topics begin, from sentence vectors and text: a small network (``training/topic.py``)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from .._util.weights import read_weights
from . import static_encoder
from .model_cache import loaded

F32 = npt.NDArray[np.float32]
FACTS = "topic.json"
#: In the order in which the engine takes them; csrc/vectors/topic.h says what each is.
PARTS = ("vectors", "inputs", "first", "second", "bias", "out", "skip")


class TopicModel:
    """Weights of the network and the thresholds that give wished lengths; csrc/vectors/topic.h says what it computes.

    Args:
        path: directory with ``topic.json`` and the weights that it names; default: the one that pychunk ships.

    Raises:
        ValueError: a file is missing, damaged, or of a newer format.
    """

    def __init__(self, path: str | Path = static_encoder.SHIPPED) -> None:
        self.path = Path(path)
        remedy = "train it again with python -m training.topic in a checkout, or install pychunk again"
        needed = ("encoder", "dilations", "thresholds")
        self.facts, held = read_weights(self.path / FACTS, "topic model", remedy, needed)
        self.words: npt.NDArray[np.uint64] = np.ascontiguousarray(held.pop("words"), np.uint64)
        floats = {name: np.ascontiguousarray(value, np.float32) for name, value in held.items()}
        self.dilations: list[int] = [int(each) for each in self.facts["dilations"]]
        self.parts: list[F32] = [floats[name] for name in PARTS]
        layers = range(len(self.dilations))
        self.layers: list[F32] = [floats[f"{part}_{i}"] for i in layers for part in ("layer", "bias")]
        self.out_bias = float(floats["out_bias"].item())

    @property
    def name(self) -> str:
        return str(self.facts["name"])

    @property
    def fingerprint(self) -> str:
        """Names the network and its exact weights."""
        return f"{self.name}:{self.facts['weights_sha256'][:16]}"

    def check_encoder(self, fingerprint: str) -> None:
        """ValueError unless the vectors of that encoder are those that it was trained on."""
        wanted = self.facts["encoder"]
        if fingerprint != wanted:
            raise ValueError(
                f"the topic model in {self.path} is for vectors of {wanted}, but these are of {fingerprint}; pass the "
                "encoder that it was trained on, or train one, in a checkout: python -m training.topic "
                "--encoder NAME --out DIR, then model=DIR"
            )

    def threshold(self, size: float) -> float:
        """The affinity under which cuts give chunks of ``size`` tokens on the average, on articles that nothing was
        learned from; between and beyond the sizes that were measured on a line over the logarithm of the size."""
        sizes, found = zip(*self.facts["thresholds"], strict=True)
        return float(np.interp(np.log2(size), np.log2(sizes), found))


def load(path: str | Path = static_encoder.SHIPPED) -> TopicModel:
    """The model in a directory, loaded once."""
    return loaded(path, FACTS, lambda: TopicModel(path), TopicModel)
