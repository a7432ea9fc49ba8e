"""The JSON schemas of answers in the form of endpoints, with every property required and no others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


def one_of(words: Iterable[str]) -> dict[str, Any]:
    """Return the schema of one of several words."""
    return {**TEXT, "enum": list(words)}


def list_of(item: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a list of such items."""
    return {"type": "array", "items": item}


def object_of(**properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with these properties.

    >>> object_of(queries=list_of(TEXT))["required"]
    ['queries']
    """
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
