"""A BERT's directory (config, safetensors, tokenizer) to a model directory of pychunk, without torch."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...plumbing.checksums import sha256
from . import huggingface, model_dir
from .bert_graph import bert_graph

F32 = npt.NDArray[np.float32]

#: Where checkpoints keep the weight and bias of a head on the pooler.
HEADS = {"pairs": "cls.seq_relationship", "relevance": "classifier"}


def convert(folder: Path, out: Path, name: str, *, precision: str = "fp32", **facts: Any) -> model_dir.ModelFacts:
    """Writes ``model.onnx``, the tokenizer and ``pychunk.json`` into ``out``, which appears whole or not at all.

    Args:
        folder: directory with ``config.json``, ``model.safetensors`` and a tokenizer, of type BERT: an encoder, a
            sentence-transformers model, a next-sentence head or a cross-encoder.
        precision: see :data:`bert_graph.PRECISIONS`.
        **facts: more fields of :class:`model_dir.ModelFacts`.

    Raises:
        ValueError: the directory is not of that kind; the message says what it lacks.
    """
    found = huggingface.read(folder)
    if not found.is_bert:
        raise ValueError(f"{folder} holds a model of type {found.config.get('model_type')!r}, not BERT")
    weights = read_weights(folder)
    head = None
    if found.task in HEADS:
        head = (_of(weights, f"{HEADS[found.task]}.weight", folder), _of(weights, f"{HEADS[found.task]}.bias", folder))
    try:
        graph = bert_graph(
            weights, found.config, head=head, first_token_only=found.pooling == "cls", precision=precision
        )
    except KeyError as error:
        raise ValueError(f"{folder / 'model.safetensors'} lacks the weight {error}") from error
    with model_dir.whole_or_nothing(out) as aside:
        (aside / "model.onnx").write_bytes(graph.SerializeToString())
        return finish(aside, found, name, precision=precision, **facts)


def finish(aside: Path, origin: huggingface.Source, name: str, **facts: Any) -> model_dir.ModelFacts:
    """Adds the tokenizer and ``pychunk.json``, with checksums, to a directory that holds ``model.onnx``."""
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


def read_weights(source: Path) -> dict[str, F32]:
    """Weights of ``model.safetensors`` as float32 by name, without the prefix ``bert.`` and old names of norms."""
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise ImportError('converting a model needs: pip install "pychunk-native[onnx]"') from error
    file = source / "model.safetensors"
    if not file.is_file():
        raise ValueError(f"{source} holds no model.safetensors; pychunk does not load pickled weights")
    try:
        with safe_open(file, framework="numpy") as stored:
            arrays = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118 - not a dict
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{file} is damaged: {error}") from error
    found = {}
    for name, values in arrays.items():
        plain = name.removeprefix("bert.").replace("LayerNorm.gamma", "LayerNorm.weight")
        found[plain.replace("LayerNorm.beta", "LayerNorm.bias")] = np.asarray(values, np.float32)
    return found


def _of(weights: dict[str, F32], name: str, source: Path) -> F32:
    if name not in weights:
        raise ValueError(f"{source / 'model.safetensors'} lacks the head's weight {name}")
    return weights[name]
