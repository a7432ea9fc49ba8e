"""The Segmenter's arguments about each document, read from the metadata of other packages' documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..inputs.document_columns import columns_by_role, wanted_columns
from ..io.markup import Markup, parse
from ..placement import Placement
from ..segmenter import Segmenter
from ..vectors import Vectors


def keys_of(options: dict[str, Any]) -> dict[str, str]:
    """Remove the option ``columns`` from an adapter's options, and return its keys of the metadata by role.

    Raises:
        TypeError: A role has a value that is not the name of a key.
        ValueError: A role is unknown, or it is ``text``, which documents of these packages hold themselves.
    """
    keys = columns_by_role(options.pop("columns", None))
    if "text" in keys:
        raise ValueError(
            f"columns must not name the text, which each document holds itself; got text={keys['text']!r:.80}: leave "
            "it out"
        )
    for name, key in keys.items():
        if not isinstance(key, str):
            raise TypeError(f"{name} must be a key of the documents' metadata; got {type(key).__name__}")
    return keys


def restored(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return an adapter's options, with the objects that its stored form holds as dictionaries restored."""
    kinds = {"placement": Placement, "vectors": Vectors}
    return {
        name: kinds[name](**value) if name in kinds and isinstance(value, Mapping) else value
        for name, value in options.items()
    }


def parsed(texts: list[str], markup: Markup | None) -> Any:
    """Return texts as a Segmenter takes them, with the structure of their markup if there is one."""
    return texts if markup is None else parse(texts, markup)


def said_of(made: Segmenter, keys: Mapping[str, str], metadatas: Sequence[Mapping[Any, Any]]) -> Any:
    """Return the argument ``columns`` for a call of the Segmenter: by role, one value for each document.

    A key that the method looks for by default, such as ``title``, is used if every document has it.

    Raises:
        ValueError: A document lacks a key that was named.
    """
    shared = set.intersection(*map(set, metadatas)) if metadatas else set()
    return values_of(wanted_columns(made.method.wants, shared, keys), metadatas)


def values_of(keys: Mapping[str, str], metadatas: Sequence[Mapping[Any, Any]]) -> dict[str, list[Any]]:
    """Return the values of keys of the metadata by the keys' roles, one for each document.

    Raises:
        ValueError: A document lacks a key.
    """
    found: dict[str, list[Any]] = {}
    for name, key in keys.items():
        missing = [row for row, metadata in enumerate(metadatas) if key not in metadata]
        if missing:
            keys_there = ", ".join(map(str, metadatas[missing[0]]))
            has = f"its keys are {keys_there:.200}" if keys_there else "it has no keys"
            raise ValueError(
                f"{name}={key!r}: document {missing[0]} has no such key in its metadata; {has}: add the key, or name "
                "one that all documents have"
            )
        found[name] = [metadata[key] for metadata in metadatas]
    return found
