"""The compression encoder, which computes the vector of a large span from its sentences' vectors, without a summary.

Learned queries attend over the sentences. The input for each sentence is its vector, position and length, and the
number of sentences. A residual map of low rank then moves the weighted mean of the sentences to where the vector of a
lead, the span's first sentences, would be. ``python -m training.compressor`` trains the weights.

Source: Zhang et al., "SmartChunk Retrieval" (2026), section 4.3.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._engine.engine import Engine
from .._util.weights import read_weights
from ..encoders import static_encoder
from ..encoders.model_cache import loaded

if TYPE_CHECKING:
    import numpy.typing as npt

    F32 = npt.NDArray[np.float32]
    I64 = npt.NDArray[np.int64]

FACTS = "compressor.json"
#: The folders of the compressors that pychunk ships, each for another encoder.
SHIPPED = (static_encoder.SHIPPED, static_encoder.SHIPPED / "compressor-minilm")
#: The names of the weights' arrays, in the order of csrc/vectors/compressor.h.
PARTS = ("queries", "places", "mix", "down", "up", "bias")


class Compressor:
    """A compression encoder for the vectors of one encoder.

    Args:
        path: The folder with ``compressor.json`` and the weights that it names. The default is the one that pychunk
            ships for the static encoder.

    Raises:
        ValueError: A file is missing, damaged, or of a newer format.
    """

    def __init__(self, path: str | Path = static_encoder.SHIPPED) -> None:
        self.path = Path(path)
        remedy = (
            f"train it again with python -m training.compressor --encoder NAME --out {self.path} in a checkout, or "
            "install pychunk again if it came with it"
        )
        self.facts, stored = read_weights(self.path / FACTS, "compressor", remedy, ("encoder",))
        self.parts: tuple[F32, ...] = tuple(stored[name].astype(np.float32) for name in PARTS)

    @property
    def fingerprint(self) -> str:
        """The name of the compressor and the checksum of its weights, as the metadata of tables state them."""
        return f"{self.facts['name']}:{self.facts['weights_sha256'][:16]}"

    def check_encoder(self, vectors: Any) -> None:
        """Raise an error unless the vectors come from the encoder that the compressor was made for.

        Args:
            vectors: The fingerprint of the encoder of the vectors, or None.

        Raises:
            ValueError: The encoders differ. The message names both.
        """
        wanted = self.facts["encoder"]
        if vectors != wanted:
            raise ValueError(
                f"the compressor in {self.path} is for vectors of {wanted}; these are of "
                f"{vectors or 'no known encoder'}. Pass pooling='tokens', or train a compressor for them in a checkout "
                "with python -m training.compressor --encoder NAME --out DIR"
            )

    def vectors(
        self,
        sentences: F32,
        tokens: I64,
        doc_offsets: I64,
        spans: Sequence[tuple[I64, I64]],
        engine: Engine,
        threads: int,
    ) -> list[F32]:
        """Return for each level the vectors of its nodes, float32[nodes, d], of unit length.

        Args:
            sentences: The vectors of the sentences, float32[n, d], of unit length.
            tokens: The token counts of the sentences, int64[n].
            doc_offsets: The first sentence of each of the k documents, then n, int64[k + 1].
            spans: For each level, the first sentence of each node and the sentence after its last, int64[nodes] each.
            engine: The engine that computes the vectors.
            threads: The number of threads.
        """
        return engine.compressed_vectors(self.parts, sentences, tokens, doc_offsets, spans, threads=threads)


def compressor(path: str | Path = static_encoder.SHIPPED) -> Compressor:
    """Return the compressor in a directory, which is loaded only once."""
    return loaded(path, FACTS, lambda: Compressor(path), Compressor)


def shipped_for(vectors: Any) -> Compressor:
    """Return the compressor that pychunk ships for the encoder whose fingerprint is ``vectors``.

    Raises:
        ValueError: There is none. The message names the encoders for which compressors are shipped.
    """
    found = {model.facts["encoder"]: model for model in map(compressor, SHIPPED)}
    if vectors not in found:
        raise ValueError(
            f"the compressors that are shipped are for vectors of {' and of '.join(found)}; these are of "
            f"{vectors or 'no known encoder'}. Pass pooling='tokens', or train a compressor for them in a checkout "
            "with python -m training.compressor --encoder NAME --out DIR"
        )
    return found[vectors]


def check_not_late(facts: Mapping[str, Any]) -> None:
    """Raise an error if vectors were made by late chunking, because compressors were trained on other vectors.

    Args:
        facts: The metadata of the vectors' table or hierarchy.

    Raises:
        ValueError: The vectors were made by late chunking.
    """
    if facts.get("late_chunking"):
        raise ValueError(
            "a compressor is trained on vectors of sentences read one by one, and these were made by late chunking: "
            "pass pooling='tokens', or leave out late_chunking=True"
        )


def check_pooling(pooling: str | Path) -> None:
    """Raise an error unless ``pooling`` is valid for the vectors of at least one encoder.

    Raises:
        ValueError: ``pooling`` is invalid.
    """
    if isinstance(pooling, (str, Path)) and os.path.isdir(pooling):
        compressor(pooling)
    elif pooling not in ("tokens", "compressor"):
        raise ValueError(f"pooling must be 'tokens', 'compressor' or the folder of a compressor; got {pooling!r:.80}")


def compressor_for(pooling: str | Path, vectors: Any) -> Compressor | None:
    """Return the compressor that ``pooling`` names, or None for ``"tokens"``.

    ``"compressor"`` names the shipped compressor for the vectors. Any other value names a folder.

    Args:
        pooling: ``"tokens"``, ``"compressor"`` or the folder of a compressor.
        vectors: The fingerprint of the encoder of the vectors, or None.

    Raises:
        ValueError: ``pooling`` is invalid, or names a compressor for the vectors of another encoder.
    """
    check_pooling(pooling)
    if pooling == "tokens":
        return None
    if pooling == "compressor":
        return shipped_for(vectors)
    model = compressor(pooling)
    model.check_encoder(vectors)
    return model
