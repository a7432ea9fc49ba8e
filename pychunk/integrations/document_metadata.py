"""What is said of each document, from the metadata that other packages' documents carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..inputs.document_columns import NAMES, wanted_columns
from ..segmenter import Segmenter


def keys_of(options: dict[str, Any]) -> dict[str, str]:
    """Takes from the options of an adapter those that name a key of the metadata, such as ``titles="title"``.

    Raises:
        TypeError: one that is no name: values belong to documents, which come later.
    """
    keys = {name: options.pop(name) for name in NAMES if name in options}
    for name, key in keys.items():
        if not isinstance(key, str):
            raise TypeError(f"{name} must be a key of the documents' metadata; got {type(key).__name__}")
    return keys


def said_of(made: Segmenter, keys: Mapping[str, str], metadatas: Sequence[Mapping[Any, Any]]) -> Any:
    """The keywords of a call of the Segmenter, a value a document.

    A key that a method takes unasked, as ``title``, is taken where every document has it.

    Raises:
        ValueError: a document without a key that was named.
    """
    shared = set.intersection(*map(set, metadatas)) if metadatas else set()
    found: dict[str, list[Any]] = {}
    for name, key in wanted_columns(made.method.wants, shared, keys).items():
        missing = [row for row, metadata in enumerate(metadatas) if key not in metadata]
        if missing:
            raise ValueError(f"{name}={key!r}: document {missing[0]} has no such key in its metadata")
        found[name] = [metadata[key] for metadata in metadatas]
    return found
