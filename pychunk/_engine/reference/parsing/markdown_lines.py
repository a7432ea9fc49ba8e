"""The lines of Markdown relative to the containers around them, and the places in which blocks are searched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

#: The most quotes and list items that may be nested. The marks of deeper ones are text. It is kDeepest of
#: csrc/parsing/markdown.h.
DEEPEST = 32


@dataclass
class Line:
    """A line, relative to the container that contains it.

    Attributes:
        start: The position of the first character other than spaces and tabs, which may be the mark of a container.
        text: The position of the first such character after the marks of containers, or ``end`` if there is none.
        end: The end of the line without its line break.
        indent: The number of columns from the container's left edge to ``text``, with tabs up to multiples of 4. It is
            -1 for a line that continues a paragraph of a quote without the quote's mark.
        column: The number of columns before the container's left edge, on which the width of tabs depends.
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
        indent: The number of columns by which a line must be indented to belong to the place.
        list_indent: The number of columns by which a line must be indented to belong to the list around the place, or
            -1 outside of lists.
        quotes, lists: The number of quotes and of lists around the place.
        item_rows: The number of blocks that were found before the innermost list item, or -1 if the place is in a quote
            inside that item.
        is_note: Whether the place is in a footnote or a definition, which cannot contain further ones.
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
    """Return the width, in columns, of a text of spaces and tabs that begins at ``column``."""
    at = column
    for character in space:
        at += 4 - at % 4 if character == "\t" else 1
    return at - column
