"""Work on a disk that fails, in general: steps that each end with a state that is on the disk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .injector import DISK


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files, including those in folders."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Work(ABC):
    """Steps from ``state`` 0 that each end with a state on the disk.

    Attributes:
        folder: The folder below which calls are counted; empty at first.
        same_bytes: Whether a run that continued after a kill has the bytes of the unbroken run.
    """

    same_bytes = True
    steps: int

    def __init__(self, folder: Path, options: dict[str, Any]) -> None:
        self.folder, self.options = folder, options

    @abstractmethod
    def prepare(self) -> None:
        """Write state 0."""

    @abstractmethod
    def run(self, tell: Callable[[int], None], begun: int = 0) -> None:
        """Run all steps after state ``begun``, and report the number of each state that is reached."""

    def survive(self) -> None:
        """Run all steps on a disk that may fail once; a failed step runs again after the disk works."""
        try:
            self.run(lambda state: None)
        except (OSError, RuntimeError, KeyboardInterrupt):
            DISK.mend()
            self.run(lambda state: None, self.check(None))

    @abstractmethod
    def check(self, possible: set[int] | None) -> int:
        """Return the state on the disk, which must be complete and one of the possible ones."""

    def found(self) -> dict[str, bytes]:
        return contents(self.folder)
