"""The prompts. Each language has a folder with one file for each task.

The first line of a file is its version, which is part of every key of the cache. Raise the version if you change the
text, so that cached answers to the old text are not used.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parent


class Prompt(NamedTuple):
    """A prompt: the text of the system message, and the version as ``language/task/version``."""

    system: str
    version: str


@functools.lru_cache
def load(task: str, language: str = "en") -> Prompt:
    """Return the prompt of a task.

    Raises:
        ValueError: The task has no prompt in that language. The message lists the existing prompts.

    Example:
        >>> load("autochunker").version
        'en/autochunker/1'
    """
    file = FOLDER / language / f"{task}.txt"
    if not os.path.isfile(file):
        known = sorted(f"{each.parent.name}/{each.stem}" for each in FOLDER.glob("*/*.txt"))
        raise ValueError(f"no prompt {language}/{task}; there are {', '.join(known)}: choose one of them")
    first, _, rest = file.read_text(encoding="utf-8").partition("\n")
    return Prompt(rest.strip(), f"{language}/{task}/{first.removeprefix('version:').strip()}")
