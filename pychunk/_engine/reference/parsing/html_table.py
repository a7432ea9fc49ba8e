"""The data tables in pages, read into a grid of cells."""

from __future__ import annotations

from typing import Any

from ...data.html_tags import BLOCK, CELLS, LINE_BREAK, SCRIPTS, UNSEEN, is_block, text_from
from .html_attributes import integer, is_fragment, is_note, is_permalink, is_permalink_mark
from .html_formula import Formulas
from .html_links import alternative, link_target, write_target
from .html_scripts import Scripts

#: Elements that mark a table as one for layout, not for data.
_LAYOUT = frozenset(
    ("table", "h1", "h2", "h3", "h4", "h5", "h6", "form", "pre", "blockquote", "article", "section", "nav", "textarea")
)
#: The most characters of a data cell, and the most cells of a table after short rows are filled. Larger tables are read
#: as ordinary blocks.
MAX_CELL, MAX_CELLS = 1000, 200_000


_LISTS = frozenset(("ul", "ol", "menu", "dir"))
#: A part of a cell that ends with one of these marks is not followed by another mark as separator.
_STOPS = ".,;:!?"
#: The most rows that a cell may span, the most rows of heads that are joined, and the most characters that are added by
#: repeating cells.
_MOST_ROWS, _MOST_HEADS, _MOST_REPEATED = 65534, 4, 200_000


class _Row:
    """A row of a table: the texts of its cells, whether each is a head, and the number of cells that begin in it."""

    def __init__(self) -> None:
        self.cells: list[str] = []
        self.heads: list[bool] = []
        self.own = 0


class _Grid:
    """The cells of a table in a grid.

    A cell that spans rows is repeated in each of them, because a chunk may begin with any row. A head that spans
    several columns, and is not alone in its row, is repeated in each column.
    """

    def __init__(self) -> None:
        self.rows: list[_Row] = []
        self.cells = 0
        self.spans: list[tuple[int, str, bool]] = []  # for each column: the last row of its cell, from 1, text and head
        self.wide: list[tuple[int, int]] = []
        self.repeated = 0

    def begin_row(self) -> None:
        self.end_row()
        self.rows.append(_Row())

    def begin_group(self) -> None:
        """Begin a group of rows. Cells of the group before do not span rows of this one."""
        self.end_row()
        self.spans = []

    def add(self, text: str, head: bool, columns: int, down: int) -> None:
        if not self.rows:
            self.rows.append(_Row())
        self._fill(False)
        row = self.rows[-1]
        row.own += 1
        row.heads.append(head)
        self.cells += columns
        first = len(row.cells)
        if head and columns > 1:
            self.wide.append((first, first + columns))
        spans = self.spans[first + 1 : first + columns] + [(0, "", False)] * columns
        reached = [self._repeat(again) if last >= len(self.rows) else "" for last, again, _ in spans[: columns - 1]]
        row.cells += [text, *reached]
        if down > 1:
            self.spans += [(0, "", False)] * (first + columns - len(self.spans))
            for column in range(first, first + columns):
                again = text if column == first or head else ""
                self.spans[column] = (len(self.rows) + down - 1, again, head)

    def end_row(self) -> None:
        if self.rows and self.rows[-1].own:
            self._fill(True)
            row = self.rows[-1]
            for first, end in self.wide if row.own > 1 else ():
                for column in range(first + 1, end):
                    row.cells[column] = self._repeat(row.cells[first])
        self.wide = []

    def _fill(self, to_end: bool) -> None:
        """Add the cells of earlier rows that span this row, up to the first free column, or with ``to_end`` all."""
        row, number = self.rows[-1], len(self.rows)
        while self.spans and self.spans[-1][0] < number:
            self.spans.pop()
        while len(row.cells) < len(self.spans) and self.cells <= MAX_CELLS:
            last, text, head = self.spans[len(row.cells)]
            if last < number and not to_end:
                return
            if last >= number:
                row.heads.append(head)
            row.cells.append(self._repeat(text) if last >= number else "")
            self.cells += 1

    def _repeat(self, text: str) -> str:
        """Return a text to repeat, or "" once all repeated texts are too long in total.

        Even a small page can make cells span very many rows and columns.
        """
        self.repeated += len(text)
        return text if self.repeated <= _MOST_REPEATED else ""


def _joined_heads(rows: list[_Row]) -> list[list[str]]:
    """Return the cells of each row. Several rows of heads become one, in which the heads of each column are joined."""
    cells = [row.cells for row in rows]
    heads = next((number for number, row in enumerate(rows) if not all(row.heads)), len(rows))
    if heads < 2 or heads == len(rows) or heads > _MOST_HEADS:
        return cells
    joined = []
    for column in range(max(map(len, cells[:heads]))):
        parts = [row[column] for row in cells[:heads] if column < len(row)]
        kept = [cells[0][column] if column < len(cells[0]) else ""]
        for part in parts[1:] if column < len(cells[0]) else parts:
            if part and part != kept[-1]:
                kept.append(part)
        joined.append(" ".join(part for part in kept if part))
    return [joined, *cells[heads:]]


class _Parts:
    """The lists and tables inside a cell, whose items, rows and cells are written in one line."""

    def __init__(self) -> None:
        self.tables = 0  # the number of open tables inside
        # Whether the list has items, the table rows and the row cells already.
        self.items = self.rows = self.cells = False

    def enter(self, tag: str, cell: list[str]) -> None:
        if tag in _LISTS:
            self.items = False
        elif tag == "li":
            cell.append(LINE_BREAK + ";" if self.items else " ")
            self.items = True
        elif tag == "table":
            self.tables += 1
            self.rows = self.cells = False
        elif tag == "tr" and self.tables:
            cell.append(LINE_BREAK + ";" if self.rows else " ")
            self.rows, self.cells = True, False
        elif tag in CELLS and self.tables:
            cell.append(LINE_BREAK + "," if self.cells else " ")
            self.cells = True

    def leave(self, tag: str) -> None:
        if tag in _LISTS:
            self.items = True
        elif tag == "table":
            self.tables -= 1


def _cell_text(cell: list[str]) -> str:
    """Return the text of a cell. Semicolons separate items of lists and rows of nested tables, commas their cells."""
    first, *others = "".join(cell).split(LINE_BREAK)
    text = " ".join(first.split())
    for each in others:
        if part := " ".join(each[1:].split()):
            text += f"{'' if text[-1] in _STOPS else each[0]} {part}" if text else part
    return text


class _Table:
    """A table that is read node by node, from its start tags and end tags."""

    def __init__(self, targets: bool) -> None:
        self.targets = targets
        self.grid = _Grid()
        self.cell: list[str] | None = None
        self.caption: list[str] = []
        self.links = self.link_chars = 0
        self._in_link = 0
        self._columns = self._down = 1
        self._in_head = self._fragment = self._permalink = False
        self._image = self._target = ""
        self._added = 0  # the number of characters that targets of links add
        self._line_at = 0
        self._scripts, self._formulas, self._parts, self._titled = Scripts(), Formulas(), _Parts(), False
        self._path: list[Any] = []

    @property
    def _line(self) -> list[str]:
        """The text that is being read, of a cell or of the caption."""
        return self.caption if self.cell is None else self.cell

    def read(self, table: Any) -> bool:
        """Read everything below a table. Return False as soon as it turns out to be for layout."""
        node = table.first_child
        while node is not None or self._path:
            if node is None:
                node = self._path.pop()
                if not self._leave(node, node.tag):
                    return False
                node = node.next
                continue
            tag = node.tag or "-comment"
            if tag == "-text":
                text, node = text_from(node)
                if not self._add_text(text):
                    return False
            elif tag in _LAYOUT and not (tag == "table" and self._titled and self.cell is not None):
                return False
            elif tag not in UNSEEN and (value := self._formulas.read(node, tag, node.attributes)) is not None:
                if value[0]:
                    self._scripts.follow(value[0], self._line)
                    self._line.append(value[0])
            elif tag == "img":
                if self.cell is not None and self._titled and not self._in_link:
                    self._image = self._image or alternative(node.attributes, True)
            elif tag == "br":
                if self.cell is not None:
                    self.cell.append(" ")
            elif tag not in UNSEEN:
                if not self._enter(node, tag):
                    return False
                child = node.first_child
                # An empty cell or an empty superscript must also be ended, like one with children.
                if child is not None or tag in CELLS or tag in SCRIPTS or tag in ("a", "text"):
                    self._path.append(node)
                    node = child
                    continue
                self._parts.leave(tag)
                if tag == "thead" and not self._parts.tables:
                    self._in_head = False
            node = node.next
        self.grid.end_row()
        return True

    def _add_text(self, text: str) -> bool:
        self._formulas.see(text)
        if self.cell is not None:
            self._scripts.follow(text, self.cell)
            self.cell.append(text)
            if self._in_link:
                self.link_chars += len(text.strip())
        elif text.strip():
            if not any(each.tag == "caption" for each in self._path):
                return False
            self.caption.append(text)
        return True

    def _enter(self, node: Any, tag: str) -> bool:
        if not self._parts.tables:
            self._titled = self._titled or tag in ("th", "thead", "caption")
        if self.cell is not None:
            self._parts.enter(tag, self.cell)
        if self._parts.tables and (tag == "tr" or tag in CELLS or tag == "thead"):
            return True
        if tag == "tr":
            self.grid.begin_row()
        elif tag in CELLS:
            if self.cell is not None:
                return False
            self._begin_cell(node.attributes)
        elif tag == "thead":
            self._in_head = True
            self.grid.begin_group()
        elif tag == "a":
            self._begin_link(node.attributes)
        elif tag == "text":
            if self.cell is not None:
                self.cell.append(" ")
        elif tag in SCRIPTS:
            note = (self._in_link > 0 and self._fragment) or is_note(node.attributes)
            self._scripts.enter(tag, note, self._line)
        else:
            if tag in ("tbody", "tfoot") and not self._parts.tables:
                self.grid.begin_group()
            if self.cell is not None and is_block(tag):
                self.cell.append(" ")
        return True

    def _begin_cell(self, attributes: Any) -> None:
        self.cell, self._image, self._added = [], "", 0
        written = integer(attributes.get("colspan"))
        self._columns = min(50, max(1, 1 if written is None else written))
        written = integer(attributes.get("rowspan"))
        self._down = min(_MOST_ROWS, max(0, 1 if written is None else written)) or _MOST_ROWS
        self._scripts.forget()

    def _begin_link(self, attributes: Any) -> None:
        self._in_link += 1
        self.links += 1
        self._fragment = is_fragment(attributes)
        self._scripts.see_link(self._fragment)
        self._permalink = is_permalink(attributes, True)
        self._line_at = len(self._line)
        self._target = link_target(attributes) if self.targets and not self._scripts.open else ""

    def _leave(self, node: Any, tag: str) -> bool:
        self._parts.leave(tag)
        if tag in CELLS and self.cell is not None and not self._parts.tables:
            text = _cell_text(self.cell) or self._image
            if len(text) - self._added > MAX_CELL or self.grid.cells > MAX_CELLS:
                return False
            self.grid.add(text.replace("|", "\\|"), self._in_head or tag == "th", self._columns, self._down)
            self.cell = None
            self._scripts.forget()
        elif tag in SCRIPTS:
            self._scripts.leave(self._line)
        elif tag == "a":
            self._in_link -= 1
            line = self._line
            if self._permalink and (text := "".join(line[self._line_at :])) and is_permalink_mark(text):
                del line[self._line_at :]
            else:
                self._added += write_target(line, self._line_at, self._target)
            self._permalink, self._target = False, ""
        elif tag == "text":
            if self.cell is not None:
                self.cell.append(" ")
        elif tag == "thead" and not self._parts.tables:
            self._in_head = False
        elif self.cell is not None and tag in BLOCK:
            self.cell.append(" ")
        return True


def data_table(table: Any, *, targets: bool = False) -> tuple[list[list[str]], bool, str, int, int] | None:
    """Return the content of a data table, or None for a layout table.

    The content is (rows of cells, whether the first row is a header, caption, characters in links, number of links). A
    data table has rows of two or more cells, and at least one row with two cells that are not empty. A notice next to
    its icon has no such row. A data table contains no headings or forms, and no cell with long text. If it has heads or
    a caption, a table nested in one of its cells becomes part of the cell's text.
    """
    found = _Table(targets)
    if not found.read(table):
        return None
    grid = found.grid
    width = max((len(row.cells) for row in grid.rows), default=0)
    rows = [row for row in grid.rows if row.own and any(row.cells)]
    if len(rows) < 2 or width < 2 or width * len(rows) > MAX_CELLS:
        return None
    if sum(len(row.cells) > 1 for row in rows) * 2 < len(rows):
        return None
    if all(sum(map(bool, row.cells)) < 2 for row in rows):
        return None
    header = all(rows[0].heads) or (width > 2 and not any(any(row.heads) for row in grid.rows))
    return _joined_heads(rows), header, " ".join("".join(found.caption).split()), found.link_chars, found.links
