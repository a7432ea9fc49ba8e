"""Text and Markdown files to documents, one a file."""

from __future__ import annotations

from collections.abc import Iterable

from .bzip2 import Block
from .documents import EXCERPT_BYTES, DeadLetter, DeadLetters, Document

#: Bytes that a file may have.
MAX_BYTES = 512 << 20


def document(blocks: Iterable[Block], file: str, dead_letters: DeadLetters) -> Document | None:
    """A file as one document, named by its path; None where it cannot be decoded. A byte order mark is left out."""
    held: list[bytes] = []
    size = read = 0
    for block in blocks:
        size, read = size + len(block.data), block.bytes_read
        if block.gap:
            return None
        if size > MAX_BYTES:
            dead_letters(DeadLetter(file, "whole file", f"longer than {MAX_BYTES:,} bytes", held[0][:EXCERPT_BYTES]))
            return None
        held.append(block.data)
    data = b"".join(held)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reason = f"invalid UTF-8 at byte {error.start}"
        dead_letters(DeadLetter(file, "whole file", reason, data[error.start :][:EXCERPT_BYTES]))
        return None
    return Document(file, text, file, (), len(data), read)
