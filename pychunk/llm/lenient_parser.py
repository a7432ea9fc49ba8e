"""The lenient parsing of a model's text, which finds JSON anywhere in it and reads numbers in any form."""

from __future__ import annotations

import json
import re
from typing import Any

#: The most opening brackets of each kind, ``{`` and ``[``, at which the parser tries to read JSON.
_MOST_STARTS = 64
_NUMBERS = re.compile(r"\d{1,9}")
_RANGE = re.compile(r"(\d{1,9})\s*(?:-|–|—|to|\.\.+|,|:)\s*(\d{1,9})")


def json_in(text: str) -> Any:
    r"""Return the first JSON object in a text, else the first list, else None. Text around it is ignored.

    Example:
        >>> json_in('Sure: ```json\n{"first": 3}\n``` as you asked')
        {'first': 3}
        >>> json_in("none at all") is None
        True
    """
    decoder = json.JSONDecoder()
    lists = []
    for opening in "{[":
        at = -1
        for _ in range(_MOST_STARTS):
            at = text.find(opening, at + 1)
            if at < 0:
                break
            try:
                found, _ = decoder.raw_decode(text, at)
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict):
                return found
            lists.append(found)
            break
    return lists[0] if lists else None


def number_of(value: Any) -> int | None:
    """Return a value such as ``3``, ``"3"``, ``3.0`` or ``"[3]"`` as an integer, or None for anything else.

    >>> number_of("[12]"), number_of(3.0), number_of(True), number_of("three")
    (12, 3, None, None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if abs(value) < 10**9 else None
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 1e9 else None
    if isinstance(value, str):
        found = _NUMBERS.findall(value)
        return int(found[0]) if len(found) == 1 else None
    return None


def numbers_of(value: Any) -> list[int] | None:
    """Return the integers in a list, without other items. None if it is no list, or has items but no integers."""
    if not isinstance(value, list):
        return None
    found = [number for each in value if (number := number_of(each)) is not None]
    return found if found or not value else None


def ranges_of(value: Any) -> list[tuple[int, int]] | None:
    """Return (first, last) for each range in ``[[1, 3]]``, ``["1-3"]``, ``[{"first": 1, "last": 3}]`` or ``[4]``.

    The function skips items that are not ranges, and returns None if the value is not a list.

    Example:
        >>> ranges_of([[1, 3], "4-6", {"start": 7, "end": 9}, 10, "none"])
        [(1, 3), (4, 6), (7, 9), (10, 10)]
    """
    if isinstance(value, str):
        value = [each[0] for each in re.finditer(r"\d{1,9}(?:\s*(?:-|–|—|to)\s*\d{1,9})?", value)]
    if not isinstance(value, list):
        return None
    out = []
    for each in value:
        pair = None
        if isinstance(each, dict) and len(each) >= 2:
            pair = [number_of(part) for part in list(each.values())[:2]]
        elif isinstance(each, list) and each:
            pair = [number_of(each[0]), number_of(each[-1])]
        elif isinstance(each, str) and (found := _RANGE.search(each)):
            pair = [int(found[1]), int(found[2])]
        else:
            pair = [number_of(each)] * 2
        first, last = pair
        if first is not None and last is not None:
            out.append((first, last))
    return out
