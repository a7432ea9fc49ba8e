"""An encoder that sums the rows of a table for the tokens of any tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine import native
from .._engine.arrow import flat_text
from .._engine.data.tokens import Tokens
from .._util.checksums import check
from .._util.model_facts import read_facts
from ..tokenizers import sources
from ..tokenizers.unigram import SentencePieceTokenizer
from . import static_encoder
from .model_cache import loaded

I64 = npt.NDArray[np.int64]
F32 = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Rows:
    """A row for each of t tokens, int8[t, d]."""

    table: npt.NDArray[np.int8]

    @property
    def shape(self) -> tuple[int, int]:
        """The number of tokens and of dimensions."""
        return len(self.table), self.table.shape[1]

    def bags(self, tokens: Tokens, threads: int) -> F32:
        """Return the unit vectors of n runs of tokens, float32[n, d]."""
        return native.embedding_bags(tokens, self, threads=threads)


@dataclass(frozen=True)
class WeightedRows:
    """Rows int16[v, d], and the row of each of t tokens, int32[t], with its weight, float32[t].

    Several tokens may share a row.
    """

    table: npt.NDArray[np.int16]
    of_token: npt.NDArray[np.int32]
    weights: F32

    @property
    def shape(self) -> tuple[int, int]:
        """The number of tokens and of dimensions."""
        return len(self.of_token), self.table.shape[1]

    def bags(self, tokens: Tokens, threads: int) -> F32:
        """Return the unit vectors of n runs of tokens, float32[n, d]."""
        return native.weighted_bags(
            self.table, self.of_token[tokens.ids], self.weights[tokens.ids], tokens.offsets, threads=threads
        )


class PieceEncoder:
    """A table with the tokenizer of its rows.

    The vector of a text is the sum of its tokens' rows times their weights, scaled to unit length.

    Args:
        tokenizer: A ``tokenizer.json``.
        rows: The row of each token.
        name: The name of the encoder.
        fingerprint: The name with a hash of the weights. Vectors of encoders with equal fingerprints can be compared.
        cosine_weight: The weight of its cosines in a hybrid search, relative to those of other encoders.

    Raises:
        ValueError: The tokenizer is missing or damaged.
    """

    #: The engine does not compute this encoder in its own call.
    in_engine: ClassVar[Literal[False]] = False
    #: No result is in doubt, because the vectors are exact on every CPU.
    in_doubt: ClassVar[None] = None

    def __init__(
        self,
        tokenizer: Path,
        rows: Rows | WeightedRows,
        name: str,
        fingerprint: str,
        cosine_weight: float = 1.0,
    ) -> None:
        self.cosine_weight = cosine_weight
        self.path = tokenizer.parent
        found = sources.load(tokenizer)
        # Of the native tokenizers, these two make ids without the package tokenizers.
        self.tokenizer = found if isinstance(found, SentencePieceTokenizer) else sources.of_model(tokenizer)
        self.rows, self.name, self.fingerprint, self._file = rows, name, fingerprint, tokenizer

    @property
    def tokenizer_name(self) -> str:
        """The name of the tokenizer with a hash of its vocabulary."""
        return f"{self._file.name}:{self.tokenizer.fingerprint}"

    @property
    def running(self) -> tuple[str, str]:
        """The runtime and the precision, for metadata."""
        return "native", "fp32"

    @property
    def dim(self) -> int:
        """The number of dimensions of a vector."""
        return self.rows.shape[1]

    def tokens_of(self, text: npt.NDArray[np.uint8], bounds: I64, threads: int | None = None) -> Tokens:
        """Return the tokens of the consecutive spans ``text[bounds[i]:bounds[i + 1]]``."""
        return self.tokenizer.tokens_of(text, bounds, threads or native.default_threads())

    def encode(self, texts: Sequence[str] | pa.Array, *, threads: int | None = None) -> F32:
        """Return unit vectors float32[n, dim] of n texts. A text without a known token has the zero vector."""
        array = texts if isinstance(texts, pa.Array) else pa.array(list(texts), pa.large_string())
        return self.encode_spans(*flat_text(array.cast(pa.large_string())), threads=threads)

    def encode_queries(self, texts: Sequence[str] | pa.Array, *, threads: int | None = None) -> F32:
        """Return the vectors of questions, the same as :meth:`encode`."""
        return self.encode(texts, threads=threads)

    def encode_spans(
        self, text: npt.NDArray[np.uint8], bounds: I64, *, threads: int | None = None, report: Any = None
    ) -> F32:
        """Return unit vectors of the consecutive spans ``text[bounds[i]:bounds[i + 1]]`` of UTF-8, float32[n, dim]."""
        return self.encode_tokens(self.tokens_of(text, bounds, threads), threads=threads, report=report)

    def encode_tokens(self, tokens: Tokens, *, threads: int | None = None, report: Any = None) -> F32:
        """Return unit vectors of n runs of tokens, float32[n, dim]."""
        known = self.rows.shape[0]
        if len(tokens.ids) and int(tokens.ids.max()) >= known:
            raise ValueError(
                f"{self._file} makes token {int(tokens.ids.max())}, but its table has {known} tokens: save the model "
                "again"
            )
        vectors = self.rows.bags(tokens, threads or native.default_threads())
        if report is not None:
            report(len(tokens.ids), len(tokens.ids))
        return vectors


_NEEDED = ("name", "tokens", "table", "table_sha256", "tokenizer", "tokenizer_sha256")


def load(path: Path, remedy: str = static_encoder.REMEDY) -> PieceEncoder | None:
    """Return the encoder in a directory, loaded once, or None if its ``static.json`` names no ``tokenizer.json``.

    Raises:
        ValueError: A file is missing or damaged. The message ends with the remedy.
    """
    facts = read_facts(path / static_encoder.FACTS, remedy)
    return None if "tokenizer" not in facts else loaded(path, static_encoder.FACTS, lambda: _read(path, remedy))


def _read(path: Path, remedy: str) -> PieceEncoder:
    facts = read_facts(path / static_encoder.FACTS, remedy, _NEEDED)
    for name in ("table", "tokenizer"):
        check(path / facts[name], facts[f"{name}_sha256"], remedy)
    table = static_encoder.read_table(path / facts["table"], facts["tokens"], remedy)
    fingerprint = f"{facts['name']}:{facts['table_sha256'][:16]}"
    weight = float(facts.get("cosine_weight", 1.0))
    return PieceEncoder(path / facts["tokenizer"], Rows(table), facts["name"], fingerprint, weight)
