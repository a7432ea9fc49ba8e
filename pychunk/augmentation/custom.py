"""Contexts by a function of one's own: documents in, a string for each, or for each of its chunks, out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from .chunk_documents import Document, Documents

#: Documents of one call: many enough for a model to work on together, few enough that an error says where.
_TOGETHER = 64


def name_of(function: Callable[..., Any]) -> str:
    """As errors and metadata name it."""
    return str(getattr(function, "__qualname__", None) or type(function).__qualname__)


def contexts(
    documents: Documents, function: Callable[[list[Document]], Any], failed: list[tuple[int, str]] | None = None
) -> pa.Array:
    """What a function makes of documents, 64 at a time.

    Args:
        failed: gets why a document has no contexts, by its row, in place of an error. Of 64 that fail together each is
            asked for by itself.

    Raises:
        ValueError: it raises, or returns something else than a string, or a list with a string a chunk, for each
            document; names the function and the document.
    """
    every, found = documents.each(), []
    stage = f"augment stage {name_of(function)!r}"
    for begin in range(0, len(every), _TOGETHER):
        own = every[begin : begin + _TOGETHER]
        try:
            found += _made(own, function, stage)
            continue
        except ValueError:
            if failed is None:
                raise
        for each in own:
            try:
                found += _made([each], function, stage)
            except ValueError as error:
                failed.append((each.document, str(error)))
                found += [""] * each.chunks.num_rows
    return pa.array(found, pa.large_string())


def _made(own: list[Document], function: Callable[[list[Document]], Any], stage: str) -> list[str]:
    """The contexts of the chunks of documents that the function gets together."""
    try:
        made = function(own)
    except Exception as error:
        raise ValueError(f"{stage} failed for {_named(own)}: {type(error).__name__}: {error}") from error
    if isinstance(made, (str, bytes)) or not hasattr(made, "__iter__"):
        raise ValueError(f"{stage} must return a list with a string for each of {_named(own)}; got {made!r:.80}")
    made = list(made)
    if len(made) != len(own):
        raise ValueError(f"{stage} returned {len(made)} values for {_named(own)}: one for each")
    return [each for document, value in zip(own, made, strict=True) for each in _of(document, value, stage)]


def _named(own: list[Document]) -> str:
    """How many documents, and which."""
    if len(own) == 1:
        return f"document {own[0].document}"
    return f"{len(own)} documents, {own[0].document} to {own[-1].document}"


def _of(document: Document, value: Any, stage: str) -> list[str]:
    """The contexts of a document's chunks."""
    where = f"document {document.document}" + ("" if document.id is None else f" ({document.id!r})")
    count = document.chunks.num_rows
    if isinstance(value, str):
        return [value] * count
    if value is None or isinstance(value, bytes) or not hasattr(value, "__iter__"):
        raise ValueError(f"{stage} returned {value!r} for {where}: a string, or a list with a string a chunk")
    own = list(value)
    if len(own) != count:
        raise ValueError(f"{stage} returned {len(own)} strings for the {count} chunks of {where}: one for each")
    for chunk, each in enumerate(own):
        if not isinstance(each, str):
            raise ValueError(f"{stage} returned {each!r} for chunk {chunk} of {where}: a string")
    return own
