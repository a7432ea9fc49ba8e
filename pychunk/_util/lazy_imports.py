"""Modules and objects that are loaded when their names are first used (PEP 562)."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any


def on_demand(
    package: str, modules: Collection[str] | None = None, objects: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """Return a ``__getattr__`` for ``package`` that loads modules and objects at their first use.

    Args:
        package: The name of the package.
        modules: The names of the modules to load; default: all modules of the package.
        objects: The names of the objects to load, each with the module that defines it.
    """
    places = dict(objects or {})

    def load(name: str) -> Any:
        if name in places:
            found = getattr(importlib.import_module(places[name], package), name)
            setattr(sys.modules[package], name, found)
            return found
        if name in modules if modules is not None else _is_module(package, name):
            return importlib.import_module(f"{package}.{name}")
        # Given name and obj, Python adds a similar name to the message.
        raise AttributeError(
            f"module {package!r} has no attribute {name!r}; dir({package}) lists its names",
            name=name,
            obj=sys.modules[package],
        )

    return load


def modules_of(package: str) -> Callable[[], list[str]]:
    """Return a ``__dir__`` for ``package`` that lists its modules, including those that are not loaded yet."""

    def names() -> list[str]:
        folders = sys.modules[package].__path__
        return sorted(each.name for each in pkgutil.iter_modules(folders) if not each.name.startswith("_"))

    return names


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
        # The name is looked up each time, because the module may change it.
        return getattr(importlib.import_module(self._name), name)


def by_name(module: str, name: str) -> Any:
    """Load a module and return one of its objects. This is for modules of a higher layer than the caller's."""
    return getattr(importlib.import_module(module), name)
