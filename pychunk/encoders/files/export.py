"""The export of Hugging Face encoders, cross-encoders and next-sentence models to a model directory of pychunk."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..runtime.sessions import switch_telemetry_off
from . import convert, huggingface, model_dir
from .bert_graph import PRECISIONS

if TYPE_CHECKING:
    import onnx

#: The files of a repository that are downloaded: configuration, tokenizer, safetensors; never pickles or code.
PATTERNS = ["*.json", "*.txt", "*.safetensors", "*.model", "*/config.json"]
#: Arrays with fewer numbers than this stay in float32 with ``int8``. They are norms and biases, 1 % of a model.
LARGE = 1 << 14


def export(
    model: str | Path,
    out: str | Path,
    *,
    task: str | None = None,
    precision: str = "fp32",
    name: str | None = None,
    revision: str | None = None,
    query_prompt: str | None = None,
    passage_prompt: str | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> model_dir.ModelFacts:
    """Write a model directory that ``encoder=`` takes.

    It appears as a whole or not at all. BERTs (MiniLM, bge, e5, gte, ms-marco cross-encoders, next-sentence heads) need
    no torch, because their graph is written from the weights. Torch traces other architectures (extra ``export``).

    Args:
        model: A directory, or the name of a repository on the Hugging Face hub.
        out: The directory to write; new, empty, or with an exported model, which is replaced.
        task: ``vectors`` of sentences, ``pairs`` (does one sentence follow another) or ``relevance`` of a passage to a
            question. ``pairs`` and ``relevance`` need a head among the weights. The default is the task for which the
            model was trained, if its configuration names one, else ``vectors``. ``say`` receives a line about heads
            that are not used.
        precision: ``fp32``; ``fp16``; or ``int8``, 8-bit storage with float32 arithmetic.
        name: The model's name in metadata; default: the last part of ``model``.
        revision: The revision of the repository; default: its main branch.
        query_prompt: The prompt that the model reads before a question; only for task ``vectors``. The default is the
            prompt in ``config_sentence_transformers.json``.
        passage_prompt: The prompt that the model reads before every other text; only for task ``vectors``, with the
            same default.
        say: Receives lines about the progress.

    Raises:
        ValueError: There is no such model, pychunk cannot run it, or it lacks the head. The message gives the reason.
        OSError: The hub cannot be reached.

    >>> export("bert-base-uncased", "nsp", task="pairs")  # doctest: +SKIP
    ModelFacts(name='bert-base-uncased', task='pairs', ...)
    """
    if task is not None and task not in model_dir.TASKS:
        raise ValueError(f"task must be one of {', '.join(model_dir.TASKS)}; got {task!r:.80}")
    if precision not in PRECISIONS:
        raise ValueError(f"precision must be one of {', '.join(PRECISIONS)}; got {precision!r:.80}")
    folder = Path(model)
    if not folder.is_dir():
        folder = _download(str(model), revision, say)
    source = huggingface.read(folder, task)
    prompts = {"query_prompt": query_prompt, "passage_prompt": passage_prompt}
    given: dict[str, Any] = {key: prompt for key, prompt in prompts.items() if prompt is not None}
    if given and source.task != "vectors":
        raise ValueError(
            f"{' and '.join(given)} may be given only for a model whose task is 'vectors'; the task of this model is "
            f"{source.task!r}: leave out {' and '.join(given)}"
        )
    source = replace(source, **given)
    for key in prompts if source.task == "vectors" else ():
        if getattr(source, key):
            say(f"{key.replace('_', ' ')}: {getattr(source, key)!r}")
    if task is None and source.task == "vectors" and source.heads:
        say(
            f"the weights could serve {' and '.join(('vectors', *source.heads))}: exporting for vectors; the head is "
            f"taken with --task {' or --task '.join(source.heads)}"
        )
    if source.task == "pairs":
        say(f"threshold {huggingface.EVEN}, an even chance; -m nsp:threshold=P or Segmenter.fit(sample) sets another")
    name = name or Path(model).name
    origin = "" if Path(model).is_dir() else f"{model}@{revision or 'main'}"
    if source.is_bert and (folder / "model.safetensors").is_file():
        say("writing the graph from the weights")
        return convert.convert(folder, Path(out), name, precision=precision, task=task, source=origin, **given)
    say(f"tracing a model of type {source.config.get('model_type')!r} with torch")
    graph = _trace(source)
    with model_dir.whole_or_nothing(Path(out)) as aside:
        (aside / "model.onnx").write_bytes(_stored(graph, precision).SerializeToString())
        return convert.finish(aside, source, name, precision=precision, source=origin)


def _download(name: str, revision: str | None, say: Callable[[str], None]) -> Path:
    if name.startswith((".", "/", "~")):
        raise ValueError(
            f"{name}: no such directory; name one that holds a model, or a repository on the Hugging Face hub"
        )
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise ImportError(
            'downloading models needs huggingface_hub, which cannot be imported: pip install "pychunk-native[onnx]"'
        ) from error
    say(f"downloading {name} from the Hugging Face hub")
    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=PATTERNS))
    except Exception as error:  # The errors of requests, httpx and the hub share no better base class.
        reason = str(error).strip().splitlines()[0][:200]
        raise OSError(
            f"{name} is no directory and cannot be downloaded from the Hugging Face hub ({reason}); name a directory "
            "that holds a model, or another repository"
        ) from error


def _trace(source: huggingface.Source) -> onnx.ModelProto:
    try:
        import onnx
        import torch
        import transformers
    except ImportError as error:
        raise ImportError(
            "exporting this model needs torch and transformers, which cannot be imported: "
            'pip install "pychunk-native[export]"'
        ) from error
    kinds = {"vectors": "AutoModel", "pairs": "AutoModelForNextSentencePrediction"}
    loader = getattr(transformers, kinds.get(source.task, "AutoModelForSequenceClassification"))
    loaded, found = loader.from_pretrained(
        source.path,
        use_safetensors=True,
        trust_remote_code=False,
        attn_implementation="eager",
        dtype=torch.float32,
        output_loading_info=True,
    )
    loaded.eval()
    missing = set(found["missing_keys"])
    if source.task == "vectors" and getattr(loaded, "pooler", None) is not None:
        loaded.pooler = None
        missing -= {name for name in missing if name.startswith("pooler.")}
    if missing:  # Transformers initializes missing weights with random numbers.
        raise ValueError(
            f"{source.path}: the weights have no {', '.join(sorted(missing)[:3])}, needed for {source.task}; choose "
            "another task, or another model"
        )
    names = ["input_ids", "attention_mask"]
    if int(source.config.get("type_vocab_size") or 0) > 1:
        names.append("token_type_ids")
    output = "last_hidden_state" if source.task == "vectors" else "logits"

    def forward(_: Any, ids: Any, mask: Any, types: Any = None) -> Any:
        given = {} if types is None else {"token_type_ids": types}
        return loaded(input_ids=ids, attention_mask=mask, return_dict=True, **given)[output]

    traced_module = type("Traced", (torch.nn.Module,), {"forward": forward})()
    traced_module.add_module("model", loaded)
    # The example has two rows of seven tokens; one row is padded. The traced graph must be valid for any other shape.
    ids = torch.full((2, 7), 5, dtype=torch.int64)
    mask = torch.ones_like(ids)
    mask[1, 4:] = 0
    rows = {0: "batch", 1: "length"}
    with torch.inference_mode(), tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        # This uses torch's older exporter and ignores its deprecation warnings, because ONNX Runtime cannot fuse the
        # nodes that the newer exporter writes.
        warnings.simplefilter("ignore")
        file = Path(folder) / "model.onnx"
        torch.onnx.export(
            traced_module,
            (ids, mask, torch.zeros_like(ids))[: len(names)],
            file,
            input_names=names,
            output_names=[output],
            dynamic_axes={**dict.fromkeys(names, rows), output: rows if source.task == "vectors" else {0: "batch"}},
            opset_version=17,
            dynamo=False,
        )
        traced: onnx.ModelProto = onnx.load(file)
    return traced


def _stored(graph: onnx.ModelProto, precision: str) -> onnx.ModelProto:
    """Return the graph with its weights in this precision."""
    if precision == "fp32":
        return graph
    if precision == "fp16":
        switch_telemetry_off()
        from onnxruntime.transformers.float16 import convert_float_to_float16

        half: onnx.ModelProto = convert_float_to_float16(graph, keep_io_types=True)
        return half
    from onnx import helper, numpy_helper

    restored = []
    for weight in list(graph.graph.initializer):
        values = numpy_helper.to_array(weight)
        if values.dtype != np.float32 or values.ndim != 2 or values.size < LARGE:
            continue
        scale = np.maximum(np.abs(values).max(axis=0), 1e-12).astype(np.float32) / np.float32(127)
        rounded = np.clip(np.rint(values / scale), -127, 127).astype(np.int8)
        graph.graph.initializer.remove(weight)
        parts = [f"{weight.name}.int8", f"{weight.name}.scale"]
        graph.graph.initializer.extend(map(numpy_helper.from_array, (rounded, scale), parts))
        restored.append(helper.make_node("DequantizeLinear", parts, [weight.name], axis=1))
    for node in reversed(restored):
        graph.graph.node.insert(0, node)
    return graph
