"""What one call of the engine computes: a method with its options and the budget that all methods share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    IntArray = npt.NDArray[np.int64]
    FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Plan:
    """Options of the engine, all of them resolved: no "auto", no None. A budget of 0 is none."""

    method: str
    wrap: bool = True
    unit: str = "tokens"
    size: int = 0
    separators: tuple[str, ...] = ()
    threshold: str = "percentile"
    threshold_value: float = 20.0
    window: int = 1
    summary: str = "extractive"
    k: float = 0.0
    max_tokens: int = 0
    min_tokens: int = 0
    overlap: int = 0
    chunk_vectors: bool = False
    sentence_vectors: bool = False

    @property
    def needs_vectors(self) -> bool:
        """Whether sentence vectors must be computed or given."""
        return self.method in ("semantic", "cluster", "pic") or self.chunk_vectors or self.sentence_vectors

    def with_(self, **changes: Any) -> Plan:
        """A copy with some fields changed."""
        return replace(self, **changes)


class TokenTable(Protocol):
    """What the engine needs of the static encoder."""

    @property
    def vocabulary(self) -> list[str]: ...
    @property
    def tokenizer_options(self) -> dict[str, Any]: ...
    @property
    def table(self) -> npt.NDArray[np.int8]: ...


class ForeignTokenizer(TokenTable, Protocol):
    """A tokenizer that is not WordPiece, for counts: see ``foreign`` in csrc/bindings.cc. It has no table."""

    def count_spans(self, text: bytes, bounds: IntArray, byte_spans: bool) -> tuple[IntArray, IntArray | None]: ...


class PairHead(Protocol):
    """A small network on pairs of static vectors: see csrc/pair_head.h for the shapes."""

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


@dataclass(frozen=True)
class Template:
    """What a model wants around its sentences; BERT: ``[CLS] a [SEP] b [SEP]``."""

    prefix: tuple[int, ...]
    middle: tuple[int, ...]
    suffix: tuple[int, ...]
    pad: int
    max_length: int


@dataclass(frozen=True)
class Request:
    """A batch of documents and all that the plan needs to know of them. Ragged values are (values, offsets)."""

    text: npt.NDArray[np.uint8]
    offsets: IntArray
    plan: Plan
    #: Counts tokens, and holds the table that makes vectors natively.
    encoder: TokenTable | None = None
    ids: pa.Array | None = None
    sentence_starts: tuple[IntArray, IntArray] | None = None
    vectors: tuple[FloatArray, IntArray] | None = None
    #: Vectors of the same sentences by another encoder, for the table alone.
    table_vectors: tuple[FloatArray, IntArray] | None = None
    #: Whether ``vectors`` are those of the encoder's own table, which can encode parts of sentences, too.
    vectors_of_table: bool = False
    #: How much each sentence belongs to the one before: nsp's probabilities, or adjacent cosines that a GPU computed.
    pair_scores: tuple[FloatArray, IntArray] | None = None
    #: nsp: the network that makes probabilities from static vectors.
    pair_head: PairHead | None = None
    #: pic on a GPU: cosine of each sentence to the summary, its label, and the offsets of each document's.
    summary_scores: tuple[FloatArray, npt.NDArray[np.int8], IntArray] | None = None
    summaries: pa.LargeStringArray | FloatArray | None = None
    page_starts: tuple[IntArray, IntArray] | None = None
    first_row: int = 0
    threads: int = 1

    @property
    def documents(self) -> int:
        return len(self.offsets) - 1

    def only_sentences(self) -> Request:
        """The same documents, with given sentences and pages, for their sentences alone."""
        return Request(
            self.text,
            self.offsets,
            Plan("sentence", wrap=self.plan.wrap),
            sentence_starts=self.sentence_starts,
            page_starts=self.page_starts,
            first_row=self.first_row,
            threads=self.threads,
        )
