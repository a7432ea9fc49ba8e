"""The functions that the readers of documents with pages share: reading the bytes and making the document's row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from ...defaults import BYTES
from ...parsing.block_columns import BLOCKS_TYPE, REMOVED_TYPE, blocks_to_arrow, removed_to_arrow
from ...parsing.pdf.paged_text import Paged
from ..decompression.bzip2 import Block
from ..document_batches import EXCERPT_BYTES, DeadLetter, DeadLetters, Document

#: The maximum size of a file in bytes.
MAX_BYTES = BYTES.pages
#: The columns of its documents in addition to id, text and file.
COLUMNS = (
    ("blocks", BLOCKS_TYPE),
    ("page_starts", pa.list_(pa.int64())),
    ("title", pa.string()),
    ("removed", REMOVED_TYPE),
)


def held(blocks: Iterable[Block], file: str, dead_letters: DeadLetters) -> tuple[bytes, int] | None:
    """Return a file's decompressed bytes and the number of its stored bytes, or None if the file cannot be read."""
    found = bytearray()
    read = 0
    for block in blocks:
        read = block.bytes_read
        if block.gap:
            return None
        found += block.data
        if len(found) > MAX_BYTES:
            reason = f"longer than {MAX_BYTES:,} bytes"
            dead_letters(DeadLetter(file, "whole file", reason, bytes(found[:EXCERPT_BYTES])))
            return None
    return bytes(found), read


def why_empty(paged: Paged) -> str:
    """Return the reason if a document has no text except removed spans; "" if it has other text."""
    at, kept = 0, []
    for span in paged.removed:
        kept.append(paged.text[at : span.start])
        at = span.end
    if paged.text[at:].strip() or any(map(str.strip, kept)):
        return ""
    count = len(paged.removed)
    if not count:
        return "no text: its pages are empty, or show only pictures"
    return (
        f"no text is left: {count:,} line{' was' if count == 1 else 's were'} taken for headers, footers "
        "and page numbers"
    )


def document(
    paged: Paged, file: str, bytes_read: int, id: str = "", columns: Sequence[tuple[str, pa.DataType]] = COLUMNS
) -> Document:
    """Return a document as a row of a batch with these columns, named by its path, or by ``id`` if it has one."""
    more: dict[str, Any] = {
        "blocks": blocks_to_arrow(paged.blocks),
        "page_starts": pa.array([paged.page_starts], pa.list_(pa.int64())),
        "title": paged.title or None,
        "removed": removed_to_arrow([paged.removed]),
        **{name: value or None for name, value in paged.facts.items()},
    }
    values = tuple(more.get(name) for name, _ in columns)
    return Document(id or file, paged.text, file, values, len(paged.text), bytes_read)
