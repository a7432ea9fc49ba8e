"""The conversion of a page's words to lines in reading order: columns by white space, tables by aligned cells.

Pages are cut at white space, as in Nagy and Seth, *Hierarchical representation of optically scanned documents* (1984).
Horizontal lines of white space separate a page into bands. Successive bands with a common vertical strip of white space
are columns or a table. The same rule is applied again inside each column.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .paged_text import CELLS
from .pdf_words import SLANTED, PageWords
from .ruled_tables import Grid, grids_of, uprights_of

#: The widest gap between words of one piece of a line, in font sizes. The gutter between two columns is wider.
_GAP = 1.0
#: The minimum width of a strip of white space between columns or cells, in font sizes.
_STRIP = 0.8
#: The minimum width (in font sizes) and height (in lines) of a column of running text, and the minimum share of the
#: column's width that half of its lines fill.
_WIDE, _HIGH, _FILL = 12.0, 3, 0.55
#: The minimum share of the height common to all columns in which each column of running text has lines.
_PRESENT = 0.6
#: The minimum share of the lines of a column of running text that have no gap.
_SINGLE = 0.6
#: The minimum number of letters per line of a column, if the file stores one column after the other.
_LETTERS = 8
#: The maximum number of letters of a heading in the margin, and the minimum median length of the texts next to such
#: headings.
_SIDE, _SIDE_TEXT = 60, 80
#: The deepest nesting of columns within columns.
_DEEP = 5
#: The most by which a gap between two lines of one row exceeds the smallest gap in the table, in font sizes.
_WRAPPED = 0.08
#: The maximum number of spaces that stand for a gap in a line of code.
_SPACES = 80
#: The letters that are read from right to left.
_LEFTWARD = re.compile(r"\W*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_MARK = re.compile(
    r"[•‣⁃◦▪▫●○■□◆◇➢➤►▶✓✔–—\-*·\uf0b7\uf0a7\uf0d8o]|\(?(?:\d{1,3}|[ivx]{1,5}|\w)[.)]|\d{1,2}(?:\.\d{1,2}){0,3}\.?"
)


@dataclass
class Line:
    """A line of text in one column; its box is in points from the page's top left.

    Attributes:
        text: The text.
        left, top, right, bottom: The box.
        size: The size of the font.
        bold: Whether the line is bold.
        first: The width of its first word.
        mono: Whether all letters are equally wide.
        column: The left and right edge of its column.
        flow: The number of its column on the page.
        table: The number of the table of which it is a row, from 1; 0 for none.
        angle: The angle, see ``PageWords.angle``.
        opening: The number of characters in the bold words at its beginning, if plain words follow; else 0.
        removed: The reason for removing it; "" if it stays.
        score: The certainty of the removal.
        seen: The box on the visible page, if the line is turned.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    bold: bool
    first: float
    mono: bool = False
    column: tuple[float, float] = (0.0, 0.0)
    flow: int = 0
    table: int = 0
    angle: int = 0
    opening: int = 0
    removed: str = ""
    score: float = 0.0
    seen: tuple[float, float, float, float] | None = None

    @property
    def box(self) -> tuple[float, float, float, float]:
        """The visible position on the page, which differs from the line's own box if it is turned."""
        return self.seen or (self.left, self.top, self.right, self.bottom)

    @property
    def height(self) -> float:
        """The height of the line in points."""
        return self.bottom - self.top


class Piece(NamedTuple):
    """A piece of a line: successive words without a wide gap between them.

    Attributes:
        left, top, right, bottom: The box, in points.
        size: The size of the font of most letters.
        first: The width of the first word.
        letters: The number of letters.
        bold, mono: The numbers of letters that are bold, and that are in a font of one width.
        leftward: Whether it is read from right to left.
        opening: The number of characters in the bold words at its beginning, if plain words follow; else 0.
        order: Its position in the file.
        grid: The number, from 1, of the table with drawn borders whose place this piece takes; 0 for a piece of text.
            ``_Page.grids`` has the table's cells.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    first: float
    letters: int
    bold: int
    mono: int
    leftward: bool
    opening: int = 0
    order: int = 0
    grid: int = 0


def lines_of(pieces: Sequence[Piece], page: PageWords) -> list[Line]:
    """Return the lines of a page in reading order; lines of turned text come last.

    ``pieces`` are the page's text that is not turned. Lines of one ``flow`` are in one column, one under the other.
    """
    layout = _Page()
    found = layout.lines(layout.without_grids(pieces, grids_of(page.drawn)))
    for angle in sorted(set(page.angle.tolist()) - {0}):
        slant = math.radians(angle - SLANTED)
        if angle >= SLANTED:
            upright = _unslanted(page.box, page.size, slant)
        else:
            upright = np.stack(_box(page.box.T, angle, page.width, page.height), axis=1)
        for line in layout.lines(pieces_of(page.where(page.angle == angle, upright))):
            line.angle = angle
            box = line.left, line.top, line.right, line.bottom
            sides = (page.height, page.width) if angle % 2 else (page.width, page.height)
            line.seen = _slanted(box, slant) if angle >= SLANTED else _box(box, -angle % 4, *sides)
            found.append(line)
    return found


def pieces_of(words: PageWords) -> list[Piece]:
    """Join words, which are in the order of the file, to pieces of lines."""
    if not words.texts:
        return []
    left, top, right, bottom = words.box.T
    size, length = words.size, words.lengths
    height = bottom - top
    overlap = np.minimum(bottom[1:], bottom[:-1]) - np.maximum(top[1:], top[:-1])
    limit = _GAP * np.maximum(size[1:], size[:-1])
    after, before = left[1:] - right[:-1], left[:-1] - right[1:]
    leftward = np.array([bool(_LEFTWARD.match(text)) for text in words.texts])
    goes_on = (after >= -0.5 * limit) & (after <= limit)
    goes_on |= leftward[1:] & (before >= -0.5 * limit) & (before <= limit)
    uprights = uprights_of(words.drawn)
    if len(uprights):
        x, above, below = uprights.T[:, None, :]
        between = (right[:-1, None] - 1 <= x) & (x <= left[1:, None] + 1)
        goes_on &= ~(between & (above <= bottom[:-1, None]) & (below >= top[:-1, None])).any(axis=1)
    goes_on &= overlap >= 0.5 * np.minimum(height[1:], height[:-1])
    begins = np.flatnonzero(np.concatenate(([True], ~goes_on)))
    ends = [*begins[1:].tolist(), len(words.texts)]
    smallest, largest = np.minimum.reduceat(size, begins), np.maximum.reduceat(size, begins)
    sizes = largest.tolist()
    for i in np.flatnonzero(smallest < largest).tolist():
        each, of = np.unique(size[begins[i] : ends[i]], return_inverse=True)
        sizes[i] = float(each[np.bincount(of, length[begins[i] : ends[i]]).argmax()])
    return [
        Piece(" ".join(words.texts[begin:end]), *rest)
        for begin, end, *rest in zip(
            begins.tolist(),
            ends,
            np.minimum.reduceat(left, begins).tolist(),
            np.minimum.reduceat(top, begins).tolist(),
            np.maximum.reduceat(right, begins).tolist(),
            np.maximum.reduceat(bottom, begins).tolist(),
            sizes,
            (right - left)[begins].tolist(),
            np.add.reduceat(length, begins).tolist(),
            np.add.reduceat(length * words.bold, begins).tolist(),
            np.add.reduceat(length * words.mono, begins).tolist(),
            leftward[begins].tolist(),
            _openings(words, begins, ends),
            range(len(begins)),
            strict=True,
        )
    ]


def _openings(words: PageWords, begins: npt.NDArray[np.intp], ends: Sequence[int]) -> list[int]:
    """Return the number of characters in the bold words at the beginning of each piece.

    It is 0 if all words of the piece are bold, or if its first word is not.
    """
    found = [0] * len(ends)
    plain = np.flatnonzero(~words.bold)
    for i in np.flatnonzero(words.bold[begins]).tolist():
        behind = np.searchsorted(plain, begins[i])
        if behind < len(plain) and plain[behind] < ends[i]:
            found[i] = len(" ".join(words.texts[begins[i] : plain[behind]]))
    return found


def _box(box: Any, turns: int, width: float, height: float) -> Any:
    """Return left, top, right, bottom (numbers or arrays) after quarter turns of the page to the right."""
    left, top, right, bottom = box
    if turns == 1:
        return height - bottom, left, height - top, right
    if turns == 2:
        return width - right, height - bottom, width - left, height - top
    if turns == 3:
        return top, width - right, bottom, width - left
    return box


def _unslanted(boxes: npt.NDArray[np.float64], size: npt.NDArray[np.float64], slant: float) -> npt.NDArray[np.float64]:
    """Return the boxes of slanted words after a turn of the page to the right by ``slant`` radians makes them level."""
    cos, sin = math.cos(slant), math.sin(slant)
    left, top, right, bottom = boxes.T
    x, y = (left + right) / 2, (top + bottom) / 2
    level = abs(cos) >= abs(sin)
    length = ((right - left) if level else (bottom - top)) - size * abs(sin if level else cos)
    half = np.maximum(length / abs(cos if level else sin), 0.2 * size) / 2
    along, down = x * cos - y * sin, x * sin + y * cos
    return np.stack((along - half, down - size / 2, along + half, down + size / 2), axis=1)


def _slanted(box: tuple[float, float, float, float], slant: float) -> tuple[float, float, float, float]:
    """Return the box on the visible page that encloses a level box from ``_unslanted``."""
    cos, sin = math.cos(slant), math.sin(slant)
    corners = [(along * cos + down * sin, down * cos - along * sin) for along in box[::2] for down in box[1::2]]
    x, y = zip(*corners, strict=True)
    return min(x), min(y), max(x), max(y)


class _Page:
    """The layout of one page, which numbers its flows and tables."""

    def __init__(self) -> None:
        self.flows = self.tables = 0
        self.grids: list[list[list[list[Piece]]]] = []

    def without_grids(self, pieces: Sequence[Piece], grids: Sequence[Grid]) -> list[Piece]:
        """Return the pieces, but replace all pieces in the cells of a table with drawn borders by a single piece."""
        left = list(pieces)
        for grid in grids:
            cells: dict[tuple[int, int], list[Piece]] = {}
            rest = []
            for piece in left:
                place = grid.cell((piece.left + piece.right) / 2, (piece.top + piece.bottom) / 2)
                if place is None or piece.grid:
                    rest.append(piece)
                else:
                    cells.setdefault(place, []).append(piece)
            numbers, columns = sorted({row for row, _ in cells}), sorted({column for _, column in cells})
            rows = [[cells.get((row, column), []) for column in columns] for row in numbers]
            if sum(sum(map(bool, row)) > 1 for row in rows) < 2:
                continue
            self.grids.append(rows)
            inside = [piece for cell in cells.values() for piece in cell]
            whole = line_of(inside)
            letters = sum(piece.letters for piece in inside)
            box = whole.left, whole.top, whole.right, whole.bottom
            first = min(piece.order for piece in inside)
            left = [*rest, Piece("", *box, whole.size, 0.0, letters, 0, 0, False, 0, first, len(self.grids))]
        return left

    def lines(self, pieces: Sequence[Piece], deep: int = 0) -> list[Line]:
        """Return the pieces of a region as lines in reading order."""
        bands = bands_of(pieces)
        found: list[Line] = []
        plain: list[list[Piece]] = []
        at = 0
        while at < len(bands):
            end, strips = _run(bands, at)
            columns = _columns(bands[at:end], strips)
            if len(columns) > 1 and deep < _DEEP and _are_text(columns):
                above = len(plain)
                while above and not _crosses(plain[above - 1], strips) and _near([*plain, bands[at]], above):
                    above -= 1
                inside, plain = plain[above:] + bands[at:end], plain[:above]
                found += self._flow(plain)
                plain = []
                for column in _columns(inside, strips):
                    found += self.lines(column, deep + 1)
            elif len(columns) > 1 and _may_be_cells(columns) and (rows := _rows(*_as_most(bands[at:end], strips))):
                found += self._flow(plain)
                plain = []
                sides = _side_headings(rows)
                for head, text in sides:
                    found += self.lines(head, deep + 1) + self.lines(text, deep + 1)
                found += [] if sides else self._table(rows)
            else:
                plain += bands[at:end]
            at = end
        return found + self._flow(plain)

    def _flow(self, bands: list[list[Piece]]) -> list[Line]:
        found: list[Line] = []
        lines: list[Line] = []
        for band in bands:
            for row in _stacked(band):
                if any(piece.grid for piece in row):
                    beside = [piece for piece in row if not piece.grid]
                    found += self._numbered(lines + ([line_of(beside)] if beside else []))
                    lines = []
                    for piece in row:
                        if piece.grid:
                            found += self._table(self.grids[piece.grid - 1])
                else:
                    lines.append(line_of(row))
        return found + self._numbered(lines)

    def _table(self, rows: list[list[list[Piece]]]) -> list[Line]:
        self.tables += 1
        lines = []
        for cells in rows:
            line = line_of([piece for cell in cells for piece in cell])
            line.text = CELLS.join(" ".join(line_of(row).text for row in _stacked(cell)) for cell in cells).strip()
            line.table = self.tables
            lines.append(line)
        return self._numbered(lines)

    def _numbered(self, lines: list[Line]) -> list[Line]:
        """Give the lines the number of a new flow, and set their column to the flow's left and right edges."""
        if lines:
            self.flows += 1
            edges = min(line.left for line in lines), max(line.right for line in lines)
            for line in lines:
                line.column, line.flow = edges, self.flows
        return lines


def bands_of(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Return the bands of pieces between horizontal lines of white space, from the top.

    The function shrinks the pieces' boxes first, because the boxes of close lines overlap.
    """
    found: list[list[Piece]] = []
    end = -1e9
    shrunk = [(p.top + 0.2 * (p.bottom - p.top), p.bottom - 0.2 * (p.bottom - p.top), i) for i, p in enumerate(pieces)]
    for top, bottom, i in sorted(shrunk):
        if top >= end or not found:
            found.append([])
        found[-1].append(pieces[i])
        end = max(end, bottom)
    return found


def line_of(row: Sequence[Piece]) -> Line:
    """Join pieces that are side by side to a line."""
    if len(row) == 1:
        p = row[0]
        bold, mono = p.bold > 0.9 * p.letters, p.mono > 0.9 * p.letters
        return Line(p.text, p.left, p.top, p.right, p.bottom, p.size, bold, p.first, mono, opening=p.opening)
    row = sorted(row, key=lambda piece: piece.left)
    letters = sum(piece.letters for piece in row)
    if 2 * sum(piece.letters for piece in row if piece.leftward) > letters:
        row = row[::-1]
    parts = [row[0].text]
    for last, piece in pairwise(row):
        gap = max(piece.left - last.right, last.left - piece.right)
        spaces = 1
        if piece.mono == piece.letters and last.mono == last.letters:
            spaces = round(gap * len(piece.text) / max(piece.right - piece.left, 1.0))
        parts.append(" " * min(max(spaces, 1), _SPACES) if gap > 0.15 * piece.size else "")
        parts.append(piece.text)
    most = max(row, key=lambda piece: piece.letters)
    return Line(
        "".join(parts),
        min(piece.left for piece in row),
        min(piece.top for piece in row),
        max(piece.right for piece in row),
        max(piece.bottom for piece in row),
        most.size,
        sum(piece.bold for piece in row) > 0.9 * letters,
        row[0].first,
        sum(piece.mono for piece in row) > 0.9 * letters,
        opening=len(row[0].text) if row[0].bold == row[0].letters > row[1].bold else row[0].opening,
    )


def _stacked(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Group pieces into rows, from the top; a piece joins a row if they overlap by half of the smaller height."""
    if len(pieces) == 1:
        return [list(pieces)]
    rows: list[tuple[float, float, list[Piece]]] = []
    for piece in sorted(pieces, key=lambda each: (each.top + each.bottom, each.left)):
        if rows:
            top, bottom, row = rows[-1]
            low, high = max(top, piece.top), min(bottom, piece.bottom)
            if high - low >= 0.5 * min(bottom - top, piece.bottom - piece.top):
                row.append(piece)
                if piece.bottom - piece.top > bottom - top:  # raised or lowered text does not move its row
                    rows[-1] = (piece.top, piece.bottom, row)
                continue
        rows.append((piece.top, piece.bottom, [piece]))
    return [row for _, _, row in rows]


def _side_headings(rows: Sequence[Sequence[Sequence[Piece]]]) -> list[tuple[list[Piece], list[Piece]]]:
    """Return the headings in the margin, each with the text to its right; an empty list if the rows are a table.

    Rows of two cells are such headings and texts if the left cells are short and bold, and the right cells are long and
    plain.
    """
    if len(rows) < 2 or any(len(cells) != 2 for cells in rows) or not all(rows[0]):
        return []
    found: list[tuple[list[Piece], list[Piece]]] = []
    for head, text in rows:
        if head:
            found.append((list(head), []))
        found[-1][1].extend(text)
    heads = [piece for head, _ in found for piece in head]
    texts = [piece for _, text in found for piece in text]
    if any(piece.bold < piece.letters for piece in heads) or any(piece.bold > 0.5 * piece.letters for piece in texts):
        return []
    if not all(text and sum(piece.letters for piece in head) <= _SIDE for head, text in found):
        return []
    named = all(not min(head, key=lambda piece: (piece.top, piece.left)).text[:1].islower() for head, _ in found)
    long = median(sum(piece.letters for piece in text) for _, text in found) >= _SIDE_TEXT
    return found if named and long and len(found) > 1 else []


_Strips = list[tuple[float, float]]


def _run(bands: list[list[Piece]], at: int) -> tuple[int, _Strips]:
    """Return the end of the bands, from ``at`` on, that have strips of white space in common, and these strips."""
    free = _free(bands[at])
    strips = _inner(free)
    if not strips:
        return at + 1, []
    end = at + 1
    while end < len(bands):
        more = _common(free, _free(bands[end]))
        kept = _inner(more)
        if not kept or (_one_sided(bands[end], kept) and not _near(bands, end, 1.8)):
            break
        own = len(_inner(_free(bands[end])))
        if own and own != len(strips) and not _near(bands, end):
            # This is a table below columns, or columns below a table.
            break
        free, strips, end = more, kept, end + 1
    return end, strips


def _free(band: Sequence[Piece]) -> _Strips:
    """Return the strips of white space in a band that are wide enough, with the outer ones at its left and right."""
    least = _STRIP * median(piece.size for piece in band)
    found = []
    at = -1e9
    for left, right in sorted((piece.left, piece.right) for piece in band):
        if left - at >= least:
            found.append((at, left))
        at = max(at, right)
    found.append((at, 1e9))
    return found


def _common(first: _Strips, second: _Strips) -> _Strips:
    """Return the strips that two lists of strips have in common.

    Here 4 points are wide enough, because the strips met the usual minimum in each list.
    """
    found = []
    i = j = 0
    while i < len(first) and j < len(second):
        low, high = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if high - low >= 4.0:
            found.append((low, high))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return found


def _inner(strips: _Strips) -> _Strips:
    """Return the strips with text on both sides."""
    return [strip for strip in strips if strip[0] > -1e8 and strip[1] < 1e8]


def _one_sided(band: Sequence[Piece], strips: _Strips) -> bool:
    return any(
        all(piece.right <= low + 1 for piece in band) or all(piece.left >= high - 1 for piece in band)
        for low, high in strips
    )


def _crosses(band: Sequence[Piece], strips: _Strips) -> bool:
    return any(piece.left < high - 1 and piece.right > low + 1 for piece in band for low, high in strips)


def _near(bands: Sequence[Sequence[Piece]], at: int, most: float = 1.0) -> bool:
    """Return whether the white space between a band and the band before it is at most ``most`` font sizes high."""
    gap = min(piece.top for piece in bands[at]) - max(piece.bottom for piece in bands[at - 1])
    return gap <= most * max(piece.size for piece in bands[at])


def _columns(bands: Sequence[Sequence[Piece]], strips: _Strips) -> list[list[Piece]]:
    """Return the columns of pieces that the strips separate; list markers join the column at their right."""
    if not strips:
        return [[]]
    found: list[list[Piece]] = [[] for _ in range(len(strips) + 1)]
    edges = [low for low, _ in strips]
    for band in bands:
        for piece in band:
            found[bisect_left(edges, (piece.left + piece.right) / 2)].append(piece)
    columns: list[list[Piece]] = []
    marks: list[Piece] = []
    for column in found:
        if not columns and 2 * sum(_MARK.fullmatch(p.text) is not None for p in column) > len(column):
            marks += column
        elif column:
            columns.append(marks + column)
            marks = []
    return columns or [marks]


def _as_most(bands: Sequence[Sequence[Piece]], strips: _Strips) -> tuple[list[list[Piece]], _Strips]:
    """Return the columns and strips that most lines of a table have.

    A header above several columns crosses some of these strips, so the strips of all lines together are fewer.
    """
    own = [_inner(_free(band)) for band in bands]
    most = max(len(each) for each in own)
    for count in range(most, len(strips), -1):
        agreed = [band for band, each in zip(bands, own, strict=True) if len(each) >= count]
        if 2 * len(agreed) < len(bands) or len(agreed) < 3:
            continue
        free = _free(agreed[0])
        for band in agreed[1:]:
            free = _common(free, _free(band))
        if len(_inner(free)) == count:
            strips = _inner(free)
            break
    return _columns(bands, strips), strips


def _are_text(columns: Sequence[Sequence[Piece]]) -> bool:
    """Return whether columns hold running text: they are wide and high, and have full lines without long holes.

    If the file stores one column after the other, some letters in each line are enough. A table would be stored row by
    row.
    """
    if _one_after_the_other(columns):
        return True
    rows = [_stacked(column) for column in columns]
    heights = [min(row[0].top for row in column) for column in rows], [max(r[0].bottom for r in c) for c in rows]
    low, high = max(heights[0]), min(heights[1])
    for column, lines in zip(columns, rows, strict=True):
        size = median(piece.size for piece in column)
        left, right = min(piece.left for piece in column), max(piece.right for piece in column)
        if right - left < _WIDE * size or len(lines) < _HIGH:
            return False
        if sum(len(row) == 1 for row in lines) < _SINGLE * len(lines):
            return False
        widths = [max(p.right for p in row) - min(p.left for p in row) for row in lines]
        if median(widths) < _FILL * (right - left):
            return False
        inside = [row for row in lines if low - 1 <= row[0].top and row[0].bottom <= high + 1]
        if sum(row[0].bottom - row[0].top for row in inside) < _PRESENT * 0.8 * (high - low):
            return False
    return True


def _one_after_the_other(columns: Sequence[Sequence[Piece]]) -> bool:
    last = -1
    for column in columns:
        lines = len(_stacked(column))
        if lines < 2 or sum(piece.letters for piece in column) < _LETTERS * lines:
            return False
        if min(piece.order for piece in column) < last:
            return False
        last = max(piece.order for piece in column)
    return True


def _may_be_cells(columns: Sequence[Sequence[Piece]]) -> bool:
    """Return whether columns may be cells of a table: they are not code, and do not contain a table.

    The letters of code are all equally wide; the gaps in its lines become spaces.
    """
    pieces = [piece for column in columns for piece in column]
    return not all(piece.mono > 0.9 * piece.letters for piece in pieces) and not any(piece.grid for piece in pieces)


def _rows(columns: Sequence[Sequence[Piece]], strips: _Strips) -> list[list[list[Piece]]]:
    """Return columns as the rows of a table, each a list of cells; an empty list if they are not a table.

    Successive lines are one row with wrapped cells if two conditions hold. There is less white space between them than
    between other lines of the table, and at least half of the lines after the first lack cells. A line that is less
    than 0.4 font sizes below a row also belongs to this row if the line has no first cell.
    """
    of = {id(piece): i for i, column in enumerate(columns) for piece in column}
    lines: list[list[list[Piece]]] = []
    gaps: list[float] = []  # the gap above each line, in sizes of its font
    end = 0.0
    for row in _stacked([piece for column in columns for piece in column]):
        cells: list[list[Piece]] = [[] for _ in columns]
        for piece in row:
            cells[of[id(piece)]].append(piece)
        lines.append(cells)
        gaps.append((min(piece.top for piece in row) - end) / max(row[0].size, 1.0))
        end = max(piece.bottom for piece in row)
    close = min(gaps[1:], default=0.0) + _WRAPPED
    if max(gaps[1:], default=0.0) <= close + _WRAPPED:
        close = -1e9  # all lines have the same distance
    groups: list[list[list[list[Piece]]]] = []
    for cells, gap in zip(lines, gaps, strict=True):
        if groups and gap <= close:
            groups[-1].append(cells)
        else:
            groups.append([cells])
    rows: list[list[list[Piece]]] = []
    number = 0
    for group in groups:
        wrapped = 2 * sum(not all(cells) for cells in group[1:]) >= len(group) - 1 and len(group) > 1
        for i, cells in enumerate(group):
            near = not cells[0] and gaps[number] < 0.4 and rows and rows[-1][0]
            number += 1
            if (wrapped and i) or near:
                rows[-1] = [whole + more for whole, more in zip(rows[-1], cells, strict=True)]
            else:
                rows.append(cells)
    full = sum(sum(map(bool, row)) > 1 for row in rows)
    wide = max(high - low for low, high in strips) > 2 * median(piece.size for column in columns for piece in column)
    least = 2 if len(columns) > 2 or wide else 3
    unmerged = sum(sum(map(bool, cells)) > 1 for cells in lines)
    return rows if min(full, unmerged) >= least and full >= 0.6 * len(rows) else []
