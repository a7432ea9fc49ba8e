"""The static encoder: a sentence's vector is the sum of its tokens' rows in a table, scaled to unit length."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine import native
from .._engine.arrow import flat_text, flat_texts
from .._engine.data.tokens import Tokens
from .._util.checksums import check
from .._util.model_facts import read_facts
from ..tokenizers.wordpiece import load_vocabulary
from .model_cache import loaded

I64 = npt.NDArray[np.int64]

SHIPPED = Path(__file__).resolve().parent.parent / "models"
FACTS = "static.json"
REMEDY = "install pychunk again"
_NEEDED = ("name", "table", "table_sha256", "vocab", "vocab_sha256", "lowercase", "strip_accents")


class StaticEncoder:
    """A token table with its vocabulary, loaded from a directory and verified by checksums.

    Args:
        path: Directory with ``static.json`` and the files that it names; default: the one that pychunk ships.

    Raises:
        ValueError: A file is missing, damaged, or of a newer format.

    Example:
        >>> from pychunk.encoders.static_encoder import load
        >>> load().encode(["A sentence."]).shape
        (1, 256)
    """

    #: The engine computes this encoder itself.
    in_engine: ClassVar[Literal[True]] = True
    #: No sentence's result is in doubt, because the vectors are exact on every device.
    in_doubt: ClassVar[None] = None

    def __init__(self, path: str | Path = SHIPPED) -> None:
        self.path = Path(path)
        facts_file = self.path / FACTS
        if not os.path.isfile(facts_file):
            raise ValueError(f"no static encoder in {self.path}: {FACTS} is missing; name the directory that holds it")
        self.facts = read_facts(facts_file, REMEDY, _NEEDED)
        for name in ("table", "vocab"):
            check(self.path / self.facts[name], self.facts[f"{name}_sha256"], REMEDY)
        self.vocabulary, self.tokenizer_options = load_vocabulary(self.path / self.facts["vocab"])
        self.tokenizer_options.update({key: self.facts[key] for key in ("lowercase", "strip_accents")})
        self.table = read_table(self.path / self.facts["table"], len(self.vocabulary))

    @property
    def name(self) -> str:
        """The name of the encoder."""
        return str(self.facts["name"])

    @property
    def fingerprint(self) -> str:
        """The name of the encoder with a hash of its weights.

        Vectors of encoders with equal fingerprints can be compared.
        """
        return f"{self.facts['name']}:{self.facts['table_sha256'][:16]}"

    @property
    def tokenizer(self) -> StaticEncoder:
        """The tokenizer that counts tokens, which is the encoder itself."""
        return self

    @property
    def tokenizer_name(self) -> str:
        """The name of the tokenizer with a hash of its vocabulary."""
        return f"{self.facts['vocab']}:{self.facts['vocab_sha256'][:16]}"

    @property
    def dim(self) -> int:
        """The number of dimensions of a vector."""
        return int(self.table.shape[1])

    def encode(self, texts: Sequence[str] | pa.Array, *, threads: int | None = None) -> npt.NDArray[np.float32]:
        """Return unit vectors float32[n, dim] of n texts.

        A text without a known token has the zero vector.
        """
        if isinstance(texts, pa.Array):
            text, offsets = flat_text(texts.cast(pa.large_string()))
        else:
            text, offsets = flat_texts(texts)
        return native.encode_static(text, offsets, self, threads=threads or native.default_threads())

    def encode_queries(self, texts: Sequence[str] | pa.Array, *, threads: int | None = None) -> npt.NDArray[np.float32]:
        """Return the vectors of questions, the same as :meth:`encode`, because a static encoder has no prompts."""
        return self.encode(texts, threads=threads)

    def encode_passages(self, texts: pa.LargeStringArray, *, threads: int | None = None) -> npt.NDArray[np.float32]:
        """Return the vector that a chunk with this text has, for each of n texts, float32[n, dim].

        It is the mean of the vectors of the text's sentences, weighted by tokens.
        """
        return native.encode_passages(*flat_text(texts), self, threads=threads or native.default_threads())

    def tokens_of(self, text: npt.NDArray[np.uint8], bounds: I64, threads: int | None = None) -> Tokens:
        """Return the tokens of the consecutive spans ``text[bounds[i]:bounds[i + 1]]``."""
        return native.tokenize(self, text, bounds, threads=threads or native.default_threads())


def load(path: str | Path = SHIPPED) -> StaticEncoder:
    """Return the static encoder in a directory, loaded once."""
    return loaded(path, FACTS, lambda: StaticEncoder(path), StaticEncoder)


def read_table(file: Path, rows: int, remedy: str = REMEDY) -> npt.NDArray[np.int8]:
    """Return the table in a file, int8[rows, d].

    Raises:
        ValueError: The file holds something else. The message ends with the remedy.
    """
    table: npt.NDArray[np.int8] = np.load(file, allow_pickle=False)
    if table.dtype != np.int8 or table.ndim != 2 or len(table) != rows:
        raise ValueError(f"{file} must be int8 with {rows} rows; got {table.dtype} {table.shape}: {remedy}")
    return table
