"""Segmentation methods: one file, one small class each. A class checks its options and says what it needs."""

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
    """Names of the options that a method takes besides the shared ones."""
    made: Any = METHODS[method]
    return list(_parameters(made))


@functools.cache
def _parameters(made: Any) -> tuple[str, ...]:
    """Once a method: commands ask for each option which methods have it, and a signature takes .05 ms."""
    return tuple(inspect.signature(made).parameters)


def make_method(name: str | Method, options: dict[str, Any], common: tuple[str, ...] = ()) -> Method:
    """The method of that name; ValueError, naming the choices, for an unknown name or option.

    ``common``: names of the options that every method has, which the caller takes care of.
    """
    if isinstance(name, Method):
        if options:
            raise ValueError(f"{name!r} is made already; it takes no options here; got {', '.join(options)}")
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
    """The nearest name to one that is unknown, with the methods whose option it is where it is not this one's."""
    import difflib

    owners = {each: [repr(m) for m in METHODS if each in option_names(m)] for m in METHODS for each in option_names(m)}
    near = difflib.get_close_matches(option, dict.fromkeys([*known, *common, *owners]), 1)
    if not near:
        return ""
    if near[0] in known or near[0] in common:
        return f"; did you mean {near[0]!r}?"
    *others, last = owners[near[0]]
    of = f"{', '.join(others)} and {last}" if others else last
    return f"; it is one of {of}" if near[0] == option else f"; did you mean {near[0]!r}, which is one of {of}?"


__all__ = ["METHODS", "Method", "make_method", "option_names"]
