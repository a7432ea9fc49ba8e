"""The class Vectors: which vectors a call returns, and which encoder makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .methods.base import check_flag

if TYPE_CHECKING:
    from .encoders.registry import EncoderLike


@dataclass(frozen=True, repr=False)
class Vectors:
    """The vectors that a call returns with its chunks.

    Attributes:
        of: ``"chunk"`` for one vector of each chunk, in the column ``vector``; ``"sentence"`` for one vector of each
            sentence, in the column ``sentences``.
        encoder: The encoder of these vectors, if it is not the one that the method uses: ``"static"``, a name from
            ``pychunk model list``, a folder that ``pychunk export`` wrote, or a :class:`pychunk.Encoder`. Default: the
            method's encoder; for ``nsp`` by a cross-encoder the static one.
        late_chunking: Whether the encoder reads whole documents in place of single sentences. The vector of a sentence
            is then the mean of its tokens' states, so it depends on the text around the sentence. The method's cuts do
            not change. Only for transformers with mean pooling.

    Example:
        >>> import pychunk
        >>> chunks = pychunk.segment("One. Two.", "sentence", vectors=pychunk.Vectors("chunk", "static"))
        >>> chunks.vectors.shape
        (2, 256)
    """

    of: Literal["chunk", "sentence"] = "chunk"
    encoder: EncoderLike | None = None
    late_chunking: bool = False

    def __repr__(self) -> str:
        late = ", late_chunking=True" if self.late_chunking else ""
        return f"Vectors(of={self.of!r}, encoder={self.encoder!r}{late})"

    def __post_init__(self) -> None:
        check_flag("late_chunking", self.late_chunking)
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
