"""The files that the training of a small model writes into a folder: weights, facts as JSON, and maybe a card."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._util.checksums import sha256


def write_weights(file: Path, arrays: Mapping[str, Any], *, compressed: bool = False) -> dict[str, Any]:
    """Write arrays as ``.npz``, and return the facts by which :func:`pychunk._util.weights.read_weights` reads it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    (np.savez_compressed if compressed else np.savez)(file, **arrays)
    return {"weights": file.name, "weights_sha256": sha256(file), "bytes": file.stat().st_size}


def write_facts(file: Path, facts: Mapping[str, Any], card: str | None = None) -> None:
    """Write the facts of a model, and its card into the ``.md`` of the same name."""
    file.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    if card is not None:
        file.with_suffix(".md").write_text(card, encoding="utf-8")
