"""The folders of model2vec, such as the potion models, as encoders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._util.checksums import sha256
from .piece_encoder import PieceEncoder, WeightedRows

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


def load(path: Path) -> PieceEncoder:
    """Return the model in a folder of model2vec as an encoder.

    Rows are kept in 16 bits, so that cosines to model2vec's vectors are 1 but for rounding. Unlike model2vec, pychunk
    does not cut a text off after 512 tokens.

    Raises:
        ValueError: A file is missing or damaged.
        ImportError: The package safetensors is missing.
    """
    stored = _weights(path / WEIGHTS)
    table = stored.get("embeddings")
    if table is None or table.ndim != 2:
        raise ValueError(
            f"{path / WEIGHTS} has no matrix 'embeddings', but {', '.join(stored) or 'nothing'}: save the model again"
        )
    mapping = stored.get("mapping")
    rows = np.arange(len(table)) if mapping is None else np.asarray(mapping, np.int64)
    weights = stored.get("weights", np.ones(len(rows)))
    if not (rows.ndim == 1 and len(rows) and 0 <= rows.min() <= rows.max() < len(table)):
        raise ValueError(
            f"{path / WEIGHTS}: mapping must hold rows of embeddings, from 0 to {len(table) - 1}; got "
            f"{_range(rows)}: save the model again"
        )
    if weights.shape != rows.shape:
        raise ValueError(
            f"{path / WEIGHTS}: weights must hold {len(rows)} numbers, one for each token; got the shape "
            f"{list(weights.shape)}: save the model again"
        )
    whole, scales = _whole(table)
    weights = (weights * scales[rows]).astype(np.float32)
    unknown = _unknown(path / TOKENIZER, len(rows))
    if unknown is not None:
        weights[unknown] = 0.0
    name = path.resolve().name
    own = WeightedRows(whole, rows.astype(np.int32), weights)
    return PieceEncoder(path / TOKENIZER, own, name, f"{name}:{sha256(path / WEIGHTS)[:16]}")


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
