"""Contexts from a function of the caller, which returns a string for each document, or for each of its chunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from .._util.counting import counted
from .chunk_documents import Document, Documents

#: The number of documents in one call of the function: enough for a model to process together, and few enough that an
#: error shows where it occurred.
_TOGETHER = 64


def name_of(function: Callable[..., Any]) -> str:
    """Return the name of a function as errors and metadata show it."""
    return str(getattr(function, "__qualname__", None) or type(function).__qualname__)


def contexts(
    documents: Documents, function: Callable[[list[Document]], Any], failed: list[tuple[int, str]] | None = None
) -> pa.Array:
    """Return the contexts that a function makes of documents, 64 at a time.

    Args:
        documents: The documents with their chunks.
        function: Takes a list of documents. For each document it returns a string, or a list with a string for each
            chunk.
        failed: If this is a list, a failure raises no error: the list receives the row of each document without
            contexts, and the reason. After a call for 64 documents fails, the function is called for each document
            alone.

    Raises:
        ValueError: The function raises, or returns another type or number of values. The message names the function and
            the document.
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
                failed.append((each.index, str(error)))
                found += [""] * each.chunks.num_rows
    return pa.array(found, pa.large_string())


def _made(own: list[Document], function: Callable[[list[Document]], Any], stage: str) -> list[str]:
    """Return the contexts of the chunks of documents that the function receives together."""
    try:
        made = function(own)
    except Exception as error:
        raise ValueError(
            f"{stage} failed for {_named(own)}: {type(error).__name__}: {error}; correct the function"
        ) from error
    if isinstance(made, (str, bytes)) or not hasattr(made, "__iter__"):
        raise ValueError(f"{stage} must return a list with a string for each of {_named(own)}; got {made!r:.80}")
    made = list(made)
    if len(made) != len(own):
        raise ValueError(f"{stage} returned {counted(len(made), 'value')} for {_named(own)}; expected one for each")
    return [each for document, value in zip(own, made, strict=True) for each in _of(document, value, stage)]


def _named(own: list[Document]) -> str:
    """Return the number of documents and their rows in words."""
    if len(own) == 1:
        return f"document {own[0].index}"
    return f"{len(own)} documents, {own[0].index} to {own[-1].index}"


def _of(document: Document, value: Any, stage: str) -> list[str]:
    """Return the contexts of a document's chunks."""
    where = f"document {document.index}" + ("" if document.id is None else f" ({document.id!r})")
    count = document.chunks.num_rows
    if isinstance(value, str):
        return [_encodable(value, stage, where)] * count
    if value is None or isinstance(value, bytes) or not hasattr(value, "__iter__"):
        raise ValueError(
            f"{stage} returned {value!r:.80} for {where}; expected a string, or a list with a string for each chunk"
        )
    own = list(value)
    if len(own) != count:
        raise ValueError(
            f"{stage} returned {counted(len(own), 'string')} for {counted(count, 'chunk')} of {where}; expected one "
            "for each"
        )
    for chunk, each in enumerate(own):
        if not isinstance(each, str):
            raise ValueError(f"{stage} returned {each!r:.80} for chunk {chunk} of {where}; expected a string")
        _encodable(each, stage, f"chunk {chunk} of {where}")
    return own


def _encodable(text: str, stage: str, where: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        place = f"a lone surrogate at character {error.start}"
        raise ValueError(f"{stage} returned text with {place} for {where}; remove it in the function") from None
    return text
