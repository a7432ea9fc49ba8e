"""A cache with one copy of each model in a process, shared by all callers with the same files and placement.

A model is identified by the contents of its facts file, which holds the checksums of its other files. If a model is
exported again to the same path, the cache therefore loads it again. The cache finds every model that a caller still
references. It also keeps the models that were used last, even if no caller references them any more.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeVar

Model = TypeVar("Model")

#: The number of models that the cache keeps while nothing else references them.
KEPT = 8


class _ModelCache:
    """The models of this process, by (path, class, placement, ...) and by the contents of their facts files."""

    def __init__(self) -> None:
        self._used: dict[Hashable, tuple[bytes, Any]] = {}
        self._alive: weakref.WeakValueDictionary[Hashable, Any] = weakref.WeakValueDictionary()
        self.begin()

    def begin(self) -> None:
        """Create new locks, because in a forked process nobody would release a lock that another thread held."""
        self._lock, self._loading = threading.Lock(), threading.RLock()

    def get(self, key: Hashable, facts: Path, make: Callable[[], Model]) -> Model:
        said = self._said(key, facts)
        found = self._find(key, said)
        if found is None:
            with self._loading:  # Two threads that need one model load it once.
                said = self._said(key, facts)
                found = self._find(key, said)
                if found is None:
                    found = make()
                    self._keep(key, said, found)
        model: Model = found
        return model

    def _said(self, key: Hashable, facts: Path) -> bytes:
        """Return the contents of a facts file, empty if there is none.

        A process that dropped its privileges, and can no longer read the file, continues with the model that it loaded.
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
            self._used.pop(key, None)  # An earlier model of the same path lives as long as callers use it.
            self._used[key] = said, model
            while len(self._used) > KEPT:
                del self._used[next(iter(self._used))]


_shelf = _ModelCache()
os.register_at_fork(after_in_child=_shelf.begin)


def loaded(path: str | Path, facts: str, make: Callable[[], Model], *key: Hashable) -> Model:
    """Return the model in a directory; ``make`` loads it once, and again only after its facts file has changed.

    Args:
        path: The directory.
        facts: The name of the facts file in it.
        make: A function that loads the model.
        key: Other values that distinguish models of one directory, such as the class and the placement.
    """
    return _shelf.get((os.path.abspath(path), *key), Path(path) / facts, make)


def read(facts: Path) -> bytes:
    """Return the contents of a facts file, empty if there is none."""
    try:
        return facts.read_bytes()
    except OSError:
        return b""
