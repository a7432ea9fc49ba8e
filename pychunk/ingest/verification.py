"""The check that the shards in a manifest are still on the disk as they were written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .._util.checksums import sha256
from . import dead_letters
from .run_folder import DIGESTS, REMOVED, SUMMARIES
from .run_manifest import Shard

#: The beginning of a message about a file of an additional data set.
_BESIDE = {SUMMARIES: "its file of summaries ", REMOVED: "its file of removed spans ", DIGESTS: "its file of digests "}


def damage(folder: Path, shards: Sequence[Shard], *, hashes: bool) -> list[tuple[Shard, str]]:
    """Return the shards that are missing or damaged, with the reasons.

    With ``hashes``, the check compares the SHA-256 of the Parquet files, otherwise only their sizes. It always compares
    the SHA-256 of the digests, which an update relies on, and of the dead letters.
    """
    found = []
    for shard in shards:
        of_files = (_damage(*file, hashes or file[0].parent.name == DIGESTS) for file in shard.files(folder))
        whys = [why for why in of_files if why]
        if whys:
            found.append((shard, whys[0]))
        elif dead_letters.digest(folder, shard.letters_at, shard.letter_bytes) != shard.letters_sha256:
            found.append((shard, f"its lines of {dead_letters.NAME} are damaged"))
    return found


def check(folder: Path, shards: Sequence[Shard], *, hashes: bool) -> None:
    """Raise ValueError if a shard that an update takes over is missing or damaged."""
    for shard, why in damage(folder, shards, hashes=hashes):
        raise ValueError(
            f"{folder / shard.name}{':' * why.startswith('its')} {why}, and an update takes over its chunks. Restore "
            "it from a copy, or ingest into another folder"
        )


def _damage(path: Path, size: int, digest: str, hashes: bool) -> str:
    """Return how a file differs from the file that was written, or an empty string if it does not differ."""
    beside = _BESIDE.get(path.parent.name, "")
    if not path.is_file():
        return f"{beside}is missing"
    if path.stat().st_size != size:
        return f"{beside}has {path.stat().st_size:,} bytes, not {size:,}"
    if hashes and sha256(path) != digest:
        return f"{beside}is damaged: its SHA-256 differs"
    return ""
