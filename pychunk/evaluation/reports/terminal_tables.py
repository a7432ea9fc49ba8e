"""Tables on a terminal, split into blocks that fit its width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

#: The spaces between two columns of a table; the characters that a heading may have before it is wrapped.
_GAP, _HEADING = 2, 9


class Column(NamedTuple):
    """A heading with a cell for each row below it."""

    heading: str
    cells: Sequence[Text]

    @property
    def width(self) -> int:
        """The number of characters in the widest cell, or in the heading as far as it cannot be wrapped."""
        longest = max((len(word) for word in self.heading.split()), default=0)
        heading = min(len(self.heading), max(longest, _HEADING))
        return max([heading, *(len(each) for each in self.cells)])


class RowLabels:
    """The labels of rows in tables: names, or numbers if the names leave no room for figures.

    Args:
        names: The names of all rows.
        width: The width of the terminal.

    Example:
        >>> names = RowLabels(["fixed:size=100, hybrid", "sentence, hybrid"], 40)
        >>> names.short("sentence, hybrid"), names.short("another")
        ('2', 'another')
    """

    def __init__(self, names: Sequence[str], width: int) -> None:
        self._names = names
        self.numbered = max(map(len, names), default=0) > width // 2 - _GAP

    def short(self, name: str) -> str:
        """Return the label of a row in a table."""
        return str(self._names.index(name) + 1) if self.numbered and name in self._names else name

    def legend(self) -> Table | None:
        """Return a table of the names and their numbers, None if tables do not use numbers."""
        if not self.numbered:
            return None
        found = Table.grid(padding=(0, _GAP))
        found.add_column(justify="right")
        found.add_column(overflow="fold")
        for number, name in enumerate(self._names, 1):
            found.add_row(str(number), Text(name))
        return found


def blocks(labels: Sequence[Column], columns: Sequence[Column], width: int) -> Iterator[Table]:
    """Yield the columns in as few tables as fit the width, at least one column in each, all with the labels of rows."""
    left = taken = width - sum(each.width + _GAP for each in labels)
    shown: list[Column] = []
    for column in columns:
        if shown and taken < column.width:
            yield _table(labels, shown)
            shown, taken = [], left
        shown.append(column)
        taken -= column.width + _GAP
    if shown:
        yield _table(labels, shown)


def show(console: Console, labels: Sequence[Column], columns: Sequence[Column]) -> None:
    """Print the tables, each after a blank line."""
    for table in blocks(labels, columns, console.width):
        console.print()
        console.print(table)


def _table(labels: Sequence[Column], columns: Sequence[Column]) -> Table:
    table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, _GAP, 0, 0), collapse_padding=True)
    for each in labels:
        table.add_column(Text(each.heading), overflow="fold", min_width=each.width)
    for each in columns:
        table.add_column(Text(each.heading), justify="right", overflow="fold", width=each.width)
    for cells in zip(*(each.cells for each in (*labels, *columns)), strict=True):
        table.add_row(*cells)
    return table
