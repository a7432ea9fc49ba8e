"""The reader of Markdown, one document per file, with its blocks, its title, and removed spans that have no words."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from ...defaults import BYTES
from ...parsing.badges import badges_of
from ...parsing.block_columns import BLOCKS_TYPE, REMOVED_TYPE, blocks_to_arrow, removed_to_arrow
from ...parsing.markdown import blocks_of, titles_of
from ..decompression.bzip2 import Block
from ..document_batches import DeadLetters, Document
from . import text_files

#: The maximum size in bytes of a file whose blocks are found. For a longer file, blocks and title are null. A file of
#: this size may have 10 million paragraphs of one letter, which take 1.6 GB until they are in a table.
MAX_BYTES = BYTES.markdown_block
#: The columns of its documents in addition to id, text and file.
COLUMNS = (("blocks", BLOCKS_TYPE), ("title", pa.string()), ("removed", REMOVED_TYPE))


def document(blocks: Iterable[Block], file: str, dead_letters: DeadLetters, *, cleaned: bool = True) -> Document | None:
    """Return a file as one document, named by its path, with the file's text; None if it cannot be decoded.

    Args:
        blocks: The file's bytes.
        file: The file's name.
        dead_letters: The callable that gets dead letters.
        cleaned: Whether spans that have no words, such as badges, are removed.
    """
    found = text_files.document(blocks, file, dead_letters)
    return None if found is None else with_blocks(found, cleaned=cleaned)


def with_blocks(found: Document, *, cleaned: bool = True) -> Document:
    """Return a document with its blocks, its title and, if ``cleaned``, removed spans where it has no words."""
    if found.size > MAX_BYTES:
        return found._replace(more=(None, None, None))
    seen = blocks_of([found.text], threads=1)
    removed = removed_to_arrow([badges_of(found.text, seen) if cleaned else []])
    return found._replace(more=(blocks_to_arrow(seen), titles_of([found.text], seen)[0], removed))
