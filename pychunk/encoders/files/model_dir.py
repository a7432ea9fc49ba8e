"""The directory of an exported model, whose facts are verified against its files."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from ..._engine.data.models import Template
from ..._util.checksums import check
from ..._util.durable_files import whole_folder
from ..._util.model_facts import FORMAT, read_facts
from ..._util.user_cache import cache_home

FACTS = "pychunk.json"

#: The tasks of models: ``vectors`` of sentences, ``pairs`` (does the second sentence follow the first), ``relevance``
#: of a passage to a question.
TASKS = ("vectors", "pairs", "relevance")
POOLINGS = ("mean", "cls", "none")
#: The end of errors about files that are missing or damaged.
REMEDY = "get or export the model again"


@dataclass(frozen=True)
class ModelFacts:
    """The contents of ``pychunk.json``.

    File names are relative to the directory.
    """

    name: str
    task: str
    model: str
    model_sha256: str
    tokenizer: str
    tokenizer_sha256: str
    prefix: tuple[int, ...]
    middle: tuple[int, ...]
    suffix: tuple[int, ...]
    pad: int
    max_length: int
    #: The precision: fp32, fp16, or int8 (8-bit storage, float32 arithmetic).
    precision: str = "fp32"
    #: For vectors: the pooling of hidden states, and whether the pooled vector is scaled to unit length.
    pooling: str = "mean"
    normalize: bool = True
    dim: int = 0
    #: For vectors: the prompts that the model was trained to read before a question, and before a passage.
    query_prompt: str = ""
    passage_prompt: str = ""
    #: For pairs: the logit that means "follows", and the threshold of its probability, if one was fitted.
    positive: int = 0
    threshold: float | None = None
    source: str = ""
    licence: str = ""
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def template(self) -> Template:
        """The special tokens around a text, the padding token and the greatest length of an input."""
        return Template(self.prefix, self.middle, self.suffix, self.pad, self.max_length)

    @property
    def fingerprint(self) -> str:
        """The name of the model with hashes of its weights and prompts.

        Vectors of models with equal fingerprints can be compared.
        """
        own = f"{self.name}:{self.model_sha256[:16]}"
        if not self.query_prompt and not self.passage_prompt:
            return own
        said = json.dumps([self.query_prompt, self.passage_prompt]).encode()
        return f"{own}:prompts-{hashlib.sha256(said).hexdigest()[:8]}"


def read(path: Path, task: str | None = None, remedy: str = REMEDY) -> ModelFacts:
    """Return the facts of the model in a directory, after comparing its files with their checksums.

    ``remedy`` says in errors how to mend a missing or damaged file.

    Raises:
        ValueError: There is no model, the model is for another task or of a newer format, or a file is missing or
            damaged. The message says which of these it is, and what to do.
    """
    file = path / FACTS
    if not os.path.isfile(file):
        raise ValueError(
            f"no model in {path}: {FACTS} is missing; `pychunk export MODEL -o {path}` makes one, "
            "`pychunk model get minilm` fetches MiniLM"
        )
    data = read_facts(file, "export the model again")
    needed = [each.name for each in fields(ModelFacts) if each.default is MISSING and each.default_factory is MISSING]
    if missing := [name for name in needed if name not in data]:
        raise ValueError(f"{file} is damaged (it lacks {', '.join(missing)}); export the model again")
    try:
        for name in ("prefix", "middle", "suffix"):
            data[name] = tuple(data[name])
        facts = ModelFacts(**data)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{file} is damaged ({error}); export the model again") from error
    for name, choices in (("task", TASKS), ("pooling", POOLINGS)):
        if getattr(facts, name) not in choices:
            raise ValueError(f"{file}: {name} must be one of {', '.join(choices)}; got {getattr(facts, name)!r}")
    if task is not None and facts.task != task:
        such = ", such as 'reranker' (after pychunk model get reranker)" if task == "relevance" else ""
        raise ValueError(
            f"{path} holds a model for {facts.task!r}, not for {task!r}"
            f"{_head(facts, task) or f': name or export a model for {task!r}{such}'}"
        )
    for name, expected in ((facts.model, facts.model_sha256), (facts.tokenizer, facts.tokenizer_sha256)):
        check(path / name, expected, remedy)
    return facts


def _head(facts: ModelFacts, task: str) -> str:
    """Return the end of an error message that says how to export the head for `task`, or "" if there is no such head.

    Models that earlier versions exported do not say whether their weights have the head.
    """
    heads = facts.notes.get("heads")
    if facts.task != "vectors" or (heads is not None and task not in heads):
        return ""
    model, _, revision = facts.source.partition("@")
    command = f"pychunk export {model or 'MODEL'} -o DIR --task {task}"
    if revision not in ("", "main"):
        command += f" --revision {revision}"
    may, then = ("may ", "if they do, ") if heads is None else ("", "")
    return f": its weights {may}hold a head for {task!r}; {then}export it with `{command}`"


def write_facts(path: Path, facts: ModelFacts) -> None:
    """Write ``pychunk.json``."""
    said = dict(vars(facts))
    for name in ("query_prompt", "passage_prompt"):  # Older versions of pychunk know no prompts.
        if not said[name]:
            del said[name]
    text = json.dumps({"format": FORMAT, **said}, indent=2)
    (path / FACTS).write_text(text + "\n", encoding="utf-8")


@contextmanager
def whole_or_nothing(path: Path) -> Iterator[Path]:
    """Yield a new directory next to ``path`` that replaces it in one step at the end.

    If the process is killed before, ``path`` stays unchanged. An existing ``path`` must hold a model or be empty.
    """
    if path.exists() and any(path.iterdir()) and not (path / FACTS).is_file():
        raise ValueError(f"{path} is not empty and holds no exported model; name an empty or new directory")
    with whole_folder(path) as aside:
        yield aside


def cached(name: str) -> Path:
    """Return the directory of a model in the user's cache, whether it exists or not."""
    return cache_home() / "models" / name
