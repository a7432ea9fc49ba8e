"""Reading the weights of a Hugging Face directory: their names, the heads among them, and their values.

Pickles are never read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]

FILE = "model.safetensors"
INDEX = "model.safetensors.index.json"
#: The layer of a BERT's weights that is the head on the pooler, for each task; it has a ``.weight`` and a ``.bias``.
HEADS = {"pairs": "cls.seq_relationship", "relevance": "classifier"}


def names(folder: Path) -> set[str]:
    """Return the names of all weights, without reading their values.

    Raises:
        ValueError: The directory has no weights in safetensors, or the file is damaged.
    """
    if (folder / FILE).is_file():
        with _opened(folder / FILE) as stored:
            return set(stored.keys())
    index = folder / INDEX
    if not index.is_file():
        raise ValueError(
            f"{folder} holds no {FILE}, and pychunk does not load pickled weights; save the model again with "
            "save_pretrained(), which writes it"
        )
    try:
        return set(json.loads(index.read_text(encoding="utf-8"))["weight_map"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{index} is damaged: {error!r}; download the model again") from error


def heads(stored: set[str]) -> tuple[str, ...]:
    """Return the tasks whose heads are among the weights with the names ``stored``.

    >>> heads({"bert.pooler.dense.weight", "cls.predictions.bias", "cls.seq_relationship.weight"})
    ('pairs',)
    """
    found = [task for task, head in HEADS.items() if f"{head}.weight" in stored]
    if "relevance" in found and not any(name.endswith("pooler.dense.weight") for name in stored):
        found.remove("relevance")  # A classifier without a pooler classifies tokens.
    return tuple(found)


def arrays(folder: Path) -> dict[str, F32]:
    """Return the weights in ``model.safetensors`` by name, as float32.

    Names lose the prefix ``bert.``, and old names of norms are replaced.
    """
    file = folder / FILE
    found = {}
    with _opened(file) as stored:
        for name in stored.keys():  # noqa: SIM118 - not a dict
            plain = name.removeprefix("bert.").replace("LayerNorm.gamma", "LayerNorm.weight")
            found[plain.replace("LayerNorm.beta", "LayerNorm.bias")] = np.asarray(stored.get_tensor(name), np.float32)
    return found


@contextmanager
def _opened(file: Path) -> Iterator[Any]:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise ImportError(
            'converting a model needs safetensors, which cannot be imported: pip install "pychunk-native[onnx]"'
        ) from error
    try:
        with safe_open(file, framework="numpy") as stored:
            yield stored
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{file} is damaged: {error}; download the model again") from error
