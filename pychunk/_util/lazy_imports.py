"""Names of a package that are loaded at their first use (PEP 562)."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any


def on_demand(
    package: str, modules: Collection[str] | None = None, objects: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """Return a ``__getattr__`` for ``package`` that loads modules and objects at their first use.

    Args:
        package: The name of the package.
        modules: The modules that it loads; default: all of the package.
        objects: The objects that it loads, with the module of each.
    """
    places = dict(objects or {})

    def load(name: str) -> Any:
        if name in places:
            found = getattr(importlib.import_module(places[name], package), name)
            setattr(sys.modules[package], name, found)
            return found
        if name in modules if modules is not None else _is_module(package, name):
            return importlib.import_module(f"{package}.{name}")
        # With name and obj, Python itself suggests a similar name.
        raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])

    return load


def _is_module(package: str, name: str) -> bool:
    return not name.startswith("_") and importlib.util.find_spec(f"{package}.{name}") is not None


class LazyModule:
    """A module that is loaded when one of its names is first used.

    >>> LazyModule("colorsys").rgb_to_yiq(0, 0, 0)
    (0.0, 0.0, 0.0)
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        # The name is looked up each time, as in a module itself.
        return getattr(importlib.import_module(self._name), name)


def by_name(module: str, name: str) -> Any:
    """Return the object of a name in a module of a higher layer than the caller, which is loaded now."""
    return getattr(importlib.import_module(module), name)
