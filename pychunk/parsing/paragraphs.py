"""Lines of a page to paragraphs, items of lists and tables, by distances, indentation and marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from .layout import Line

_BULLET = re.compile(r"[•‣⁃◦▪▫●○■□◆◇➢➤►▶✓✔–—\-*·\uf0b7\uf0a7\uf0d8]\s+\S|o\s+[^\W\d_]")
_NUMBERED = re.compile(r"(?:\(?(?:\d{1,3}|[ivxIVX]{1,5}|[^\W\d_])\)|(?:\d{1,3}|[ivx]{1,5}|[a-zа-я])\.)\s+\S")
_CAPTION = re.compile(
    r"(?:figure|fig\.|table|tab\.|рис\.|рисунок|малюнок|таблиця|таблица|табл\.|abbildung|abb\.|tabelle|figura|tabla|tableau)"
    r"\s*\d+(?:\.\d+)*\s*(?:[.:–—-]|$|\w)",
    re.IGNORECASE,
)
#: An entry of a table of contents or of an index: dots that lead to a page's number.
CONTENTS = re.compile(r"(?:\.\s?){4,}\s*[\w, ]{1,12}$|\u2026\s*[\w, ]{1,12}$")
_CAPTION_LENGTH = 300
#: Distance of lines beyond which a paragraph ends, in usual distances of its column.
_APART = 1.3
#: Indentation that begins a paragraph, in sizes of the font.
_INDENT = 0.8
#: Sizes of fonts that differ by more than this factor are another style.
_STYLE = 1.08
#: A line whose font is larger or smaller by less than this may go on a sentence.
_NOTE = 1.25
#: White between two lines of code that are one block, in heights of a line: one empty line, and a bit.
_CODE_APART = 2.2


@dataclass
class Draft:
    """Lines that are one block: its kind is one of ``BLOCK_KINDS``, its page counts from 1."""

    kind: str
    lines: list[Line]
    page: int
    level: int = 0

    @property
    def left(self) -> float:
        return min(line.left for line in self.lines)

    @property
    def size(self) -> float:
        return max(line.size for line in self.lines)

    @property
    def bold(self) -> bool:
        return all(line.bold for line in self.lines)

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)


def drafts_of(lines: Sequence[Line], page: int) -> list[Draft]:
    """The blocks of a page's lines, which are in reading order.

    Example:
        >>> lines = [Line("One two", 0, 0, 90, 10, 10, False, 20, False, (0, 100), 1),
        ...          Line("three.", 0, 12, 30, 22, 10, False, 25, False, (0, 100), 1),
        ...          Line("- four", 0, 24, 30, 34, 10, False, 5, False, (0, 100), 1)]
        >>> [(draft.kind, draft.text) for draft in drafts_of(lines, 1)]
        [('paragraph', 'One two three.'), ('item', '- four')]
    """
    drafts: list[Draft] = []
    pitches = _pitches(lines)
    for line in lines:
        last = drafts[-1] if drafts else None
        marked = _is_item(line.text)
        if last is not None and _goes_on(last, line, marked, pitches.get(line.flow, 0.0)):
            last.lines.append(line)
        else:
            kind = "paragraph"
            if line.table:
                kind = "table"
            elif line.mono and not line.removed:
                kind = "code"
            elif marked and not line.removed:
                kind = "item"
            drafts.append(Draft(kind, [line], page))
    for draft in drafts:
        text = draft.lines[0].text
        if draft.kind == "paragraph" and _CAPTION.match(text) and len(draft.text) <= _CAPTION_LENGTH:
            draft.kind = "caption"
    _nest(drafts)
    return drafts


def _is_item(text: str) -> bool:
    return bool(_BULLET.match(text) or _NUMBERED.match(text))


def _pitches(lines: Sequence[Line]) -> dict[int, float]:
    """The usual distance of lines in each flow, in heights of their boxes."""
    found: dict[int, list[float]] = {}
    for before, line in pairwise(lines):
        if before.flow == line.flow and line.height > 0 and line.bottom > before.bottom:
            found.setdefault(line.flow, []).append((line.bottom - before.bottom) / line.height)
    return {flow: _usual(ratios) for flow, ratios in found.items()}


def _usual(ratios: list[float]) -> float:
    """The lower quartile: where most paragraphs have one line, the median is a distance of paragraphs."""
    low = sorted(ratios)[len(ratios) // 4]
    return median([ratio for ratio in ratios if ratio <= 1.15 * low])


def _goes_on(draft: Draft, line: Line, marked: bool, pitch: float) -> bool:
    """Whether a line belongs to the block before it."""
    last = draft.lines[-1]
    if last.flow != line.flow or last.table != line.table or last.removed or line.removed:
        return False
    if line.table:
        return True
    if draft.kind == "code" or line.mono:
        near = line.height and line.top - last.bottom < _CODE_APART * line.height
        return bool(draft.kind == "code" and line.mono and near)
    if last.angle != line.angle or marked or CONTENTS.search(last.text[-60:]):
        return False
    if max(last.size, line.size) > _STYLE * min(last.size, line.size) or last.bold != line.bold:
        # A line with a note in small print, or in bold print from end to end, within a sentence goes on.
        near = max(last.size, line.size) < _NOTE * min(last.size, line.size)
        return line.text[:1].islower() and not line.bold and not last.bold and near
    em = line.size or line.height
    if line.angle in (0, 2) and line.height:
        distance = (line.bottom - last.bottom) / line.height
        if distance > max(_APART * pitch, pitch + 0.15) or distance > 2.2 or distance < 0:
            return False
    left, right = line.column
    if draft.kind == "item":
        if line.left < draft.lines[0].left - _INDENT * em:
            return False
        if len(draft.lines) > 1 and abs(line.left - last.left) > _INDENT * em:
            return False
    else:
        centred = _is_centred(last, em) and _is_centred(line, em)
        if centred:
            return True
        if line.left > last.left + _INDENT * em:
            return False
        if line.left < last.left - _INDENT * em and len(draft.lines) > 1:
            return False
    if line.text[:1].islower() and last.text.endswith(("-", "\u00ad")) and last.text[-2:-1].isalpha():
        return True  # within a word
    # The first word of this line had room on the line before: that line ends a paragraph.
    room = right - last.right
    broken = line.text[:1].islower() or last.text.endswith(("-", "\u00ad"))
    return not (room > line.first + em and (not broken or room > 0.4 * (right - left)) and right > left)


def _is_centred(line: Line, em: float) -> bool:
    left, right = line.column
    return line.left - left > 1.5 * em and abs((line.left - left) - (right - line.right)) < 1.5 * em


def _nest(drafts: Sequence[Draft]) -> None:
    """Levels of items: how many less indented ones of the same list they stand in."""
    open_: list[float] = []
    for draft in drafts:
        if draft.kind != "item":
            open_ = []
            continue
        em = draft.size or 10.0
        left = draft.lines[0].left
        while open_ and left < open_[-1] - 0.5 * em:
            open_.pop()
        if not open_ or left > open_[-1] + 0.5 * em:
            open_.append(left)
        draft.level = len(open_)
