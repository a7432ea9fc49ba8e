"""The file of dead letters, in which each shard has one range of JSON lines, at an offset that its manifest names."""

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
    """Return one JSON line for each dead letter: its source, position, reason and excerpt.

    Bytes of the excerpt that are not UTF-8 are escaped.
    """
    lines = []
    for letter in letters:
        said = letter._asdict() | {"excerpt": letter.excerpt.decode(errors="backslashreplace")}
        del said["partial"]  # The position already shows whether the dead letter is partial.
        lines.append(json.dumps(said, ensure_ascii=False).encode(errors="backslashreplace") + b"\n")
    return b"".join(lines)


def put(folder: Path, at: int, data: bytes) -> None:
    """Write the dead letters of a shard at their offset, and wait until they are on the disk."""
    with opened(folder / NAME, os.O_WRONLY | os.O_CREAT) as handle:
        while data:
            written = os.pwrite(handle, data, at)
            at, data = at + written, data[written:]
        sync(handle, folder / NAME)
    flush(folder)


def digest(folder: Path, at: int, count: int) -> str:
    """Return the SHA-256 of a range of the file, or of the part of the range that exists."""
    if not (folder / NAME).is_file():
        return ""
    with open(folder / NAME, "rb") as file:
        file.seek(at)
        return hashlib.sha256(file.read(count)).hexdigest()


def lines(folder: Path) -> list[bytes]:
    """Return the lines of the file, one for each dead letter."""
    return (folder / NAME).read_bytes().splitlines() if (folder / NAME).is_file() else []


def cut(folder: Path, end: int) -> None:
    """Truncate the file after the dead letters of the last shard."""
    path = folder / NAME
    if path.is_file() and path.stat().st_size > end:
        os.truncate(path, end)
