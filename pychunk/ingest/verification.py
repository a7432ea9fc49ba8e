"""The check whether the shards that a manifest names are on the disk as they were written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .._util.checksums import sha256
from . import dead_letters
from .run_folder import REMOVED, SUMMARIES
from .run_manifest import Shard

#: The beginning of a message about a file of an additional data set.
_BESIDE = {SUMMARIES: "its summaries: ", REMOVED: "its removed spans: "}


def damage(folder: Path, shards: Sequence[Shard], *, hashes: bool) -> list[tuple[Shard, str]]:
    """Return the shards that are missing or damaged, with the reasons.

    With ``hashes``, it compares their SHA-256, otherwise only their sizes.
    """
    found = []
    for shard in shards:
        whys = [why for path, size, digest in shard.files(folder) if (why := _damage(path, size, digest, hashes))]
        if whys:
            found.append((shard, whys[0]))
        elif dead_letters.digest(folder, shard.letters_at, shard.letter_bytes) != shard.letters_sha256:
            found.append((shard, f"its lines of {dead_letters.NAME} are damaged"))
    return found


def _damage(path: Path, size: int, digest: str, hashes: bool) -> str:
    """Return the reason if a file differs from what was written, else an empty string."""
    beside = _BESIDE.get(path.parent.name, "")
    if not path.is_file():
        return f"{beside}is missing"
    if path.stat().st_size != size:
        return f"{beside}has {path.stat().st_size:,} bytes, not {size:,}"
    if hashes and sha256(path) != digest:
        return f"{beside}is damaged: its SHA-256 differs"
    return ""
