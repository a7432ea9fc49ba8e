"""The description of a model in a Hugging Face or sentence-transformers directory, read without loading the model."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...tokenizers.sources import of_model
from ...tokenizers.wordpiece import WordPieceTokenizer
from . import checkpoint
from .model_dir import ModelFacts

#: The endings of architecture names for models trained for one task. ``ForPreTraining`` is not among them: such a model
#: was trained for two tasks, and Electra's has no head for pairs.
TRAINED_FOR = {"ForNextSentencePrediction": "pairs", "ForSequenceClassification": "relevance"}
#: The threshold of a head for pairs if none was fitted: an even chance.
EVEN = 0.5


@dataclass(frozen=True)
class Source:
    """A directory with a model's configuration, and the settings derived from it."""

    path: Path
    config: dict[str, Any]
    task: str
    tokenizer: Path
    max_length: int
    #: The tasks for which there is a head among the weights.
    heads: tuple[str, ...]
    pooling: str = "mean"
    normalize: bool = True
    query_prompt: str = ""
    passage_prompt: str = ""

    @property
    def is_bert(self) -> bool:
        """Return whether the model is a BERT."""
        return self.config.get("model_type") == "bert"

    @property
    def dim(self) -> int:
        """The size of a hidden state, from any of the keys that architectures use for it."""
        for key in ("hidden_size", "dim", "d_model", "n_embd"):
            if isinstance(self.config.get(key), int):
                return int(self.config[key])
        raise ValueError(
            f"{self.path / 'config.json'} does not give the size of a hidden state; add it as a whole number "
            "hidden_size"
        )

    def facts(self, name: str, **others: Any) -> ModelFacts:
        """Return the contents of ``pychunk.json``, but with empty checksums, because the files do not exist yet."""
        around = template(self.tokenizer)
        said = {"query_prompt": self.query_prompt, "passage_prompt": self.passage_prompt, **others}
        return ModelFacts(
            name=name,
            task=self.task,
            model="model.onnx",
            model_sha256="",
            tokenizer=self.tokenizer.name,
            tokenizer_sha256="",
            max_length=self.max_length,
            pooling=self.pooling,
            normalize=self.normalize,
            dim=self.dim,
            threshold=EVEN if self.task == "pairs" else None,
            notes={"heads": list(self.heads)},
            **around,
            **said,
        )


def read(path: Path, task: str | None = None) -> Source:
    """Read the configuration files of a model's directory, and the names of its weights.

    Args:
        path: The directory.
        task: One of :data:`model_dir.TASKS`; default: the task that the model was trained for, or ``vectors`` if its
            configuration does not name one.

    Raises:
        ValueError: A required file is missing, the configuration needs an operation that pychunk does not compute, or
            the weights have no head for ``task``.
    """
    file = path / "config.json"
    if not file.is_file():
        raise ValueError(
            f"{path} holds no model: config.json is missing; name a directory that save_pretrained() wrote"
        )
    config = _json(file)
    architecture = (config.get("architectures") or [""])[0]
    task = task or next((own for end, own in TRAINED_FOR.items() if architecture.endswith(end)), "vectors")
    tokenizer = next((path / name for name in ("tokenizer.json", "vocab.txt") if (path / name).is_file()), None)
    if tokenizer is None:
        raise ValueError(
            f"{path} holds no tokenizer: neither tokenizer.json nor vocab.txt is there; save it there with "
            "save_pretrained()"
        )
    heads = checkpoint.heads(checkpoint.names(path))
    if task == "pairs" and task not in heads:  # Heads for relevance have other names in each architecture.
        raise ValueError(
            f"{path}: the weights have no head for pairs: {checkpoint.HEADS[task]}.weight is missing; choose another "
            "task, or a model trained to predict the next sentence"
        )
    source = Source(path, config, task, tokenizer, _max_length(path, config), heads)
    if task != "vectors":
        return source
    pooling, normalize = _pooling(path)
    query, passage = _prompts(path)
    return replace(source, pooling=pooling, normalize=normalize, query_prompt=query, passage_prompt=passage)


#: The names that models use for the prompt of passages.
_OF_PASSAGES = ("passage", "document", "corpus")


def _prompts(path: Path) -> tuple[str, str]:
    """Return (query prompt, passage prompt) of a sentence-transformers directory; each is empty if there is none.

    If only one of them is configured, the directory's default prompt, if any, takes the place of the other.
    """
    file = path / "config_sentence_transformers.json"
    said = _json(file) if file.is_file() else {}
    prompts = said.get("prompts") or {} if isinstance(said, dict) else {}
    if not isinstance(prompts, dict) or not all(isinstance(each, str) for each in prompts.values()):
        raise ValueError(f"{file}: prompts must map names to texts; got {prompts!r:.80}")
    usual = prompts.get(said.get("default_prompt_name") or "", "") if prompts else ""
    passage = next((prompts[name] for name in _OF_PASSAGES if name in prompts), usual)
    return str(prompts.get("query", usual)), str(passage)


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{file} is damaged: {error}; download the model again") from error


def _max_length(path: Path, config: dict[str, Any]) -> int:
    known = [512]
    positions = int(config.get("max_position_embeddings", 512))
    # RoBERTa and related models number positions from the pad token's id + 1, which leaves two fewer.
    known.append(positions - 2 if config.get("model_type") in ("roberta", "xlm-roberta", "camembert") else positions)
    for name, key in (("sentence_bert_config.json", "max_seq_length"), ("tokenizer_config.json", "model_max_length")):
        if (path / name).is_file() and isinstance(_json(path / name).get(key), int):
            known.append(_json(path / name)[key])
    return min(known)


def _pooling(path: Path) -> tuple[str, bool]:
    """Return (pooling, normalize) of a sentence-transformers directory.

    For a directory without ``modules.json`` these are the mean and True (unit length).
    """
    if not (path / "modules.json").is_file():
        return "mean", True
    modules = [(str(module["type"]).rsplit(".", 1)[-1], str(module["path"])) for module in _json(path / "modules.json")]
    for kind, _ in modules:
        if kind not in ("Transformer", "Pooling", "Normalize"):
            raise ValueError(
                f"{path}: pychunk computes the modules Transformer, Pooling and Normalize, but this model has "
                f"{kind!r}; choose another model"
            )
    folder = next((place for kind, place in modules if kind == "Pooling"), "1_Pooling")
    settings = _json(path / folder / "config.json")
    chosen = [key for key, value in settings.items() if key.startswith("pooling_mode") and value is True]
    known = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
    if "pooling_mode" in settings and not chosen:  # Newer versions write this key.
        chosen = [
            {"mean": "pooling_mode_mean_tokens", "cls": "pooling_mode_cls_token"}.get(settings["pooling_mode"], "")
        ]
    if len(chosen) != 1 or chosen[0] not in known:
        raise ValueError(
            f"{path}: pooling must be the mean or [CLS]; this model has {chosen or settings!s:.80}: choose another "
            "model"
        )
    return known[chosen[0]], any(kind == "Normalize" for kind, _ in modules)


def template(tokenizer: Path) -> dict[str, Any]:
    """Return the special tokens that a model reads around sentences, found from its tokenizer's file.

    The keys are ``prefix``, ``middle``, ``suffix`` and ``pad``.
    """
    loaded = of_model(tokenizer)
    if isinstance(loaded, WordPieceTokenizer):
        number = {token: i for i, token in enumerate(loaded.vocabulary)}
        missing = [token for token in ("[CLS]", "[SEP]", "[PAD]") if token not in number]
        if missing:
            raise ValueError(
                f"{tokenizer}: the vocabulary lacks {', '.join(missing)}; choose a model with these tokens"
            )
        cls, sep = (number["[CLS]"],), (number["[SEP]"],)
        return {"prefix": cls, "middle": sep, "suffix": sep, "pad": number["[PAD]"]}
    return loaded.template()
