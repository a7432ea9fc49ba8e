"""The segmentation methods, each a small class in its own file that checks its options and says what it needs."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from .autochunker import Autochunker
from .base import Method
from .cluster import Cluster
from .fixed import Fixed
from .llm_semantic import LlmSemantic
from .lumber import Lumber
from .nsp import Nsp
from .page import Page
from .paragraph import Paragraph
from .pic import Pic
from .precomputed import Precomputed
from .proposition import Proposition
from .recursive import Recursive
from .semantic import Semantic
from .sentence import Sentence
from .structure import Structure
from .topic import Topic

METHODS: dict[str, type[Method]] = {
    "pic": Pic,
    "semantic": Semantic,
    "cluster": Cluster,
    "fixed": Fixed,
    "recursive": Recursive,
    "structure": Structure,
    "sentence": Sentence,
    "paragraph": Paragraph,
    "page": Page,
    "nsp": Nsp,
    "topic": Topic,
    "given": Precomputed,
    "autochunker": Autochunker,
    "llm_semantic": LlmSemantic,
    "lumber": Lumber,
    "proposition": Proposition,
}


def option_names(method: str) -> list[str]:
    """Return the names of the options that a method takes in addition to the shared ones."""
    made: Any = METHODS[method]
    return list(_parameters(made))


@functools.cache
def _parameters(made: Any) -> tuple[str, ...]:
    """Return the parameters of a method, cached.

    Commands ask for each option which methods have it, and reading a signature takes 0.05 ms.
    """
    return tuple(inspect.signature(made).parameters)


def make_method(name: str | Method, options: dict[str, Any], common: tuple[str, ...] = ()) -> Method:
    """Return the method of a name with its options.

    Args:
        name: The name of a method, or a method, which is returned unchanged.
        options: The method's own options by name.
        common: Names of the options that every method has, which the caller handles.

    Raises:
        ValueError: The name or an option is unknown. The message lists the choices.
    """
    if isinstance(name, Method):
        if options:
            raise ValueError(f"{name!r} is a finished method, which takes no further options; got {', '.join(options)}")
        return name
    if not isinstance(name, str) or name not in METHODS:
        raise ValueError(f"unknown method {name!r}; choose one of {', '.join(METHODS)}")
    known = option_names(name)
    for option in options:
        if option not in known:
            choices = f"its options are {', '.join(known)}" if known else "it has no options of its own"
            shared = f"; those of every method are {', '.join(common)}" if common else ""
            raise ValueError(
                f"method {name!r} has no option {option!r}; {choices}{shared}{_meant(option, known, common)}"
            )
    return METHODS[name](**options)


def _meant(option: str, known: list[str], common: tuple[str, ...]) -> str:
    """Return a hint with the known name nearest to an unknown option, or "" if none is near.

    If the name is an option of other methods only, the hint names them.
    """
    import difflib

    owners = {each: [repr(m) for m in METHODS if each in option_names(m)] for m in METHODS for each in option_names(m)}
    near = difflib.get_close_matches(option, dict.fromkeys([*known, *common, *owners]), 1)
    if not near:
        return ""
    if near[0] in known or near[0] in common:
        return f"; did you mean {near[0]!r}?"
    *others, last = owners[near[0]]
    of = f"{', '.join(others)} and {last}" if others else last
    return (
        f"; it is an option of {of}"
        if near[0] == option
        else f"; did you mean {near[0]!r}, which is an option of {of}?"
    )


__all__ = ["METHODS", "Method", "make_method", "option_names"]
