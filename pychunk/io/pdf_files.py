"""PDF files to documents with blocks, pages and what is left out; each is parsed by a process of its own."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow as pa

from ..parsing.columns import BLOCKS_TYPE, REMOVED_TYPE, blocks_to_arrow, removed_to_arrow
from ..parsing.pdf import Pdf, PdfError
from ..plumbing.isolated import KilledError, Processes
from .bzip2 import Block
from .documents import EXCERPT_BYTES, DeadLetter, DeadLetters, Document

#: Bytes that a file may have.
MAX_BYTES = 512 << 20
#: Seconds and bytes of address space for one document; Python, NumPy and Arrow take half a gigabyte of that.
SECONDS, MEMORY = 120.0, 4 << 30
#: Processes that parse, where not more are asked for.
_MOST = 4
#: The columns of its documents beside id, text and file.
COLUMNS = (
    ("blocks", BLOCKS_TYPE),
    ("page_starts", pa.list_(pa.int64())),
    ("title", pa.string()),
    ("removed", REMOVED_TYPE),
)


class RawPdf(NamedTuple):
    """The bytes of a file, still to be parsed."""

    data: bytes
    file: str
    size: int
    bytes_read: int


def raw(blocks: Iterable[Block], file: str, dead_letters: DeadLetters) -> RawPdf | None:
    """A file's bytes; None where they cannot be had."""
    held = bytearray()
    read = 0
    for block in blocks:
        read = block.bytes_read
        if block.gap:
            return None
        held += block.data
        if len(held) > MAX_BYTES:
            dead_letters(
                DeadLetter(file, "whole file", f"longer than {MAX_BYTES:,} bytes", bytes(held[:EXCERPT_BYTES]))
            )
            return None
    return RawPdf(bytes(held), file, max(1, len(held)), read)


def processes(workers: int) -> Processes:
    """The processes that parse: as many as CPUs that are ours up to 4, or as are asked for; they start when needed.

    Raises:
        ImportError: pypdfium2 is not installed.
    """
    if importlib.util.find_spec("pypdfium2") is None:
        raise ImportError('reading PDF needs pypdfium2: pip install "pychunk-native[docs]"')
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Processes(max(workers, min(_MOST, cpus)), "pychunk.parsing.pdf:read_pdf", seconds=SECONDS, memory=MEMORY)


def parsed(items: Sequence[RawPdf], pool: Processes) -> tuple[list[Document], list[DeadLetter]]:
    """Documents of those files that have text, and letters about the others and about pages without text."""
    documents, letters = [], []
    for item, found in zip(items, pool.map([item.data for item in items]), strict=True):
        if isinstance(found, ImportError):
            raise found
        if isinstance(found, Exception):
            known = isinstance(found, (PdfError, KilledError, MemoryError))
            reason = str(found) if known else f"cannot be read: {type(found).__name__}: {found}"
            letters.append(DeadLetter(item.file, "whole file", reason, item.data[:EXCERPT_BYTES]))
            continue
        documents.append(_document(item, found))
        letters += _letters(item.file, found.notes)
    return documents, letters


def _document(item: RawPdf, pdf: Pdf) -> Document:
    more: tuple[Any, ...] = (
        blocks_to_arrow(pdf.blocks),
        pa.array([pdf.page_starts], pa.list_(pa.int64())),
        pdf.title or None,
        removed_to_arrow([pdf.removed]),
    )
    return Document(item.file, pdf.text, item.file, more, len(pdf.text), item.bytes_read)


def _letters(file: str, notes: Sequence[tuple[int, str]]) -> list[DeadLetter]:
    """One letter for pages that follow each other with one reason; the rest of the document is read."""
    letters = []
    for (reason, _), group in groupby(enumerate(notes), lambda each: (each[1][1], each[1][0] - each[0])):
        pages = [page for _, (page, _) in group]
        place = f"page {pages[0]}" if len(pages) == 1 else f"pages {pages[0]} to {pages[-1]}"
        letters.append(DeadLetter(file, place, reason, partial=True))
    return letters
