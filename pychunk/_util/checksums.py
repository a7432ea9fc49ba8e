"""The SHA-256 of files, and the check that a file has the expected one."""

from __future__ import annotations

import hashlib
from pathlib import Path

_BLOCK = 1 << 20


def sha256(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a file, without holding the whole file in memory."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def check(path: Path, expected: str, remedy: str) -> None:
    """Check that a file exists and is undamaged.

    Raises:
        ValueError: The file is missing, or has another SHA-256. The message ends with the remedy.
    """
    if not path.is_file():
        raise ValueError(f"{path} is missing; {remedy}")
    found = sha256(path)
    if found != expected:
        raise ValueError(f"{path} is damaged: its SHA-256 is {found[:16]}..., not {str(expected)[:16]}...; {remedy}")
