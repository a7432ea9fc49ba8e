"""A BERT of random weights as a model directory, which is as slow as a trained one and needs no download."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pychunk._util.checksums import sha256
from pychunk.encoders import static_encoder
from pychunk.encoders.files import huggingface, model_dir
from pychunk.encoders.files.bert_graph import bert_graph


def random_bert(
    path: Path, task: str = "vectors", *, layers: int = 12, hidden: int = 768, heads: int = 12, seed: int = 0
) -> Path:
    """Write the model and return its directory; ``task`` is ``vectors`` or ``pairs``."""
    weights, config = random_weights(layers, hidden, heads, seed)
    head = None
    if task == "pairs":
        random = np.random.default_rng(seed + 1)
        head = random.normal(0, 0.02, (2, hidden)).astype(np.float32), np.zeros(2, np.float32)
    path.mkdir(parents=True, exist_ok=True)
    (path / "model.onnx").write_bytes(bert_graph(weights, config, head=head).SerializeToString())
    shutil.copyfile(static_encoder.SHIPPED / "vocab.txt", path / "vocab.txt")
    facts = model_dir.ModelFacts(
        name="random-bert",
        task=task,
        model="model.onnx",
        model_sha256=sha256(path / "model.onnx"),
        tokenizer="vocab.txt",
        tokenizer_sha256=sha256(path / "vocab.txt"),
        **huggingface.template(path / "vocab.txt"),
        max_length=512,
        dim=hidden,
    )
    model_dir.write_facts(path, facts)
    return path


def random_weights(
    layers: int, hidden: int, heads: int, seed: int = 0
) -> tuple[dict[str, npt.NDArray[np.float32]], dict[str, Any]]:
    """Return the weights of a BERT by the names of checkpoints, and its configuration."""
    random = np.random.default_rng(seed)
    config: dict[str, Any] = {"num_attention_heads": heads, "num_hidden_layers": layers, "hidden_size": hidden}
    config.update(layer_norm_eps=1e-12, hidden_act="gelu")
    weights: dict[str, npt.NDArray[np.float32]] = {}

    def matrix(name: str, rows: int, columns: int) -> None:
        weights[f"{name}.weight"] = random.normal(0, 0.02, (rows, columns)).astype(np.float32)
        weights[f"{name}.bias"] = np.zeros(rows, np.float32)

    def norm(name: str) -> None:
        weights[f"{name}.weight"], weights[f"{name}.bias"] = np.ones(hidden, np.float32), np.zeros(hidden, np.float32)

    for name, rows in (("word", 30522), ("position", 512), ("token_type", 2)):
        matrix(f"embeddings.{name}_embeddings", rows, hidden)
    norm("embeddings.LayerNorm")
    for i in range(layers):
        layer = f"encoder.layer.{i}"
        for part in ("query", "key", "value"):
            matrix(f"{layer}.attention.self.{part}", hidden, hidden)
        matrix(f"{layer}.attention.output.dense", hidden, hidden)
        matrix(f"{layer}.intermediate.dense", 4 * hidden, hidden)
        matrix(f"{layer}.output.dense", hidden, 4 * hidden)
        norm(f"{layer}.attention.output.LayerNorm")
        norm(f"{layer}.output.LayerNorm")
    matrix("pooler.dense", hidden, hidden)
    return weights, config
