"""The interfaces of models that the engine needs: token tables, tokenizers and small networks on static vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .tokens import Tokens

    IntArray = npt.NDArray[np.int64]
    FloatArray = npt.NDArray[np.float32]


class TableOfRows(Protocol):
    """A table with a row for each token, int8[t, d]."""

    @property
    def table(self) -> npt.NDArray[np.int8]: ...


class TokenTable(TableOfRows, Protocol):
    """The tokenizer and table of the static encoder, or the tokenizer of another encoder, with an empty table."""

    @property
    def vocabulary(self) -> list[str]: ...
    @property
    def tokenizer_options(self) -> dict[str, Any]: ...
    def tokens_of(self, text: npt.NDArray[np.uint8], bounds: IntArray, threads: int = 1) -> Tokens: ...


class TokenCounter(Protocol):
    """A tokenizer that counts the tokens of limits and sizes; see csrc/tokens/token_counter.h.

    ``core`` is a tokenizer of the native core that counts. If it is None, ``count_spans`` does: it returns the number
    of tokens of each span ``text[bounds[i]:bounds[i + 1]]`` of UTF-8, without white space at its ends.
    """

    @property
    def core(self) -> Any: ...
    def count_spans(self, text: bytes, bounds: IntArray) -> IntArray: ...


class KeptSentences(Protocol):
    """The sentences of an edited document, with the tokens and vectors that the core computed for it.

    ``keep`` sets the spans that the next document takes over, int64[k, 3]: rows of (first byte before the edit, first
    byte after it, length). They are in order, and do not overlap.
    """

    def keep(self, spans: IntArray) -> None: ...


class PairHead(Protocol):
    """A small network on pairs of static vectors. csrc/vectors/nsp_head.h has the shapes."""

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
    """A small network on the vectors and the text of sentences. csrc/vectors/topic.h has the shapes.

    ``parts`` holds the arrays vectors, inputs, first, second, bias, out and skip. ``layers`` holds the weights and the
    bias of each layer, one layer after the other. ``words`` holds the words at the beginning of a sentence that the
    network knows, as the first 8 bytes of each, uint64.
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
    """The tokens that a model expects around its sentences. BERT expects ``[CLS] a [SEP] b [SEP]``."""

    prefix: tuple[int, ...]
    middle: tuple[int, ...]
    suffix: tuple[int, ...]
    pad: int
    max_length: int
