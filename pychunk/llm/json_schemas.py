"""The JSON schemas of answers, as endpoints take them. Every property is required, and no other is allowed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


def one_of(words: Iterable[str]) -> dict[str, Any]:
    """Return the schema of a value that is one of several words."""
    return {**TEXT, "enum": list(words)}


def list_of(item: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a list whose items have the schema ``item``."""
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
