"""The reader of PDF, to documents with blocks, pages and removed spans; a separate process parses each file."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from ..._util.memory_errors import LACK, check_memory, is_lack
from ..._util.worker_process import Processes, ProcessKilledError
from ..decompression.bzip2 import Block
from ..document_batches import EXCERPT_BYTES, DeadLetter, DeadLetters, Document
from . import paged_files

#: The limits of a process for one document: its address space in bytes, and its time in seconds. Python, NumPy and
#: Arrow take half a gigabyte of the address space. The time is a last resort. It is ten times the time of a document at
#: the limits of :mod:`pychunk.parsing.pdf.pdf_work`.
MEMORY, SECONDS = 4 << 30, 9000.0
#: The maximum number of processes that parse, unless the caller requests more.
_MOST = 4


class RawPdf(NamedTuple):
    """The bytes of a file, still to be parsed."""

    data: bytes
    file: str
    size: int
    bytes_read: int


def raw(blocks: Iterable[Block], file: str, dead_letters: DeadLetters) -> RawPdf | None:
    """Return a file's bytes; None if they cannot be read."""
    found = paged_files.held(blocks, file, dead_letters)
    return None if found is None else RawPdf(found[0], file, max(1, len(found[0])), found[1])


def processes(workers: int) -> Processes:
    """Return the processes that parse: one per available CPU up to 4, or ``workers`` if that is more.

    The processes start when they are needed.

    Raises:
        ImportError: pypdfium2 is not installed.
    """
    if importlib.util.find_spec("pypdfium2") is None:
        raise ImportError('reading PDF needs pypdfium2: pip install "pychunk-native[docs]"')
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Processes(
        max(workers, min(_MOST, cpus)), "pychunk.parsing.pdf.pdf_document:read_pdf", seconds=SECONDS, memory=MEMORY
    )


def parsed(items: Sequence[RawPdf], pool: Processes) -> tuple[list[Document], list[DeadLetter]]:
    """Return the documents of the files that can be read, and dead letters.

    Dead letters are about other files, about documents in which no text is left, and about pages without text.
    """
    # The import is here since few inputs are PDF; it would add 0.01 s to the start of every command.
    from ...parsing.pdf.pdf_document import PdfError

    documents, letters = [], []
    for item, found in zip(items, pool.map([item.data for item in items]), strict=True):
        if isinstance(found, ImportError):
            raise found
        if isinstance(found, Exception):
            if is_lack(found) and not isinstance(found, ProcessKilledError):
                raise MemoryError(LACK) from found
            check_memory(found if isinstance(found, MemoryError) else MemoryError())
            known = isinstance(found, (PdfError, ProcessKilledError))
            reason = str(found) if known else f"cannot be read: {type(found).__name__}: {found}"
            letters.append(DeadLetter(item.file, "whole file", reason, item.data[:EXCERPT_BYTES]))
            continue
        if reason := paged_files.why_empty(found):
            letters.append(DeadLetter(item.file, "whole file", reason, item.data[:EXCERPT_BYTES], partial=True))
        documents.append(paged_files.document(found, item.file, item.bytes_read))
        letters += _letters(item.file, found.notes)
    return documents, letters


def _letters(file: str, notes: Sequence[tuple[int, str]]) -> list[DeadLetter]:
    """Return a dead letter for each run of pages with the same reason; it is partial, as other pages are read."""
    letters = []
    for (reason, _), group in groupby(enumerate(notes), lambda each: (each[1][1], each[1][0] - each[0])):
        pages = [page for _, (page, _) in group]
        place = f"page {pages[0]}" if len(pages) == 1 else f"pages {pages[0]} to {pages[-1]}"
        letters.append(DeadLetter(file, place, reason, partial=True))
    return letters
