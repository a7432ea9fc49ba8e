"""The reader of DoclingDocument JSON, one document per file."""

from __future__ import annotations

from collections.abc import Iterable

from ...parsing.docling import DoclingError, parse_docling
from ..decompression.bzip2 import Block
from ..document_batches import EXCERPT_BYTES, DeadLetter, DeadLetters, Document
from . import paged_files


def document(blocks: Iterable[Block], file: str, dead_letters: DeadLetters) -> Document | None:
    """Return a file as one document; None if it cannot be read."""
    found = paged_files.held(blocks, file, dead_letters)
    if found is None:
        return None
    try:
        return paged_files.document(parse_docling(found[0]), file, found[1])
    except DoclingError as error:
        dead_letters(DeadLetter(file, "whole file", str(error), found[0][:EXCERPT_BYTES]))
        return None
