"""The conversion of a BERT's directory (config, safetensors, tokenizer) to a model directory, without torch."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..._util.checksums import sha256
from . import checkpoint, huggingface, model_dir
from .bert_graph import bert_graph


def convert(
    folder: Path, out: Path, name: str, *, precision: str = "fp32", task: str | None = None, **facts: Any
) -> model_dir.ModelFacts:
    """Write ``model.onnx``, the tokenizer and ``pychunk.json`` to ``out``, which appears as a whole or not at all.

    Args:
        folder: Directory with ``config.json``, ``model.safetensors`` and a tokenizer, of type BERT: an encoder, a
            sentence-transformers model, a next-sentence head or a cross-encoder.
        out: The directory to write.
        name: The model's name.
        precision: See :data:`bert_graph.PRECISIONS`.
        task: See :func:`huggingface.read`.
        **facts: More fields of :class:`model_dir.ModelFacts`.

    Raises:
        ValueError: The directory does not hold such a model. The message says what it lacks.
    """
    found = huggingface.read(folder, task)
    if not found.is_bert:
        raise ValueError(
            f"{folder} holds a model of type {found.config.get('model_type')!r}, not BERT; export it with pychunk "
            "export"
        )
    weights = checkpoint.arrays(folder)
    head = None
    try:
        if found.task in checkpoint.HEADS:
            place = checkpoint.HEADS[found.task]
            head = weights[f"{place}.weight"], weights[f"{place}.bias"]
        graph = bert_graph(
            weights, found.config, head=head, first_token_only=found.pooling == "cls", precision=precision
        )
    except KeyError as error:
        raise ValueError(
            f"{folder} lacks {error}, a weight of model.safetensors or an entry of config.json: download the model "
            "again, or save it again with save_pretrained()"
        ) from error
    with model_dir.whole_or_nothing(out) as aside:
        (aside / "model.onnx").write_bytes(graph.SerializeToString())
        return finish(aside, found, name, precision=precision, **facts)


def finish(aside: Path, origin: huggingface.Source, name: str, **facts: Any) -> model_dir.ModelFacts:
    """Add the tokenizer and ``pychunk.json``, with checksums, to a directory that holds ``model.onnx``."""
    shutil.copyfile(origin.tokenizer, aside / origin.tokenizer.name)
    settings = origin.tokenizer.with_name("tokenizer_config.json")
    if origin.tokenizer.suffix != ".json" and settings.is_file():
        shutil.copyfile(settings, aside / settings.name)
    made = replace(
        origin.facts(name, **facts),
        model_sha256=sha256(aside / "model.onnx"),
        tokenizer_sha256=sha256(aside / origin.tokenizer.name),
    )
    model_dir.write_facts(aside, made)
    return made
