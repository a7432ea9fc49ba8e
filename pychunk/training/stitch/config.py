"""Settings in a YAML file: a model, and the values that differ from the defaults."""

from __future__ import annotations

import contextlib
from dataclasses import fields
from pathlib import Path
from typing import Any

from .settings import Settings


def read(path: Path) -> tuple[str, Settings]:
    """Return the model's name and the settings.

    Raises:
        ValueError: There is no model, a setting is unknown, or a value has another type; the message names it.

    Example:
        >>> model, settings = read(Path(__file__).parent / "qwen2.5-1.5b.yaml")
        >>> model, settings.rollouts, settings.questions, settings.mini_batch, settings.rate, settings.steps
        ('Qwen/Qwen2.5-1.5B-Instruct', 8, 256, 64, 1e-06, 120)
    """
    try:
        import yaml
    except ImportError as error:
        raise ImportError('a file of settings needs PyYAML: pip install "pychunk-native[train]"') from error
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise ValueError(f"{path} is not YAML: {' '.join(str(error).split())}; correct this line") from error
    if not isinstance(found, dict) or not isinstance(found.get("model"), str):
        got = repr(found["model"])[:80] if isinstance(found, dict) and "model" in found else "none"
        raise ValueError(
            f"{path} must name a model, with a line such as 'model: Qwen/Qwen2.5-1.5B-Instruct'; got {got}"
        )
    kinds = {each.name: type(each.default) for each in fields(Settings)}
    given: dict[str, Any] = {}
    for name, value in found.items():
        if name == "model":
            continue
        if name not in kinds:
            raise ValueError(f"{path}: there is no setting {name!r}; there are {', '.join(kinds)}: choose one of them")
        if kinds[name] is float and type(value) in (int, str):  # YAML reads 1e-6, without a point, as text
            with contextlib.suppress(ValueError):
                value = float(value)
        if type(value) is not kinds[name]:
            raise ValueError(f"{path}: {name} must be of type {kinds[name].__name__}; got {value!r:.80}")
        given[name] = value
    return found["model"], Settings(**given)
