"""The conversion of files to documents by worker processes, and the files that converted files contain."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from typing import Any

from .._util.counting import counted
from .._util.worker_process import Processes
from ..parsing.converters import dispatch
from ..parsing.pdf.paged_text import Paged
from ..telemetry import record
from .containers import Names, contained
from .document_batches import DeadLetter, DeadLetters, Document
from .formats.converted_files import IMAGE, PDF, PDF_BY_OCR, RawFile, converted, processes
from .kinds import KINDS, ParserInput, ParserOptions
from .recognition import ending_of

#: The function that calls the converters of all kinds but PDF, so that few processes serve many kinds.
_ANY = f"{dispatch.__name__}:{dispatch.convert.__name__}"
_DEFAULTS = ParserOptions()


def _attached(
    item: RawFile, name: str, data: bytes, asked: ParserOptions, tell: DeadLetters
) -> Iterator[Document | RawFile]:
    """Yield the documents of a file that a converted file contains."""
    nowhere: Any = None  # only what is inside the file is read
    outer = ParserInput(item.id, item.size, tell, nowhere, nowhere, depth=item.depth, outer=item.file)
    yield from contained(outer, name, data, item.bytes_read, asked)


class Conversion:
    """The worker processes of a source, and the conversion of its files.

    Args:
        workers: The number of processes. See :func:`pychunk.io.formats.converted_files.processes`.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._pools: dict[str, Processes] = {}
        self._pages, self._seconds = 0, 0.0

    def documents(
        self, items: Sequence[Document | RawFile], kind: str, asked: ParserOptions = _DEFAULTS
    ) -> tuple[list[Document], list[DeadLetter]]:
        """Return the documents of a batch of files in their order, and the dead letters.

        The documents that a file contains follow that file.

        Args:
            items: The files. A document is returned unchanged.
            kind: The kind of the batch, whose columns the documents have.
            asked: The options of the parsers of files that other files contain.

        Raises:
            ImportError: A package that a kind needs is not installed.
        """
        begun = time.perf_counter()
        found = self._called([item for item in items if isinstance(item, RawFile)], ocr=asked.ocr)
        took = time.perf_counter() - begun
        documents: list[Document] = []
        letters: list[DeadLetter] = []
        for item in items:
            if isinstance(item, Document):
                documents.append(item)
                continue
            result = next(found)
            if isinstance(result, Paged) and (pages := len(result.facts.get("ocr", ()))):
                self._pages, self._seconds, took = self._pages + pages, self._seconds + took, 0.0
            made = converted(item, result, KINDS[kind].columns)
            documents += [] if made.document is None else [made.document]
            letters += made.letters
            names = Names()
            for name, data in made.attached:
                own = [*_attached(item, names.unique(name), data, asked, letters.append)]
                inner, more = self.documents(own, kind, asked)
                documents += inner
                letters += more
        return documents, letters

    def _called(self, items: Sequence[RawFile], *, ocr: bool) -> Iterator[Paged | Exception]:
        """Return the results of the converters in the order of the files."""
        order: dict[str, list[int]] = {}
        for at, item in enumerate(items):
            name = KINDS[item.kind].function
            called = PDF_BY_OCR if ocr and name == PDF else name if name in (PDF, IMAGE) else _ANY
            order.setdefault(called, []).append(at)
        results: dict[int, Paged | Exception] = {}
        for function, places in order.items():
            own = [items[at] for at in places]
            for kind in {item.kind for item in own}:
                if lacks := KINDS[kind].lacks:
                    raise ImportError(f"reading files of kind {kind} needs {lacks}: {KINDS[kind].install}")
            pool = self._pools.setdefault(function, processes(function, self._workers))
            asked = [
                item.data
                if function != _ANY
                else dispatch.request(KINDS[item.kind].function, item.data, ending_of(item.id, item.kind))
                for item in own
            ]
            results |= zip(places, pool.map(asked), strict=True)
        return iter([results[at] for at in range(len(items))])

    def close(self) -> None:
        """End the processes, and log how fast text was recognized."""
        for pool in self._pools.values():
            pool.close()
        self._pools.clear()
        if self._pages:
            said = f"recognized the text of {counted(self._pages, 'page')}, %(rate).2f a second"
            rate = self._pages / max(self._seconds, 1e-9)
            record(logging.INFO, "ocr.end", said, pages=self._pages, rate=rate)
            self._pages = 0
