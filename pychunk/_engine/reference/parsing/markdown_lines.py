"""Lines of Markdown as their containers see them, and where blocks are looked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

#: Quotes and list items inside one another; what is deeper is text. (kDeepest of csrc/parsing/markdown.h)
DEEPEST = 32


@dataclass
class Line:
    """A line as the container sees it that is looked at.

    Attributes:
        start: first character that is no space or tab, marks of containers included.
        text: first such character behind these marks; ``end`` where there is none.
        end: where the line ends, without its break.
        indent: columns before ``text``, from the container's left edge, tabs to multiples of 4; -1 for a line that goes
            on with a paragraph of a quote without the quote's mark.
        column: columns left of that edge, by which tabs are told.
    """

    start: int
    text: int
    end: int
    indent: int
    column: int = 0

    @property
    def blank(self) -> bool:
        return self.text >= self.end


class Place(NamedTuple):
    """The place where blocks are looked for.

    Attributes:
        indent: columns that a line must be indented by to belong there.
        list_indent: the same of the list around it; -1 outside lists.
        quotes, lists: how many are around it.
        item_rows: how many blocks there were when the innermost list item began; -1 where a quote is inside it.
        is_note: whether a footnote or a definition is around it, which hold none of them.
    """

    indent: int = 0
    list_indent: int = -1
    quotes: int = 0
    lists: int = 0
    item_rows: int = -1
    is_note: bool = False

    @property
    def is_full(self) -> bool:
        return self.quotes + self.lists >= DEEPEST


def is_code(line: Line, place: Place) -> bool:
    return line.indent - place.indent >= 4


def width_of(space: str, column: int) -> int:
    """Columns of spaces and tabs that begin at a column."""
    at = column
    for character in space:
        at += 4 - at % 4 if character == "\t" else 1
    return at - column
