"""The ids by which stores of other packages know chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .._engine import native
from ..chunks.batch import Chunk


def store_ids(chunks: Iterable[Chunk]) -> list[str]:
    """Return an id for each chunk: its ``text_id``, which an edit elsewhere in the document does not change.

    If several documents of a call have the same id and share a text, their chunks have the same ``text_id``. All but
    the first of these get a hash of it and of their number, so that a store keeps each of them.

    Args:
        chunks: All chunks of a call, from documents with ids. Without document ids, documents with the same text have
            the same text ids in different calls, too, and one would replace the other in a store.

    Example:
        >>> import pychunk
        >>> chunks = pychunk.segment(["Cats purr."], ids=["pets"])
        >>> store_ids([*chunks, *chunks])
        ['2b10235b2403d30b41bc344adad75719', 'c4d3a19dfdcb999f9843ee3489aca97b']
    """
    equal = Counter[str]()
    found = []
    for chunk in chunks:
        number = equal[chunk.text_id]
        equal[chunk.text_id] += 1
        found.append(native.hash128(f"{chunk.text_id} {number}".encode()) if number else chunk.text_id)
    return found
