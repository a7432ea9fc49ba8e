"""Segmentation methods: one file, one small class each. A class checks its options and writes them into a Plan."""

from __future__ import annotations

import inspect
from typing import Any

from .base import Method
from .cluster import Cluster
from .fixed import Fixed
from .nsp import Nsp
from .page import Page
from .paragraph import Paragraph
from .pic import Pic
from .recursive import Recursive
from .semantic import Semantic
from .sentence import Sentence

METHODS: dict[str, type[Method]] = {
    "pic": Pic,
    "semantic": Semantic,
    "cluster": Cluster,
    "fixed": Fixed,
    "recursive": Recursive,
    "sentence": Sentence,
    "paragraph": Paragraph,
    "page": Page,
    "nsp": Nsp,
}


def option_names(method: str) -> list[str]:
    """Names of the options that a method takes besides the shared ones."""
    return list(inspect.signature(METHODS[method]).parameters)


def make_method(name: str, options: dict[str, Any]) -> Method:
    """The method of that name; ValueError, naming the choices, for an unknown name or option."""
    if not isinstance(name, str) or name not in METHODS:
        raise ValueError(f"unknown method {name!r}; choose one of {', '.join(METHODS)}")
    known = option_names(name)
    for option in options:
        if option not in known:
            choices = f"its options are {', '.join(known)}" if known else "it has no options of its own"
            raise ValueError(f"method {name!r} has no option {option!r}; {choices}")
    return METHODS[name](**options)


__all__ = ["METHODS", "Method", "make_method", "option_names"]
