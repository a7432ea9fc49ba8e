"""The text of documents with pages: form feeds between pages, blocks with page and box, and removed spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._engine.data.blocks import BLOCK_KINDS, ITEM, Blocks

if TYPE_CHECKING:
    import numpy.typing as npt

#: The separator of cells of a table's row in the text.
CELLS = " | "
#: The reasons for removing a line of a page.
RUNNING_HEAD, RUNNING_FOOT, PAGE_NUMBER = "running_head", "running_foot", "page_number"
#: The reason for removing a table of contents.
CONTENTS = "contents"
#: The reason for removing a table's header row that is repeated where the table continues on another page.
REPEATED_HEADER = "repeated_header"


class Span(NamedTuple):
    """A removed span: characters of the text, the reason, and the certainty from 0 to 1."""

    start: int
    end: int
    reason: str
    score: float


@dataclass(frozen=True)
class Paged:
    """A document with pages.

    Attributes:
        text: Plain text with a form feed between pages, unless a block continues across them.
        blocks: The blocks of the document, each with the page on which it begins and its box on that page. Removed text
            is in blocks, too.
        page_starts: int64[pages], the first character of each page.
        title: The title; "" if it is unknown.
        removed: The spans of headers, footers, page numbers, tables of contents, repeated headers of tables and hidden
            text, in the order of the text. ``text`` still contains them.
        notes: (page from 1, problem) for scanned and damaged pages, and for fonts without a character map. Page 0 is
            the whole file.
        facts: The document's values of the columns that its kind adds, such as ``author``.
        attached: (name, content) of the files that the document contains, such as the attachments of a mail.
    """

    text: str
    blocks: Blocks
    page_starts: npt.NDArray[np.int64]
    title: str
    removed: list[Span]
    notes: list[tuple[int, str]]
    facts: dict[str, Any] = field(default_factory=dict)
    attached: list[tuple[str, bytes]] = field(default_factory=list)


class PagedWriter:
    r"""A writer that puts blocks one after the other: a blank line between them, a line break between items of a list.

    Example:
        >>> writer = PagedWriter()
        >>> writer.put("heading", 1, "One", 1)
        >>> writer.put("paragraph", 0, "Two.", 2)
        >>> writer.done("", 2, []).text
        'One\x0cTwo.'
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._at = 0
        self._starts = [0]
        self._rows: list[tuple[int, int, int, int, int]] = []
        self._boxes: list[tuple[float, float, float, float]] = []
        self._removed: list[Span] = []

    def put(
        self,
        kind: str,
        level: int,
        text: str,
        page: int,
        box: tuple[float, float, float, float] | None = None,
        removed: str = "",
        score: float = 1.0,
        turns: Sequence[tuple[int, int]] = (),
    ) -> None:
        """Add a block.

        Args:
            kind: The kind of the block.
            level: The level of the block.
            text: The text of the block.
            page: The page from 1. It is not before the page of an earlier block, unless that block continued across
                pages.
            box: The box of the block on the page.
            removed: The reason for removing the block; "" if it stays.
            score: The certainty of the removal, from 0 to 1.
            turns: The pages that begin inside the block, each with the offset of its first character.
        """
        number = BLOCK_KINDS.index(kind)
        if len(self._starts) < page:
            self._turn(page)
        elif self._rows:
            self._add("\n" if number == self._rows[-1][0] == ITEM else "\n\n")
        end = self._at + len(text)
        self._rows.append((number, level, self._at, end, page))
        self._boxes.append(box or (np.nan,) * 4)
        if removed:
            self._removed.append(Span(self._at, end, removed, score))
        for turned, at in turns:
            self._starts += [self._at + at] * (turned - len(self._starts))
        self._add(text)

    def done(self, title: str, pages: int, notes: list[tuple[int, str]], facts: dict[str, Any] | None = None) -> Paged:
        """Return the document. It has ``pages`` pages, some of which may be empty; 0 is a document without pages."""
        self._turn(pages)
        table = np.array(self._rows, np.int64).reshape(-1, 5)
        blocks = Blocks(
            np.array([0, len(table)], np.int64),
            table[:, 0].astype(np.int8),
            table[:, 1].astype(np.int16),
            table[:, 2].copy(),
            table[:, 3].copy(),
            page=table[:, 4].astype(np.int32) if pages else None,
            box=np.array(self._boxes, np.float32).reshape(-1, 4) if pages else None,
        )
        starts = np.array(self._starts if pages else [], np.int64)
        return Paged("".join(self._parts), blocks, starts, title, self._removed, notes, facts or {})

    def _turn(self, page: int) -> None:
        while len(self._starts) < page:
            self._add("\f")
            self._starts.append(self._at)

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self._at += len(text)
