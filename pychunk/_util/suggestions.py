"""The parts of error messages that suggest a correct name in place of a wrong one."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def did_you_mean(name: Any, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` with the nearest known name, or ``""`` if none is near.

    >>> did_you_mean("recursiv", ["recursive", "fixed"])
    "; did you mean 'recursive'?"
    """
    near = difflib.get_close_matches(str(name), list(known), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def with_replacements(replacements: Mapping[str, str]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for functions, which then raise a helpful TypeError if called with an unknown keyword.

    Args:
        replacements: The advice for keywords of other packages and of earlier versions of pychunk.

    Example:
        >>> @with_replacements({"top_k": "pass k="})
        ... def search(query: str, k: int = 5) -> int:
        ...     return k
        >>> search("Who purrs?", top_k=1)
        Traceback (most recent call last):
        TypeError: search() has no keyword 'top_k': pass k=
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        known = list(inspect.signature(function).parameters)

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs:
                if name in replacements:
                    raise TypeError(f"{function.__name__}() has no keyword {name!r}: {replacements[name]}")
                if name not in known:
                    near = did_you_mean(name, [*known, *replacements])
                    listing = ", ".join(each for each in known if each not in ("self", "cls"))
                    raise TypeError(f"{function.__name__}() has no keyword {name!r}; it takes {listing}{near}")
            return function(*args, **kwargs)

        return checked

    return decorate
