"""Whether the shards that a manifest names are on the disk as they were written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..plumbing.checksums import sha256
from . import letters
from .manifest import Shard


def damage(folder: Path, shards: Sequence[Shard], *, hashes: bool) -> list[tuple[Shard, str]]:
    """Shards that are missing or damaged, and why; ``hashes``: their SHA-256 are compared, else sizes alone."""
    found = []
    for shard in shards:
        path = folder / shard.name
        if not path.is_file():
            found.append((shard, "is missing"))
        elif path.stat().st_size != shard.bytes:
            found.append((shard, f"has {path.stat().st_size:,} bytes, not {shard.bytes:,}"))
        elif hashes and sha256(path) != shard.sha256:
            found.append((shard, "is damaged: its SHA-256 differs"))
        elif letters.digest(folder, shard.letters_at, shard.letter_bytes) != shard.letters_sha256:
            found.append((shard, f"its lines of {letters.NAME} are damaged"))
    return found
