"""The model directory that the training of a transformer writes."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._util.checksums import sha256
from ..encoders import static_encoder
from ..encoders.files import huggingface, model_dir
from ..encoders.files.bert_graph import bert_graph


def write_bert(
    out: Path,
    weights: Mapping[str, Any],
    config: Mapping[str, Any],
    head: tuple[Any, Any],
    **facts: Any,
) -> model_dir.ModelFacts:
    """Write a model directory with 8-bit weights, which have a scale for each row or column of a matrix.

    The tokenizer is BERT's, which came with the static encoder.

    Args:
        out: The model directory.
        weights: The weights, as in :func:`pychunk.encoders.files.bert_graph.bert_graph`.
        config: The model's ``config.json``.
        head: The weight and bias of a classifier.
        facts: The facts of :class:`pychunk.encoders.files.model_dir.ModelFacts` that the files do not contain.

    Returns:
        The facts that were written.
    """
    graph = bert_graph(weights, config, head=head, precision="int8")
    vocabulary = static_encoder.SHIPPED / "vocab.txt"
    with model_dir.whole_or_nothing(out) as aside:
        (aside / "model.onnx").write_bytes(graph.SerializeToString())
        shutil.copyfile(vocabulary, aside / "vocab.txt")
        written = model_dir.ModelFacts(
            model="model.onnx",
            model_sha256=sha256(aside / "model.onnx"),
            tokenizer="vocab.txt",
            tokenizer_sha256=sha256(vocabulary),
            **huggingface.template(vocabulary),
            precision="int8",
            dim=int(config["hidden_size"]),
            **facts,
        )
        model_dir.write_facts(aside, written)
    return written
