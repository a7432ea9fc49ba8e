"""SHA-256 of files, and what to say of a file that is not the one it should be."""

from __future__ import annotations

import hashlib
from pathlib import Path

_BLOCK = 1 << 20


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file, which is never in memory as a whole."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def check(path: Path, expected: str, remedy: str) -> None:
    """That a file is there, whole.

    Raises:
        ValueError: it is missing, or has another SHA-256; the message ends with the remedy.
    """
    if not path.is_file():
        raise ValueError(f"{path} is missing; {remedy}")
    found = sha256(path)
    if found != expected:
        raise ValueError(f"{path} is damaged: its SHA-256 is {found[:16]}..., not {str(expected)[:16]}...; {remedy}")
