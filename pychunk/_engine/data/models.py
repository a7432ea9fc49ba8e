"""What the engine needs of models: token tables, tokenizers and the network on pairs of static vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .tokens import Tokens

    IntArray = npt.NDArray[np.int64]
    FloatArray = npt.NDArray[np.float32]


class TokenTable(Protocol):
    """What the engine needs of the static encoder, or of the tokenizer of another: then the table is empty."""

    @property
    def vocabulary(self) -> list[str]: ...
    @property
    def tokenizer_options(self) -> dict[str, Any]: ...
    @property
    def table(self) -> npt.NDArray[np.int8]: ...
    def tokens_of(self, text: npt.NDArray[np.uint8], bounds: IntArray, threads: int = 1) -> Tokens: ...


class ForeignTokenizer(TokenTable, Protocol):
    """A tokenizer that is not WordPiece, for counts: see ``foreign`` in csrc/python/bindings.cc. It has no table."""

    def count_spans(self, text: bytes, bounds: IntArray, byte_spans: bool) -> tuple[IntArray, IntArray | None]: ...


class PairHead(Protocol):
    """A small network on pairs of static vectors: see csrc/vectors/nsp_head.h for the shapes."""

    @property
    def first(self) -> FloatArray: ...
    @property
    def second(self) -> FloatArray: ...
    @property
    def product(self) -> FloatArray: ...
    @property
    def bias(self) -> FloatArray: ...
    @property
    def out(self) -> FloatArray: ...
    @property
    def out_bias(self) -> float: ...


class TopicHead(Protocol):
    """A small network on the vectors and the text of sentences: see csrc/vectors/topic.h for the shapes.

    ``parts``: vectors, inputs, first, second, bias, out, skip. ``layers``: weights and bias of each, one after the
    other. ``words``: uint64, the first 8 bytes of the words that sentences begin with.
    """

    @property
    def parts(self) -> list[FloatArray]: ...
    @property
    def layers(self) -> list[FloatArray]: ...
    @property
    def dilations(self) -> list[int]: ...
    @property
    def out_bias(self) -> float: ...
    @property
    def words(self) -> npt.NDArray[np.uint64]: ...


@dataclass(frozen=True)
class Template:
    """What a model wants around its sentences; BERT: ``[CLS] a [SEP] b [SEP]``."""

    prefix: tuple[int, ...]
    middle: tuple[int, ...]
    suffix: tuple[int, ...]
    pad: int
    max_length: int
