"""A small network that computes next-sentence probabilities from static vectors."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from .._util.lazy_imports import LazyModule
from .._util.weights import read_weights
from . import static_encoder
from .model_cache import loaded, read

#: The tables of other tokenizers, which few programs use.
piece_encoder = LazyModule("pychunk.encoders.piece_encoder")

F32 = npt.NDArray[np.float32]
FACTS = "nsp_static.json"


class StaticPairs:
    """The weights of a next-sentence network, with the static encoder whose vectors the network reads.

    csrc/vectors/nsp_head.h describes what the network computes. ``first``, ``second`` and ``product`` are
    float32[hidden, dim], ``bias`` and ``out`` float32[hidden].

    Raises:
        ValueError: A file is missing, damaged, of a newer format, or made for another static encoder.
    """

    #: The engine computes this network itself.
    in_engine: ClassVar[Literal[True]] = True

    def __init__(self, path: Path = static_encoder.SHIPPED, remedy: str = static_encoder.REMEDY) -> None:
        file = path / FACTS
        what = "next-sentence network for static vectors"
        self.facts, stored = read_weights(file, what, remedy, ("encoder", "threshold"))
        pieces = None if path == static_encoder.SHIPPED else piece_encoder.load(path, remedy)
        self.encoder = pieces or static_encoder.load(path)
        if self.facts["encoder"] != self.encoder.fingerprint:
            raise ValueError(
                f"{file} is for {self.facts['encoder']}, but {self.encoder.fingerprint} is in {path}; {remedy}"
            )
        parts = {name: np.ascontiguousarray(value, np.float32) for name, value in stored.items()}
        self.first, self.second, self.product = parts["first"], parts["second"], parts["product"]
        self.bias, self.out, self.out_bias = parts["bias"], parts["out"], parts["out_bias"].item()

    @property
    def name(self) -> str:
        """The name of the network."""
        return str(self.facts["name"])

    @property
    def fingerprint(self) -> str:
        """The name of the network with a hash of its weights."""
        return f"{self.name}:{self.facts['weights_sha256'][:16]}"

    @property
    def threshold(self) -> float:
        """The threshold stored with the network: its mean probability of neighbours in the text it learned from."""
        return float(self.facts["threshold"])


def load(path: Path = static_encoder.SHIPPED, remedy: str = static_encoder.REMEDY) -> StaticPairs:
    """Return the network in a directory, loaded once. Errors end with the remedy."""
    return loaded(path, FACTS, lambda: StaticPairs(path, remedy), StaticPairs, read(path / static_encoder.FACTS))
