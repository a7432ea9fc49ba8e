"""Lines of Markdown as seen by their containers, and the places in which blocks are searched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

#: The most nested quotes and list items. Deeper ones are text. (kDeepest of csrc/parsing/markdown.h)
DEEPEST = 32


@dataclass
class Line:
    """A line as seen by its container.

    Attributes:
        start: The first character other than spaces and tabs, including the marks of containers.
        text: The first such character after these marks, or ``end`` if there is none.
        end: The end of the line without its line break.
        indent: The columns before ``text`` from the container's left edge, with tabs to multiples of 4. It is -1 for a
            line that continues a paragraph of a quote without the quote's mark.
        column: The columns to the left of that edge, which determine the width of tabs.
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
    """The place in which blocks are searched.

    Attributes:
        indent: The columns by which a line must be indented to belong to it.
        list_indent: The same for the list around it, or -1 outside of lists.
        quotes, lists: The number of quotes and of lists around it.
        item_rows: The number of blocks before the innermost list item, or -1 if a quote is inside that item.
        is_note: Whether it is in a footnote or a definition, which cannot contain another one.
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
    """Return the width in columns of spaces and tabs that begin at a column."""
    at = column
    for character in space:
        at += 4 - at % 4 if character == "\t" else 1
    return at - column
