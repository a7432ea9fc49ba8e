"""JSON schemas of answers, as endpoints take them: every property is required, and there are no others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


def one_of(words: Iterable[str]) -> dict[str, Any]:
    """One of some words."""
    return {**TEXT, "enum": list(words)}


def list_of(item: dict[str, Any]) -> dict[str, Any]:
    """A list whose items are all so."""
    return {"type": "array", "items": item}


def object_of(**properties: dict[str, Any]) -> dict[str, Any]:
    """An object with these properties.

    >>> object_of(queries=list_of(TEXT))["required"]
    ['queries']
    """
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
