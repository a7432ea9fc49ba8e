"""Tables on a terminal, in blocks that fit its width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

#: Columns between two of a table; characters that a heading is given before it goes on in another line.
_GAP, _HEADING = 2, 9


class Column(NamedTuple):
    """A heading, and under it a cell for each row."""

    heading: str
    cells: Sequence[Text]

    @property
    def width(self) -> int:
        """Characters of its widest cell, and of its heading as far as that cannot go on in another line."""
        longest = max((len(word) for word in self.heading.split()), default=0)
        heading = min(len(self.heading), max(longest, _HEADING))
        return max([heading, *(len(each) for each in self.cells)])


class RowLabels:
    """What rows are called in tables: by their names, or by numbers where these would leave no room for figures.

    Args:
        names: of all rows. width: of the terminal.

    Example:
        >>> names = RowLabels(["fixed:size=100, hybrid", "sentence, hybrid"], 40)
        >>> names.short("sentence, hybrid"), names.short("another")
        ('2', 'another')
    """

    def __init__(self, names: Sequence[str], width: int) -> None:
        self._names = names
        self.numbered = max(map(len, names), default=0) > width // 2 - _GAP

    def short(self, name: str) -> str:
        """A row's name in a table."""
        return str(self._names.index(name) + 1) if self.numbered and name in self._names else name

    def legend(self) -> Table | None:
        """The names beside their numbers, where tables have numbers."""
        if not self.numbered:
            return None
        found = Table.grid(padding=(0, _GAP))
        found.add_column(justify="right")
        found.add_column(overflow="fold")
        for number, name in enumerate(self._names, 1):
            found.add_row(str(number), Text(name))
        return found


def blocks(labels: Sequence[Column], columns: Sequence[Column], width: int) -> Iterator[Table]:
    """The columns in as few tables as fit the width, at least one in each, in each of them the labels of all rows."""
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
    """Prints them, a blank line before each."""
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
