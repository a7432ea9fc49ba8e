"""The folder of a run: one writer at a time, and files that appear whole or not at all.

Every file that is not a shard begins with ``_``, so that Spark, DuckDB and pyarrow take the folder for a data set.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import TracebackType

from .._util import durable_files
from .._util.folder_lock import FolderLock

LOCK = "_lock"
#: Data sets beside the chunks, whose shards are called as theirs are: summaries, and what was left out.
SUMMARIES, REMOVED = "_summaries", "_removed"
BESIDE = (SUMMARIES, REMOVED)
#: Begins the name of a file that is being written.
ASIDE = "_writing-"
_SHARD = re.compile(r"part-\d{6,}\.parquet")


def shard_name(number: int) -> str:
    return f"part-{number:06}.parquet"


def aside(path: Path) -> Path:
    """Where a file is written before it gets its name."""
    return path.with_name(ASIDE + path.name)


def settle(path: Path) -> None:
    """Gives what was written aside, and is on the disk, its name."""
    durable_files.settle(aside(path), path)


def sweep(folder: Path, kept: set[str]) -> list[str]:
    """Removes half-written files, and shards that are not ``kept``; returns their names."""
    folders = [folder, *(folder / name for name in BESIDE if (folder / name).is_dir())]
    files = [path for each in folders for path in sorted(each.iterdir())]
    found = [path for path in files if path.name.startswith(ASIDE)]
    found += [path for path in files if _SHARD.fullmatch(path.name) and path.name not in kept]
    for path in found:
        path.unlink()
    return [str(path.relative_to(folder)) for path in found]


def strangers(folder: Path, own: set[str]) -> list[str]:
    """Names in a folder that no run writes."""
    names = sorted(path.name for path in folder.iterdir())
    return [name for name in names if name not in own and not name.startswith(ASIDE) and not _SHARD.fullmatch(name)]


class Lock:
    """A context manager that makes this process the only writer of a folder.

    Raises:
        ValueError: another process writes there.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = FolderLock(folder / LOCK)

    def __enter__(self) -> Lock:
        if not self._lock.take():
            raise ValueError(f"another process writes to {self._lock.path.parent}: wait for it, or give another folder")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()
