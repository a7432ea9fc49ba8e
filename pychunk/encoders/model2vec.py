"""Static encoders in the folders of model2vec, such as the potion models: a table of vectors of tokens."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine import native
from .._engine.arrow import flat_text
from .._engine.data.tokens import Tokens
from .._util.checksums import sha256
from ..tokenizers.sources import of_model

I64 = npt.NDArray[np.int64]
F32 = npt.NDArray[np.float32]

WEIGHTS, CONFIG, TOKENIZER = "model.safetensors", "config.json", "tokenizer.json"


def is_folder(path: Path) -> bool:
    """Return whether a folder holds a model of model2vec."""
    try:
        facts = json.loads((path / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(facts, dict) and facts.get("model_type") == "model2vec"


def identity(path: Path) -> tuple[int, int]:
    """Return the time and the size of a model's weights, so that a changed model is loaded again."""
    facts = (path / WEIGHTS).stat()
    return facts.st_mtime_ns, facts.st_size


class Model2VecEncoder:
    """A folder of model2vec as an encoder of sentences.

    The vector of a text is the sum of the rows of its tokens without the unknown one, scaled to unit length. Rows are
    kept in 16 bits, so that cosines to model2vec's vectors are 1 but for rounding. Unlike model2vec, pychunk does not
    cut a text off after 512 tokens.

    Raises:
        ValueError: A file is missing or damaged.
        ImportError: The package safetensors is missing.
    """

    #: The engine does not compute this encoder in its own call.
    in_engine: ClassVar[Literal[False]] = False
    #: No result is in doubt, because the vectors are exact on every CPU.
    in_doubt: ClassVar[None] = None

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        stored = _weights(self.path / WEIGHTS)
        table = stored.get("embeddings")
        if table is None or table.ndim != 2:
            raise ValueError(
                f"{self.path / WEIGHTS} has no matrix 'embeddings', but {', '.join(stored) or 'nothing'}: save the "
                "model again"
            )
        self.tokenizer = of_model(self.path / TOKENIZER)
        #: int16[v, d]: the vectors of tokens, several of which may share one, each divided by its scale.
        self.table, scales = _whole(table)
        mapping = stored.get("mapping")
        rows = np.arange(len(table)) if mapping is None else np.asarray(mapping, np.int64)
        weights = stored.get("weights", np.ones(len(rows)))
        if not (rows.ndim == 1 and len(rows) and 0 <= rows.min() <= rows.max() < len(table)):
            raise ValueError(
                f"{self.path / WEIGHTS}: mapping must hold rows of embeddings, from 0 to {len(table) - 1}; got "
                f"{_range(rows)}: save the model again"
            )
        if weights.shape != rows.shape:
            raise ValueError(
                f"{self.path / WEIGHTS}: weights must hold {len(rows)} numbers, one for each token; got the shape "
                f"{list(weights.shape)}: save the model again"
            )
        self._rows, self._weights = rows.astype(np.int32), (weights * scales[rows]).astype(np.float32)
        unknown = _unknown(self.path / TOKENIZER, len(rows))
        if unknown is not None:
            self._weights[unknown] = 0.0

    @functools.cached_property
    def fingerprint(self) -> str:
        """The name of the folder with a hash of its weights."""
        return f"{self.name}:{sha256(self.path / WEIGHTS)[:16]}"

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.path.resolve().name

    @property
    def tokenizer_name(self) -> str:
        """The name of the tokenizer with a hash of its vocabulary."""
        return f"{TOKENIZER}:{self.tokenizer.fingerprint}"

    @property
    def running(self) -> tuple[str, str]:
        """The runtime and the precision, for metadata."""
        return "native", "fp32"

    @property
    def dim(self) -> int:
        """The number of dimensions of a vector."""
        return int(self.table.shape[1])

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
        found = self.tokens_of(text, bounds, threads)
        if len(found.ids) and int(found.ids.max()) >= len(self._rows):
            raise ValueError(
                f"{self.path / TOKENIZER} makes token {int(found.ids.max())}, but {WEIGHTS} has {len(self._rows)} "
                "tokens: save the model again"
            )
        vectors = native.weighted_bags(
            self.table,
            self._rows[found.ids],
            self._weights[found.ids],
            found.offsets,
            threads=threads or native.default_threads(),
        )
        if report is not None:
            report(len(found.ids), len(found.ids))
        return vectors


def _range(values: npt.NDArray[Any]) -> str:
    return f"{values.min()} to {values.max()} in the shape {list(values.shape)}" if values.size else "none"


def _weights(file: Path) -> dict[str, npt.NDArray[Any]]:
    try:
        from safetensors.numpy import load_file
    except ImportError as error:
        raise ImportError(f'{file} needs safetensors; install it with: pip install "pychunk-native[onnx]"') from error
    if not file.is_file():
        raise ValueError(f"{file} is missing: name the folder of a model of model2vec, or save the model again")
    try:
        return dict(load_file(str(file)))
    except Exception as error:  # The package raises its own class.
        raise ValueError(f"{file} is damaged ({error}): save the model again") from error


def _whole(table: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int16], F32]:
    """Return the rows of a table as whole numbers of 16 bits, and the scale of each row."""
    if table.dtype == np.int8:
        return table.astype(np.int16), np.ones(len(table), np.float32)
    values = np.asarray(table, np.float32)
    most = np.abs(values).max(axis=1)
    scales: F32 = np.where(most > 0, most, 1).astype(np.float32) / np.float32(32767)
    return np.rint(values / scales[:, None]).astype(np.int16), scales


def _unknown(file: Path, tokens: int) -> int | None:
    """Return the id of the unknown token, or None if the tokenizer has none."""
    model = json.loads(file.read_text(encoding="utf-8")).get("model") or {}
    if model.get("type") == "Unigram":
        found = model.get("unk_id")
    else:
        vocabulary = model.get("vocab")
        found = vocabulary.get(model.get("unk_token")) if isinstance(vocabulary, dict) else None
    return found if isinstance(found, int) and 0 <= found < tokens else None
