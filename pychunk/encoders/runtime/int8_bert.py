"""A BERT whose products are of bytes, in pychunk's own core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._engine import native
from ..files.bert_weights import LAYER, BertWeights, read_weights
from .sessions import IDS, MASK, TYPES, Input, Session


class Int8Session(Session):
    """A BERT that pychunk exported, with products in 8 bits.

    A row of tokens becomes bytes with a scale for each 128 of its numbers, so that a text's vector does not depend on
    the texts around it. Sums are of integers, and all other steps are in float32 in a fixed order: every instruction
    set gives the same bits.

    Raises:
        ValueError: The graph is not a BERT that pychunk wrote, or has weights or sizes that bytes cannot hold. The
            message has the remedy.
    """

    runtime = "pychunk"
    arithmetic = "int8"

    def __init__(self, path: Path) -> None:
        found = read_weights(path)
        try:
            self._bert = native.int8_bert(
                _arrays(found), found.heads, found.epsilon, found.approximate == "tanh", found.first_token_only
            )
        except ValueError as error:
            raise ValueError(f"{path} cannot run with precision='int8': {error}; pass precision='auto'") from error
        self.version = f"pychunk {native.version}"
        self.inputs = [Input("ids", IDS, np.int32), Input("mask", MASK, np.int32), Input("types", TYPES, np.int32)]
        self.rank = 2 if found.classes else 3
        self.dim = found.classes or found.dim

    def run(self, tensors: dict[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return the output for the tensors "ids", "mask" and "types", as float32."""
        mask = tensors["mask"]
        lengths = mask.sum(axis=1, dtype=np.int32)
        if ((np.arange(mask.shape[1]) < lengths[:, None]) != mask).any():
            raise ValueError("the mask must be ones, then zeros, in each row; got another one")
        return self._bert.forward(tensors["ids"], lengths, tensors["types"])


def _arrays(found: BertWeights) -> list[npt.NDArray[np.float32]]:
    """Return all weights in the order of the fields of ``csrc/bert/bert.h``."""
    stored = found.arrays
    positions = stored["embeddings.position_embeddings.weight"]
    arrays = [
        stored["embeddings.word_embeddings.weight"],
        positions + stored["embeddings.token_type_embeddings.weight"][:, None],
        stored["embeddings.LayerNorm.weight"],
        stored["embeddings.LayerNorm.bias"],
    ]
    names = [f"encoder.layer.{i}.{name}" for i in range(found.layers) for name in LAYER]
    for name in [*names, *(("pooler", "classifier") if found.classes else ())]:
        arrays += [stored[f"{name}.weight"], stored[f"{name}.bias"]]
    return arrays
