"""The conversion of a JSON document to text: one line for each value, after the path that leads to it."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..._engine.data.blocks import Blocks
from ..pdf.paged_text import Paged
from .dispatch import ConversionError, decoded, plain

#: The values that JSON writes as words.
_WORDS = {True: "true", False: "false", None: "null"}
#: The maximum number of values and containers of a file, and of the keys in a path.
MAX_VALUES, MAX_DEPTH = 5_000_000, 1000


class Members(list[tuple[Any, Any]]):
    """The keys and values of an object, in which a key may occur more than once."""


def convert(data: bytes) -> Paged:
    r"""Convert JSON to a document in which each string, number and word is a line, after its path and a colon.

    Keys and numbers of elements, from 0, make up a path, with dots between them. The line of an empty string, list or
    object ends with the colon. The values below each key or element at the top are a paragraph. Numbers stay as they
    are written. Line breaks in strings stay, too.

    Raises:
        ConversionError: The bytes are not JSON.

    Example:
        >>> convert(b'{"pet": {"name": "Mia", "age": 3.50, "toys": []}, "tags": ["a", true]}').text
        'pet.name: Mia\npet.age: 3.50\npet.toys:\n\ntags.0: a\ntags.1: true'
    """
    try:
        found = json.loads(decoded(data), object_pairs_hook=Members, parse_float=str, parse_int=str)
    except ConversionError:
        raise
    except ValueError as error:
        raise ConversionError(f"not JSON: {error}; correct the file, or pass kind='text'") from None
    return of_values(found)


def of_values(found: Any) -> Paged:
    """Return a document of the values of a file, each with its path.

    Raises:
        ConversionError: There are more than ``MAX_VALUES``, which aliases in a short file can make.
    """
    parts: list[str] = []
    blocks: list[tuple[str, int, int, int]] = []
    at = 0
    left = iter(range(MAX_VALUES))
    for key, value in _entries(found):
        text = plain("\n".join(_lines(key, value, left)))
        if not text:
            continue
        at += 2 if parts else 0
        blocks.append(("paragraph", 0, at, at + len(text)))
        parts.append(text)
        at += len(text)
    return Paged("\n\n".join(parts), Blocks.of([blocks]), np.empty(0, np.int64), "", [], [])


def _entries(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Members):
        return [(str(key), each) for key, each in value]
    if isinstance(value, dict):
        return [(str(key), each) for key, each in value.items()]
    return [(str(at), each) for at, each in enumerate(value)] if isinstance(value, list) else [("", value)]


def _lines(key: str, value: Any, left: Iterator[int]) -> Iterator[str]:
    """Yield the line of each value below a key; a stack replaces recursion, because objects may be deeply nested."""
    waiting = [(key, value, 0)]
    while waiting:
        path, found, depth = waiting.pop()
        if next(left, None) is None:
            raise ConversionError(f"it has more than {MAX_VALUES:,} values: divide the file")
        if isinstance(found, (dict, list)):
            if depth > MAX_DEPTH:
                raise ConversionError(f"it has values under more than {MAX_DEPTH:,} keys: correct the file")
            waiting += [(f"{path}.{name}", each, depth + 1) for name, each in reversed(_entries(found))]
            if not found and path:
                yield f"{path}:"
            continue
        word = _WORDS[found] if found is None or isinstance(found, bool) else str(found)
        if isinstance(found, datetime.datetime):  # of TOML, which separates date and time by T, too
            word = found.isoformat()
        word = word.replace("\f", " ").strip()
        if path:
            yield f"{path}: {word}".rstrip()
        elif word:
            yield word
