"""The folder of a run. It has one writer at a time, and its files appear complete or not at all.

Every file that is not a shard begins with ``_``, so that Spark, DuckDB and pyarrow read the folder as a data set.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import TracebackType

from .._util import durable_files
from .._util.folder_lock import FolderLock

LOCK = "_lock"
#: The folders of the additional data sets: summaries and removed spans. Their shards have the same names as the shards
#: of the chunks.
SUMMARIES, REMOVED = "_summaries", "_removed"
#: The folder of the digests of the documents, by which an update finds those that have changed.
DIGESTS = "_digests"
BESIDE = (SUMMARIES, REMOVED, DIGESTS)
#: The list of the chunks that the last update changed.
CHANGES = "_changes.parquet"
#: The list of the documents that are copies of an earlier one, and are left out.
DUPLICATES = "_duplicates.parquet"
#: The beginning of the name of a file that is being written.
ASIDE = "_writing-"
_SHARD = re.compile(r"part-\d{6,}\.parquet")


def shard_name(number: int) -> str:
    """Return the file name of a shard."""
    return f"part-{number:06}.parquet"


def shard_number(name: str) -> int:
    """Return the number in the file name of a shard."""
    return int(name[5:-8])


def aside(path: Path) -> Path:
    """Return the path to which a file is written before it gets its final name."""
    return path.with_name(ASIDE + path.name)


def settle(path: Path) -> None:
    """Rename a file that is complete on the disk to its final name."""
    durable_files.settle(aside(path), path)


def sweep(folder: Path, kept: set[str]) -> list[str]:
    """Remove half-written files and all shards but those in ``kept``, and return the names of the removed files."""
    folders = [folder, *(folder / name for name in BESIDE if (folder / name).is_dir())]
    files = [path for each in folders for path in sorted(each.iterdir())]
    found = [path for path in files if path.name.startswith(ASIDE)]
    found += [path for path in files if _SHARD.fullmatch(path.name) and path.name not in kept]
    for path in found:
        path.unlink()
    return [str(path.relative_to(folder)) for path in found]


def strangers(folder: Path, own: set[str]) -> list[str]:
    """Return the names of the files in a folder that no run writes."""
    names = sorted(path.name for path in folder.iterdir())
    return [name for name in names if name not in own and not name.startswith(ASIDE) and not _SHARD.fullmatch(name)]


class Lock:
    """A context manager that makes this process the only writer of a folder.

    Raises:
        ValueError: Another process writes there.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = FolderLock(folder / LOCK)

    def __enter__(self) -> Lock:
        if not self._lock.take():
            raise ValueError(
                f"another process writes to {self._lock.path.parent}. Wait for it, or choose another folder"
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()
