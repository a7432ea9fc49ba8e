"""The reader of files that a converter turns into documents with blocks; separate processes run the converters."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

import pyarrow as pa

from ..._util import memory
from ..._util.memory import LACK, check_memory, is_lack
from ..._util.worker_process import Processes, ProcessKilledError
from ...parsing.pdf.paged_text import Paged
from ..decompression.bzip2 import Block
from ..document_batches import EXCERPT_BYTES, DeadLetter, DeadLetters, Document
from . import paged_files

#: The function that reads PDF. It is called directly, because a request would copy the file, and PDFs are long.
PDF = "pychunk.parsing.pdf.pdf_document:read_pdf"
#: The functions that recognize text in images, in PDF and in files of images.
PDF_BY_OCR, IMAGE = PDF + "_by_ocr", "pychunk.parsing.pdf.pdf_document:read_image"
#: The column of documents whose text is recognized: the pages, and the mean confidence of the lines of each.
OCR = (("ocr", pa.list_(pa.struct([("page", pa.int32()), ("confidence", pa.float32())]))),)
#: The limits of a process for one document: its address space in bytes, and, for files other than PDF and images, its
#: time in seconds. Python, NumPy and Arrow take half a gigabyte of the address space. The time is a last resort.
MEMORY, SECONDS = 4 << 30, 600.0
#: The memory that a process takes for a common document, in bytes, without and with the recognition of text.
_EACH, _EACH_BY_OCR = 120_000_000, 900_000_000
#: The maximum number of processes that convert, unless the caller requests more.
_MOST = 4


class RawFile(NamedTuple):
    """The bytes of a file, or of a part of one, still to be converted.

    Attributes:
        data: The bytes.
        id: The id of the document.
        file: The file on the disk.
        kind: The kind of the file.
        size: The size in bytes, at least 1.
        bytes_read: The number of the source's bytes, as they are stored, up to the end of the file.
        depth: The number of files around this one, such as archives.
    """

    data: bytes
    id: str
    file: str
    kind: str
    size: int
    bytes_read: int
    depth: int = 0


class Converted(NamedTuple):
    """The result of a conversion.

    Attributes:
        document: The document; None if the file cannot be converted.
        letters: The dead letters about the file.
        attached: (name, content) of the files that it contains.
    """

    document: Document | None
    letters: list[DeadLetter]
    attached: list[tuple[str, bytes]]


def raw(blocks: Iterable[Block], file: str, kind: str, dead_letters: DeadLetters, depth: int = 0) -> RawFile | None:
    """Return a file's bytes; None if they cannot be read."""
    found = paged_files.held(blocks, file, dead_letters)
    return None if found is None else RawFile(found[0], file, file, kind, max(1, len(found[0])), found[1], depth)


def lacks(needs: Sequence[str]) -> str:
    """Return the first of the packages that is not installed, by the name to import; "" if there is none."""
    return next((name for name in needs if importlib.util.find_spec(name) is None), "")


def processes(function: str, workers: int) -> Processes:
    """Return the processes that call a converter: one per available CPU up to 4, or ``workers`` if that is more.

    There are fewer if the memory is limited.

    The processes start when they are needed.
    """
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    by_ocr = function in (PDF_BY_OCR, IMAGE)
    count = memory.processes(max(workers, min(_MOST, cpus)), _EACH_BY_OCR if by_ocr else _EACH)
    seconds = SECONDS
    if by_ocr or function == PDF:
        from ...parsing.pdf.pdf_document import MAX_SECONDS, SECONDS_BY_OCR  # imported here as in converted()

        seconds = SECONDS_BY_OCR if by_ocr else MAX_SECONDS
    # Every page needs 2 GB of address space for its networks, so these processes have no share of a common limit.
    return Processes(count, function, seconds=seconds, memory=MEMORY * count if by_ocr else MEMORY)


def converted(item: RawFile, found: Paged | Exception, columns: Sequence[tuple[str, pa.DataType]]) -> Converted:
    """Return the document of a file, from the result of the process that converted it.

    The dead letter is about a file that cannot be converted, a document in which no text is left, or pages without
    text.

    Args:
        item: The file.
        found: What the process returned, or the error that it raised.
        columns: The columns of the file's kind, in addition to id, text and file.

    Raises:
        ImportError: A package is missing.
        MemoryError: The memory ran out, which need not be the file's fault.
    """
    # The import is here since few inputs are PDF; it would add 0.01 s to the start of every command.
    from ...parsing.converters.dispatch import ConversionError
    from ...parsing.pdf.pdf_document import PdfError

    if isinstance(found, ImportError):
        raise found
    if isinstance(found, Exception):
        if is_lack(found) and not isinstance(found, ProcessKilledError):
            raise MemoryError(LACK) from found
        check_memory(found if isinstance(found, MemoryError) else MemoryError())
        known = isinstance(found, (PdfError, ConversionError, ProcessKilledError))
        reason = str(found) if known else f"cannot be read: {type(found).__name__}: {found}"
        return Converted(None, [DeadLetter(item.id, "whole file", reason, item.data[:EXCERPT_BYTES])], [])
    letters = []
    if found.blocks.page is not None and (reason := paged_files.why_empty(found)):
        letters.append(DeadLetter(item.id, "whole file", reason, item.data[:EXCERPT_BYTES], partial=True))
    letters += _letters(item.id, found.notes)
    document = paged_files.document(found, item.file, item.bytes_read, item.id, columns)
    return Converted(document, letters, found.attached)


def _letters(file: str, notes: Sequence[tuple[int, str]]) -> list[DeadLetter]:
    """Return a dead letter for each run of pages with the same reason; it is partial, as other pages are read."""
    letters = []
    for (reason, _), group in groupby(enumerate(notes), lambda each: (each[1][1], each[1][0] - each[0])):
        pages = [page for _, (page, _) in group]
        place = f"page {pages[0]}" if len(pages) == 1 else f"pages {pages[0]} to {pages[-1]}"
        letters.append(DeadLetter(file, place if pages[0] else "whole file", reason, partial=True))
    return letters
