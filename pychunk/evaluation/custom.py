"""The caller's own methods and encoders, given as ``module:name``, classes, objects or functions."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..methods import Method

F32 = npt.NDArray[np.float32]

_PLACE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def is_place(text: str) -> bool:
    """Return whether a text has the form ``module:name``.

    Example:
        >>> is_place("my.methods:Shift"), is_place("recursive:size=80"), is_place("models/mine")
        (True, False, False)
    """
    return _PLACE.fullmatch(text) is not None


def load(place: str) -> Any:
    """Return the object that ``module:name`` names; modules in the working folder are found, too.

    Raises:
        ValueError: There is no such module, or it has nothing of that name.

    Example:
        >>> load("math:sqrt")(4.0)
        2.0
    """
    module, _, name = place.partition(":")
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not module.startswith(str(error.name)):
            raise ValueError(f"{place}: {module} imports {error.name}, which is not installed: install it") from None
        raise ValueError(
            f"{place}: there is no module {error.name!r}, neither installed nor in {here}: correct the name"
        ) from None
    finally:
        sys.path.remove(here)
    for part in name.split("."):
        if not hasattr(found, part):
            names = ", ".join(each for each in vars(found) if not each.startswith("_"))
            raise ValueError(f"{place}: {module} has no {part!r}; name one of {names:.200}")
        found = getattr(found, part)
    return found


def method_of(given: Any, options: Mapping[str, Any], name: str) -> tuple[Any, dict[str, Any]]:
    """Return (a method or a function of a text, the options that are left for :class:`pychunk.Segmenter`).

    Args:
        given: A class of methods, a method, or a function. A class is called with those of the options that it takes.
        options: The options of the row.
        name: The name for errors.

    Raises:
        ValueError: ``given`` is none of these, or it is a function although there are options.
    """
    left = dict(options)
    if inspect.isclass(given):
        takes = set(inspect.signature(given).parameters)
        given = given(**{key: left.pop(key) for key in list(left) if key in takes})
    if isinstance(given, Method):
        return given, left
    if not callable(given):
        raise ValueError(
            f"{name} must be a pychunk.Method, a class of methods, or a function from a text to its chunks; "
            f"got {type(given).__name__}"
        )
    if left:
        raise ValueError(f"{name} is a function, which takes no options; got {', '.join(left)}")
    return given, left


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_pair(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) == 2


def pieces(made: Any, text: str, name: str) -> list[str] | list[tuple[int, int]]:
    """Return the chunks that a function made of a text, as their texts or as (start, end) in characters.

    Raises:
        ValueError: The function returned neither.
    """
    found = list(made)
    if all(map(_is_text, found)):
        return found
    if all(map(_is_pair, found)):
        spans = [(int(start), int(end)) for start, end in found]
        wrong = next((each for each in spans if not 0 <= each[0] <= each[1] <= len(text)), None)
        if wrong is None:
            return [each for each in spans if text[slice(*each)].strip()]
        raise ValueError(
            f"{name}: chunk {wrong} is not in a text of {len(text)} characters; return (start, end) with "
            f"0 <= start <= end <= {len(text)}"
        )
    first = next((test for test in (_is_text, _is_pair) if test(found[0])), _is_text)
    wrong = next(each for each in found if not first(each))
    raise ValueError(
        f"{name} must return the texts of chunks, or the (start, end) of each in characters; got {wrong!r:.80}"
    )


class Model:
    """The caller's own model, wrapped for the evaluation.

    Args:
        given: An object, a class or a function. An object has ``encode``, which takes a list of texts, and
            ``encode_queries`` if it encodes questions differently. A class makes such objects. A function takes a list
            of texts.
        name: The name for rows and errors.

    Example:
        >>> Model(lambda texts: [[3.0, 4.0]] * len(texts), "two").encode(["a"]).tolist()
        [[0.6000000238418579, 0.800000011920929]]
    """

    def __init__(self, given: Any, name: str) -> None:
        given = given() if inspect.isclass(given) else given
        encode = getattr(given, "encode", given)
        if not callable(encode):
            raise ValueError(
                f"{name} must be an object with encode(texts) or a function of texts, which returns a vector for each; "
                f"got {type(given).__name__}"
            )
        self._encode, self._queries, self._name = encode, getattr(given, "encode_queries", encode), name
        self.fingerprint = name
        self.dim = self.encode(["A text."]).shape[1]

    def encode(self, texts: Sequence[str]) -> F32:
        """Return unit vectors, float32[n, dim]."""
        return self._checked(self._encode, texts)

    def encode_queries(self, texts: Sequence[str]) -> F32:
        """Return the unit vectors of questions, float32[n, dim]."""
        return self._checked(self._queries, texts)

    def _checked(self, encode: Any, texts: Sequence[str]) -> F32:
        vectors = np.asarray(encode(list(texts)), np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise ValueError(
                f"{self._name} must return a row of finite numbers for each text, [{len(texts)}, d]; got shape "
                f"{vectors.shape}{'' if np.isfinite(vectors).all() else ' with NaN or infinity'}"
            )
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(norms, np.float32(1e-12)), np.float32)
