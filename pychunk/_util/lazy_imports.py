"""Names of a package that are loaded when they are first asked for (PEP 562)."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any


def on_demand(
    package: str, modules: Collection[str] | None = None, objects: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """A ``__getattr__`` for ``package``: its ``modules``, by default all, and ``objects`` by the module each is in."""
    places = dict(objects or {})

    def load(name: str) -> Any:
        if name in places:
            found = getattr(importlib.import_module(places[name], package), name)
            setattr(sys.modules[package], name, found)
            return found
        if name in modules if modules is not None else _is_module(package, name):
            return importlib.import_module(f"{package}.{name}")
        # With name and obj Python itself says which name may be meant.
        raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])

    return load


def _is_module(package: str, name: str) -> bool:
    return not name.startswith("_") and importlib.util.find_spec(f"{package}.{name}") is not None


class LazyModule:
    """A module that is loaded when the first of its names is asked for.

    >>> LazyModule("colorsys").rgb_to_yiq(0, 0, 0)
    (0.0, 0.0, 0.0)
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)  # each time, as of a module itself


def by_name(module: str, name: str) -> Any:
    """What a module that lies above the caller calls so: loaded when it is asked for."""
    return getattr(importlib.import_module(module), name)
