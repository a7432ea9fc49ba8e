"""The class Vectors: which vectors a call returns, and which encoder makes them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Vectors:
    """The vectors that a call returns with its chunks.

    Attributes:
        of: ``"chunk"`` for one vector of each chunk, in the column ``vector``; ``"sentence"`` for one vector of each
            sentence, in the column ``sentences``.
        encoder: The encoder of these vectors, if it is not the one that the method uses: ``"static"``, a name from
            ``pychunk model list``, or a folder that ``pychunk export`` wrote. Default: the method's encoder; for
            ``nsp`` the static one.

    Example:
        >>> import pychunk
        >>> chunks = pychunk.segment("One. Two.", "sentence", vectors=pychunk.Vectors("chunk", "static"))
        >>> chunks.vectors.shape
        (2, 256)
    """

    of: Literal["chunk", "sentence"] = "chunk"
    encoder: str | Path | None = None

    def __post_init__(self) -> None:
        if self.of not in ("chunk", "sentence"):
            raise ValueError(f"vectors must be 'chunk' or 'sentence'; got {self.of!r:.80}")


def vectors_of(value: Vectors | str | None) -> Vectors | None:
    """Return the vectors that an argument asks for; None if it asks for none.

    Raises:
        ValueError: The value is an unknown name.
        TypeError: The value is neither None nor a name nor a :class:`Vectors`.
    """
    if value is None or isinstance(value, Vectors):
        return value
    if not isinstance(value, str):
        raise TypeError(
            f"vectors must be None, 'chunk', 'sentence' or a pychunk.Vectors; got {type(value).__name__}: vectors of "
            "your own belong in columns={'sentence_vectors': ...}"
        )
    if value not in ("chunk", "sentence"):
        raise ValueError(f"vectors must be None, 'chunk' or 'sentence'; got {value!r:.80}")
    return Vectors("chunk" if value == "chunk" else "sentence")
