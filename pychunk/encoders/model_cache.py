"""One copy of a model in a process, for whoever asks for the same files on the same placement.

A model is known by what its file of facts says, which holds the checksums of its other files: one that was exported
again at the same path is another one. Models that something holds are found again; those used last are kept.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeVar

Model = TypeVar("Model")

#: Models kept while nothing else holds them.
KEPT = 8


class _ModelCache:
    """The models of this process, by (class, path, placement ...) and facts."""

    def __init__(self) -> None:
        self._used: dict[Hashable, tuple[bytes, Any]] = {}
        self._alive: weakref.WeakValueDictionary[Hashable, Any] = weakref.WeakValueDictionary()
        self.begin()

    def begin(self) -> None:
        """New locks: in a forked process nobody would let go of those that another thread had."""
        self._lock, self._loading = threading.Lock(), threading.RLock()

    def get(self, key: Hashable, facts: Path, make: Callable[[], Model]) -> Model:
        said = self._said(key, facts)
        found = self._find(key, said)
        if found is None:
            with self._loading:  # two threads that ask for one model load it once
                said = self._said(key, facts)
                found = self._find(key, said)
                if found is None:
                    found = make()
                    self._keep(key, said, found)
        model: Model = found
        return model

    def _said(self, key: Hashable, facts: Path) -> bytes:
        """What a file of facts says, empty where there is none.

        A process that gave up its rights, and may no longer read it, goes on with what it had loaded.
        """
        try:
            return facts.read_bytes()
        except PermissionError:
            last = self._used.get(key)
            return last[0] if last else b""
        except OSError:
            return b""

    def _find(self, key: Hashable, said: bytes) -> Any:
        found = self._alive.get((key, said))
        if found is not None:
            self._keep(key, said, found)
        return found

    def _keep(self, key: Hashable, said: bytes, model: Any) -> None:
        with self._lock:
            self._alive[key, said] = model
            self._used.pop(key, None)  # what stood at the same path before is left to those who hold it
            self._used[key] = said, model
            while len(self._used) > KEPT:
                del self._used[next(iter(self._used))]


_shelf = _ModelCache()
os.register_at_fork(after_in_child=_shelf.begin)


def loaded(path: str | Path, facts: str, make: Callable[[], Model], *key: Hashable) -> Model:
    """What ``make`` loads from a directory, loaded once as long as the file ``facts`` in it says the same.

    ``key``: what else makes it another model: its class, where it runs.
    """
    return _shelf.get((os.path.abspath(path), *key), Path(path) / facts, make)


def read(facts: Path) -> bytes:
    """A file of facts, empty where there is none."""
    try:
        return facts.read_bytes()
    except OSError:
        return b""
