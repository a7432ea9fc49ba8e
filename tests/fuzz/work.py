"""What is done on a disk that fails, in general: steps that each end with a state that is on the disk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .injector import DISK


def contents(folder: Path) -> dict[str, bytes]:
    """All files, those of folders in it too."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Work(ABC):
    """From ``state`` 0, steps that each end with a state that is on the disk.

    Attributes:
        folder: below which calls are counted; empty at first.
        same_bytes: whether the bytes of a run that went on after a kill are those of the unbroken run.
    """

    same_bytes = True
    steps: int

    def __init__(self, folder: Path, options: dict[str, Any]) -> None:
        self.folder, self.options = folder, options

    @abstractmethod
    def prepare(self) -> None:
        """Writes state 0."""

    @abstractmethod
    def run(self, tell: Callable[[int], None], begun: int = 0) -> None:
        """All steps after state ``begun``; tells the number of each state that is reached."""

    def survive(self) -> None:
        """All steps, where the disk may fail once: what fails is done again once the disk is mended."""
        try:
            self.run(lambda state: None)
        except (OSError, RuntimeError, KeyboardInterrupt):
            DISK.mend()
            self.run(lambda state: None, self.check(None))

    @abstractmethod
    def check(self, possible: set[int] | None) -> int:
        """The state that is on the disk, which is whole, and one of those possible."""

    def found(self) -> dict[str, bytes]:
        return contents(self.folder)
