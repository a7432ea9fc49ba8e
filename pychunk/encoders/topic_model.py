"""The network that finds where topics begin, from sentences and their vectors; ``training/topic.py`` trains it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from .._util.weights import read_weights
from . import static_encoder
from .model_cache import loaded

F32 = npt.NDArray[np.float32]
FACTS = "topic.json"
#: The weights in the order in which the engine takes them; csrc/vectors/topic.h describes each.
PARTS = ("vectors", "inputs", "first", "second", "bias", "out", "skip")


class TopicModel:
    """The weights of the topic network, and its thresholds for chunks of several sizes.

    csrc/vectors/topic.h describes what the network computes.

    Args:
        path: Directory with ``topic.json`` and the weights that it names; default: the model that pychunk ships.

    Raises:
        ValueError: A file is missing, damaged, or of a newer format.
    """

    def __init__(self, path: str | Path = static_encoder.SHIPPED) -> None:
        self.path = Path(path)
        remedy = (
            f"train it again with python -m training.topic --encoder NAME --out {self.path} in a checkout, or install "
            "pychunk again if it came with it"
        )
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
        """The name of the network."""
        return str(self.facts["name"])

    @property
    def fingerprint(self) -> str:
        """The name of the network with a hash of its weights."""
        return f"{self.name}:{self.facts['weights_sha256'][:16]}"

    def check_encoder(self, fingerprint: str) -> None:
        """Check that the network was trained on vectors of this encoder.

        Raises:
            ValueError: It was trained on vectors of another encoder.
        """
        wanted = self.facts["encoder"]
        if fingerprint != wanted:
            raise ValueError(
                f"the topic model in {self.path} is for vectors of {wanted}, but these are of {fingerprint}: pass "
                "vectors of the former, or train a topic model for the latter in a checkout of pychunk (python -m "
                "training.topic --encoder NAME --out DIR) and pass model=DIR"
            )

    def threshold(self, size: float) -> float:
        """Return the threshold for chunks of ``size`` tokens on average.

        The network computes an affinity for each gap between two sentences. A cut is made at each gap whose affinity is
        below the threshold. Thresholds were measured for several sizes on articles that were held out from training.
        For a size between two of these, the threshold is interpolated linearly over the logarithm of the size. Beyond
        the largest or smallest measured size, the threshold of that size is used.
        """
        sizes, found = zip(*self.facts["thresholds"], strict=True)
        return float(np.interp(np.log2(size), np.log2(sizes), found))


def load(path: str | Path = static_encoder.SHIPPED) -> TopicModel:
    """Return the model in a directory, loaded once."""
    return loaded(path, FACTS, lambda: TopicModel(path), TopicModel)
