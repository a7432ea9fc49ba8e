"""The arguments about each document, from the metadata of other packages' documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..inputs.document_columns import NAMES, wanted_columns
from ..segmenter import Segmenter


def keys_of(options: dict[str, Any]) -> dict[str, str]:
    """Take the options of an adapter that name a key of the metadata, such as ``titles="title"``, and return them.

    Raises:
        TypeError: An option is no name. Values belong to documents, which come later.
    """
    keys = {name: options.pop(name) for name in NAMES if name in options}
    for name, key in keys.items():
        if not isinstance(key, str):
            raise TypeError(f"{name} must be a key of the documents' metadata; got {type(key).__name__}")
    return keys


def said_of(made: Segmenter, keys: Mapping[str, str], metadatas: Sequence[Mapping[Any, Any]]) -> Any:
    """Return the keywords of a call of the Segmenter, with one value for each document.

    A key that a method uses by itself, such as ``title``, is used if every document has it.

    Raises:
        ValueError: A document lacks a key that was named.
    """
    shared = set.intersection(*map(set, metadatas)) if metadatas else set()
    found: dict[str, list[Any]] = {}
    for name, key in wanted_columns(made.method.wants, shared, keys).items():
        missing = [row for row, metadata in enumerate(metadatas) if key not in metadata]
        if missing:
            raise ValueError(f"{name}={key!r}: document {missing[0]} has no such key in its metadata")
        found[name] = [metadata[key] for metadata in metadatas]
    return found
