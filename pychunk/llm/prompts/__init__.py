"""What models are told, one file a task in a folder a language; the version is part of every key of the cache.

A file's first line is its version: whoever changes the text raises it, and answers to the old one are asked anew.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parent


class Prompt(NamedTuple):
    """The text of the system, and ``language/task/version``."""

    system: str
    version: str


@functools.lru_cache
def load(task: str, language: str = "en") -> Prompt:
    """The prompt of a task.

    Raises:
        ValueError: there is none in that language; the message names those that there are.

    Example:
        >>> load("autochunker").version
        'en/autochunker/1'
    """
    file = FOLDER / language / f"{task}.txt"
    if not file.is_file():
        known = sorted(f"{each.parent.name}/{each.stem}" for each in FOLDER.glob("*/*.txt"))
        raise ValueError(f"no prompt {language}/{task}; there are {', '.join(known)}")
    first, _, rest = file.read_text(encoding="utf-8").partition("\n")
    return Prompt(rest.strip(), f"{language}/{task}/{first.removeprefix('version:').strip()}")
