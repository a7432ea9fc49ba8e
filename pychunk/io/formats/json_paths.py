"""Paths into the objects of JSON Lines: ``meta.author`` is the value of ``author`` in the value of ``meta``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..._engine import native

_KIND = {name: number for number, name in enumerate(native.JSON_KINDS)}
_LONE = dict.fromkeys(range(55296, 57344), "�")
_MISSING = object()

#: A column: the values as they are written, with null for a missing value, and the kinds of the values.
Column = tuple[pa.LargeStringArray, npt.NDArray[np.uint8]]


class _Whole(str):
    """An integer as it is written."""


class _Number(str):
    """A number other than an integer, as it is written."""


def heads(name: str) -> list[str]:
    """Return the keys with which a path may begin, whose values are then searched for the rest of the path.

    >>> heads("meta.author.name"), heads("text")
    (['meta', 'meta.author'], [])
    """
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def followed(name: str, columns: Mapping[str, Column]) -> Column:
    """Return the values at a path. For a row that has the whole path as a key, it is the value of this key."""
    own, kinds = columns[name]
    inside = [head for head in heads(name) if (np.isin(columns[head][1], _NESTED)).any()]
    if not inside:
        return own, kinds
    found: list[str | None] = own.to_pylist()
    kinds = kinds.copy()
    for head in inside:
        values, of_head = columns[head]
        rows = np.flatnonzero((kinds == _KIND["missing"]) & np.isin(of_head, _NESTED))
        for row, value in zip(rows.tolist(), values.take(pa.array(rows)).to_pylist(), strict=True):
            held = json.loads(value, parse_int=_Whole, parse_float=_Number, parse_constant=_Number)
            kind, text = _said(_at(held, name[len(head) + 1 :]))
            kinds[row], found[row] = _KIND[kind], text
    return pa.array(found, pa.large_string()), kinds


_NESTED = [_KIND["object"], _KIND["array"]]


def _at(value: Any, path: str) -> Any:
    if isinstance(value, dict) and path in value:
        return value[path]
    if isinstance(value, list) and path.isdecimal():
        return value[int(path)] if int(path) < len(value) else _MISSING
    for head in heads(path):
        if isinstance(value, dict) and head in value:
            inner = value[head]
        elif isinstance(value, list) and head.isdecimal() and int(head) < len(value):
            inner = value[int(head)]
        else:
            continue
        if (found := _at(inner, path[len(head) + 1 :])) is not _MISSING:
            return found
    return _MISSING


def _said(value: Any) -> tuple[str, str | None]:
    """Return the kind of a value, and the value as a string."""
    if value is _MISSING:
        return "missing", None
    if value is None:
        return "null", None
    if isinstance(value, bool):
        return "boolean", json.dumps(value)
    if isinstance(value, _Whole):
        return "integer", str(value)
    if isinstance(value, _Number):
        return "float", str(value)
    if isinstance(value, str):
        text = value.translate(_LONE) if any("\ud800" <= each <= "\udfff" for each in value) else value
        return ("string" if text == value else "surrogate"), text
    return ("array" if isinstance(value, list) else "object"), _written(value)


def _written(value: Any) -> str:
    """Return a value as JSON, with numbers as they were written."""
    if isinstance(value, (_Whole, _Number)):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(key)}: {_written(each)}' for key, each in value.items())}}}"
    return json.dumps(value)


def paths(lines: bytes) -> Iterator[str]:
    """Yield the paths in the object of the first line."""
    try:
        held = json.loads(lines.split(b"\n", 1)[0])
    except (ValueError, RecursionError):
        return
    waiting = [("", held)]
    while waiting:
        before, value = waiting.pop()
        for key, each in value.items() if isinstance(value, dict) else ():
            yield before + key
            waiting.append((f"{before}{key}.", each))
