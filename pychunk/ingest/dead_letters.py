"""The file of dead letters: a stretch of JSON lines for each shard, each at a place of its own."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from .._util.durable_files import flush, opened, sync
from ..io import DeadLetter

NAME = "_dead_letters.jsonl"


def encoded(letters: Iterable[DeadLetter]) -> bytes:
    """One line a letter: source, position, reason and the excerpt, whose bytes that are not UTF-8 are escaped."""
    lines = []
    for letter in letters:
        said = letter._asdict() | {"excerpt": letter.excerpt.decode(errors="backslashreplace")}
        del said["partial"]  # the position says as much
        lines.append(json.dumps(said, ensure_ascii=False).encode(errors="backslashreplace") + b"\n")
    return b"".join(lines)


def put(folder: Path, at: int, data: bytes) -> None:
    """Writes a stretch, and waits until it is on the disk."""
    with opened(folder / NAME, os.O_WRONLY | os.O_CREAT) as handle:
        while data:
            written = os.pwrite(handle, data, at)
            at, data = at + written, data[written:]
        sync(handle, folder / NAME)
    flush(folder)


def digest(folder: Path, at: int, count: int) -> str:
    """SHA-256 of a stretch, as far as it is there."""
    if not (folder / NAME).is_file():
        return ""
    with open(folder / NAME, "rb") as file:
        file.seek(at)
        return hashlib.sha256(file.read(count)).hexdigest()


def cut(folder: Path, end: int) -> None:
    """Removes what lies behind the last stretch."""
    path = folder / NAME
    if path.is_file() and path.stat().st_size > end:
        os.truncate(path, end)
