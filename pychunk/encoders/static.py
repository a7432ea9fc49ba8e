"""The static encoder: a sentence's vector is the sum of its tokens' rows in a table, scaled to unit length."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .. import _native
from .._arrow import flat_text
from .tokens import Tokens
from .vocabulary import load_vocabulary

I64 = npt.NDArray[np.int64]

SHIPPED = Path(__file__).resolve().parent.parent / "models"


class StaticEncoder:
    """A token table with its vocabulary, loaded from a directory and checked against its checksums.

    Args:
        path: directory with ``static.json`` and the files that it names; default: the one that pychunk ships.

    Raises:
        ValueError: a file is missing, damaged, or of a newer format.

    Example:
        >>> from pychunk.encoders.static import load
        >>> load().encode(["A sentence."]).shape
        (1, 256)
    """

    def __init__(self, path: str | Path = SHIPPED) -> None:
        self.path = Path(path)
        facts_file = self.path / "static.json"
        if not facts_file.is_file():
            raise ValueError(f"no static encoder in {self.path}: static.json is missing")
        self.facts: dict[str, Any] = json.loads(facts_file.read_text(encoding="utf-8"))
        if self.facts.get("format") != 1:
            raise ValueError(
                f"{facts_file} has format {self.facts.get('format')!r}, but this pychunk reads 1; upgrade it"
            )
        for name in ("table", "vocab"):
            _check_file(self.path / self.facts[name], self.facts[f"{name}_sha256"])
        self.vocabulary, self.tokenizer_options = load_vocabulary(self.path / self.facts["vocab"])
        self.tokenizer_options.update({key: self.facts[key] for key in ("lowercase", "strip_accents")})
        self.table: npt.NDArray[np.int8] = np.load(self.path / self.facts["table"], allow_pickle=False)
        if self.table.dtype != np.int8 or self.table.shape[:1] != (len(self.vocabulary),):
            raise ValueError(
                f"{self.facts['table']} must be int8 with {len(self.vocabulary)} rows; got {self.table.dtype} "
                f"{self.table.shape}"
            )

    @property
    def name(self) -> str:
        return str(self.facts["name"])

    @property
    def fingerprint(self) -> str:
        """Names the encoder and its exact weights; vectors of equal fingerprint can be compared."""
        return f"{self.facts['name']}:{self.facts['table_sha256'][:16]}"

    @property
    def dim(self) -> int:
        return int(self.table.shape[1])

    def encode(self, texts: Sequence[str] | pa.Array, *, threads: int | None = None) -> npt.NDArray[np.float32]:
        """Unit vectors float32[n, dim] of n texts; a text without a known token has the zero vector."""
        array = texts if isinstance(texts, pa.Array) else pa.array(list(texts), pa.large_string())
        text, offsets = flat_text(array.cast(pa.large_string()))
        return _native.encode_static(text, offsets, self, threads=threads or _native.default_threads())

    def tokens_of(self, text: npt.NDArray[np.uint8], bounds: I64, threads: int | None = None) -> Tokens:
        """Ids of the consecutive spans ``text[bounds[i]:bounds[i + 1]]``."""
        threads = threads or _native.default_threads()
        ids, offsets, _ = _native.encode_words(self, text, bounds, threads=threads)
        return ids, offsets


def _check_file(path: Path, expected: str) -> None:
    if not path.is_file():
        raise ValueError(f"{path} is missing; install pychunk again")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != expected:
        raise ValueError(
            f"{path} is damaged: its SHA-256 is {found[:16]}..., not {expected[:16]}...; install pychunk again"
        )


@functools.lru_cache(maxsize=4)
def load(path: str | Path = SHIPPED) -> StaticEncoder:
    """The static encoder in a directory, loaded once a process."""
    return StaticEncoder(path)
