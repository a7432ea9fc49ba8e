"""Text of documents with pages: form feeds between blocks of two pages, blocks with page and box, what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..._engine.data.blocks import BLOCK_KINDS, ITEM, Blocks

if TYPE_CHECKING:
    import numpy.typing as npt

#: Separates cells of a row of a table in the text.
CELLS = " | "
#: Why a line of a page is left out.
RUNNING_HEAD, RUNNING_FOOT, PAGE_NUMBER = "running_head", "running_foot", "page_number"
#: Why a table of contents is left out.
CONTENTS = "contents"
#: Why a row of a table is left out that goes on over a page.
REPEATED_HEADER = "repeated_header"


class Span(NamedTuple):
    """Characters of the text that are left out, why, and how sure that is, from 0 to 1."""

    start: int
    end: int
    reason: str
    score: float


@dataclass(frozen=True)
class Paged:
    """A document with pages.

    Attributes:
        text: plain text with a form feed between pages, unless a block goes on over their border.
        blocks: of the one document, with the page that each begins on and its box there; what is left out is a block,
            too.
        page_starts: int64[pages], the first character of each page.
        title: "" where none is known.
        removed: running heads, running feet, page numbers, repeated headers of tables and hidden text, in
            the order of the text, which still holds them.
        notes: (page from 1, what is wrong with it), for pages of scans, damaged ones and fonts without meaning.
    """

    text: str
    blocks: Blocks
    page_starts: npt.NDArray[np.int64]
    title: str
    removed: list[Span]
    notes: list[tuple[int, str]]


class PagedWriter:
    """Puts blocks under each other: a blank line between them, a line break between items of a list.

    Example:
        >>> writer = PagedWriter()
        >>> writer.put("heading", 1, "One", 1)
        >>> writer.put("paragraph", 0, "Two.", 2)
        >>> writer.done("", 2, []).text
        'One\\x0cTwo.'
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
        """A block: ``page`` from 1, not below that of a block before, unless that went on over pages.

        ``removed`` says why it is left out; ``turns`` are the pages that begin inside it, each with its first character
        there.
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

    def done(self, title: str, pages: int, notes: list[tuple[int, str]]) -> Paged:
        """The document; ``pages`` that nothing was put on are empty; with 0 it has no pages at all."""
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
        starts = np.array(self._starts, np.int64)
        return Paged("".join(self._parts), blocks, starts, title, self._removed, notes)

    def _turn(self, page: int) -> None:
        while len(self._starts) < page:
            self._add("\f")
            self._starts.append(self._at)

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self._at += len(text)
