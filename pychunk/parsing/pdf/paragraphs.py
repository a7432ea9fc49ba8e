"""The conversion of a page's lines to paragraphs, list items and tables, by distances, indentation and marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from .paged_text import CELLS, REPEATED_HEADER
from .reading_order import Line

_BULLET = re.compile(r"[•‣⁃◦▪▫●○■□◆◇➢➤►▶✓✔–—\-*·\uf0b7\uf0a7\uf0d8]\s+\S|o\s+[^\W\d_]")
#: A dash within a sentence, at the beginning of a line; lower case follows it.
_DASH = re.compile(r"[–—]\s+[^\W\d_A-ZА-ЯІЇЄҐ]")
_NUMBERED = re.compile(r"(?:\(?(?:\d{1,3}|[ivxIVX]{1,5}|[^\W\d_])\)|(?:\d{1,3}|[ivx]{1,5}|[a-zа-я])\.)\s+\S")
_CAPTION = re.compile(
    r"(?:figure|fig\.|table|tab\.|рис\.|рисунок|малюнок|таблиця|таблица|табл\.|abbildung|abb\.|tabelle|figura|tabla|tableau)"
    r"\s*\d+(?:\.\d+)*\s*(?:[.:–—-]|$|\w)",
    re.IGNORECASE,
)
#: An entry of a table of contents or of an index: dots that lead to a page number.
CONTENTS = re.compile(r"(?:\.\s?){4,}\s*[\w, ]{1,12}$|\u2026\s*[\w, ]{1,12}$")
_CAPTION_LENGTH = 300
#: The distance between lines above which a paragraph ends, as a multiple of the usual distance in its column.
_APART = 1.3
#: The indentation that begins a paragraph, in sizes of the font.
_INDENT = 0.8
#: The factor between the sizes of two fonts above which they are different styles.
_STYLE = 1.08
#: The factor between the sizes of two fonts below which a line may continue a sentence.
_NOTE = 1.25
#: The end of a sentence, with the marks that may close after it.
_STOP = re.compile(r"[.!?:\u2026\u3002\uff01\uff1f][\"'\u201d\u2019\u00bb)\]]*$")
#: The distance between lines above which even an unfinished sentence ends, in heights of the lines' boxes.
_SENTENCE_APART = 1.6
#: The minimum width of a line whose end shows whether the line was full, in font sizes.
_FULL = 12.0
#: A block is a footnote if its font size, divided by the size of the text above it, is below this.
_FOOTNOTE = 0.93
#: The maximum number of words of a term that is set in a code font, and the greatest distance to its definition, in
#: line heights.
_TERM_WORDS, _TERM_APART = 4, 1.8
#: The largest white space between two lines of one block of code, in line heights: slightly more than one empty line.
_CODE_APART = 2.2


@dataclass
class Draft:
    """The lines of one block; its kind is one of ``BLOCK_KINDS``, and its page counts from 1.

    ``turns`` has an entry for each further page on which the block continues: the page, and the number of the block's
    first line on that page.
    """

    kind: str
    lines: list[Line]
    page: int
    level: int = 0
    turns: list[tuple[int, int]] = field(default_factory=list)

    @property
    def last_page(self) -> int:
        """The page on which the block ends."""
        return self.turns[-1][0] if self.turns else self.page

    @property
    def removed(self) -> str:
        """The reason for which the block is removed, from its first line; "" if it is kept."""
        return self.lines[0].removed

    @property
    def left(self) -> float:
        """The left edge of the block, in points."""
        return min(line.left for line in self.lines)

    @property
    def size(self) -> float:
        """The largest font size of the lines, in points."""
        return max(line.size for line in self.lines)

    @property
    def bold(self) -> bool:
        """Return whether all lines are bold."""
        return all(line.bold for line in self.lines)

    @property
    def text(self) -> str:
        """The text of the lines, joined by spaces."""
        return " ".join(line.text for line in self.lines)


def drafts_of(lines: Sequence[Line], page: int) -> list[Draft]:
    """Return the blocks of a page's lines, which are in reading order.

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
            if last.kind == "code" and not line.mono:
                last.kind = "paragraph"  # its first line was text that is set in a code font from end to end
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
    for draft, after in pairwise(drafts):
        if _is_term(draft, after):
            draft.kind = "term"
    _nest(drafts)
    return drafts


def _is_term(draft: Draft, after: Draft) -> bool:
    """Return whether a line in a code font is not code, but a term that the indented text below it defines."""
    line, below = draft.lines[0], after.lines[0]
    if draft.kind != "code" or len(draft.lines) > 1 or after.kind not in ("paragraph", "item") or below.removed:
        return False
    em = below.size or below.height
    near = 0 <= below.bottom - line.bottom < _TERM_APART * below.height
    return near and line.flow == below.flow and below.left > line.left + em and line.text.count(" ") < _TERM_WORDS


def _is_item(text: str) -> bool:
    return bool(_BULLET.match(text) or _NUMBERED.match(text))


def _pitches(lines: Sequence[Line]) -> dict[int, float]:
    """Return the usual distance between lines in each column (``Line.flow``), in heights of the lines' boxes."""
    found: dict[int, list[float]] = {}
    for before, line in pairwise(lines):
        if before.flow == line.flow and line.height > 0 and line.bottom > before.bottom:
            found.setdefault(line.flow, []).append((line.bottom - before.bottom) / line.height)
    return {flow: _usual(ratios) for flow, ratios in found.items()}


def _usual(ratios: list[float]) -> float:
    """Return the usual distance between lines: the median of the distances near the lower quartile.

    The median of all distances would be a distance between paragraphs if most paragraphs have one line.
    """
    low = sorted(ratios)[len(ratios) // 4]
    return median([ratio for ratio in ratios if ratio <= 1.15 * low])


def _goes_on(draft: Draft, line: Line, marked: bool, pitch: float) -> bool:
    """Return whether a line belongs to the block before it."""
    last = draft.lines[-1]
    if last.flow != line.flow or last.table != line.table or last.removed or line.removed:
        return False
    if line.table:
        return True
    if (draft.kind == "code" or line.mono) and not (_is_wrapped(draft, line, pitch) and not marked):
        near = line.height and line.top - last.bottom < _CODE_APART * line.height
        return bool(draft.kind == "code" and line.mono and near)
    marked = marked and not (_DASH.match(line.text) and _is_full(last, line, line.size) and last.text[-1].isalnum())
    if last.angle != line.angle or marked or CONTENTS.search(last.text[-60:]):
        return False
    if max(last.size, line.size) > _STYLE * min(last.size, line.size) or last.bold != line.bold:
        # Within a sentence, the block continues on a line in another size, such as one with a note in small print. Bold
        # print that fills a line may change, too.
        near = max(last.size, line.size) < _NOTE * min(last.size, line.size)
        near &= line.bottom - last.bottom <= max(_APART * pitch, pitch + 0.15) * max(last.height, line.height)
        return line.text[:1].islower() and not line.bold and not last.bold and near
    em = line.size or line.height
    left, right = line.column
    in_word = last.text.endswith("-") and last.text[-2:-1].isalnum()
    in_sentence = (_goes_within(line.text) or in_word) and not _STOP.search(last.text)
    if line.angle in (0, 2) and line.height:
        distance = (line.bottom - last.bottom) / line.height
        if distance > 2.2 or distance < 0:
            return False
        # Within a sentence, a larger distance is allowed, because raised text or a table next to the text changes it.
        near = _SENTENCE_APART if in_sentence and right - last.right < 0.4 * (right - left) else 0.0
        if distance > max(_APART * pitch, pitch + 0.15, near):
            return False
    if in_sentence and _is_full(last, line, em):
        return True  # this holds however the lines are indented
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
        return True  # the line continues a word
    # If the first word of this line had room on the line before, that line ends a paragraph.
    room = right - last.right
    broken = _goes_within(line.text) or last.text.endswith(("-", "\u00ad"))
    return not (room > line.first + em and (not broken or room > 0.4 * (right - left)) and right > left)


def _is_wrapped(draft: Draft, line: Line, pitch: float) -> bool:
    """Return whether a line continues a sentence of text, although it or the line before is set in a code font."""
    last = draft.lines[-1]
    em = line.size or line.height
    if draft.kind == "code" and (line.mono or len(draft.lines) > 1):
        return False
    distance = (line.bottom - last.bottom) / line.height if line.height and line.angle == last.angle else -1
    return (
        0 < distance <= max(_APART * pitch, pitch + 0.15)
        and abs(line.left - last.left) <= _INDENT * em
        and not line.text[:1].isupper()
        and not _STOP.search(last.text)
        and _is_full(last, line, em)
    )


def join_over_borders(drafts: list[Draft]) -> None:
    """Join paragraphs and items that continue in the next column, or on the next page after the removed text.

    The function also joins tables that continue across pages, and removes a table header that the next page repeats.

    Headers, footers and footnotes between the two halves come before the joined block if they are on the page where
    that block begins, else after it.
    """
    joined: list[Draft] = []
    open_ = -1  # the position of the last block of the text in ``joined``
    waiting: list[Draft] = []  # the blocks that come after it
    for draft in drafts:
        if draft.removed:
            (waiting if open_ >= 0 and joined[open_].last_page > joined[open_].page else joined).append(draft)
            continue
        last = joined[open_] if open_ >= 0 else None
        if last is not None and _is_footnote(draft, last) and last.last_page == last.page:
            joined.append(draft)
            continue
        table = last is not None and _is_rest_of_table(last, draft)
        if last is not None and (table or _is_continued(last, draft)):
            between = joined[open_ + 1 :]
            del joined[open_:]
            before = [each for each in between if each.page == last.page]
            joined += before
            joined.append(last)
            open_ = len(joined) - 1
            waiting += [each for each in between if each.page > last.page]
            if table and draft.lines[0].text == last.lines[0].text:
                header = draft.lines.pop(0)
                header.removed, header.score = REPEATED_HEADER, 1.0
                waiting.append(Draft("table", [header], draft.page))
            if draft.page > last.last_page:
                last.turns.append((draft.page, len(last.lines)))
            last.lines += draft.lines
            continue
        joined += waiting
        waiting = []
        joined.append(draft)
        open_ = len(joined) - 1
    drafts[:] = joined + waiting


def _goes_within(text: str) -> bool:
    """Return whether a line begins like the continuation of a sentence: with a lower-case letter, a bracket, a dash."""
    return text[:1].islower() or text[:1] == "(" or _DASH.match(text) is not None


def _is_full(last: Line, line: Line, em: float) -> bool:
    """Return whether a line ends so near its column's right edge that the next line's first word had no room there."""
    return last.right - last.left > _FULL * em and last.column[1] - last.right <= line.first + em


def _is_footnote(draft: Draft, last: Draft) -> bool:
    """Return whether a block is small print below an unfinished paragraph."""
    if draft.page != last.page or draft.kind not in ("paragraph", "item") or last.kind not in ("paragraph", "item"):
        return False
    return draft.size < _FOOTNOTE * last.lines[-1].size and not _STOP.search(last.lines[-1].text)


def _is_rest_of_table(last: Draft, draft: Draft) -> bool:
    """Return whether a table continues on the next page: same left edge and number of columns, and no new header."""
    if not last.kind == draft.kind == "table" or draft.page != last.last_page + 1 or len(last.lines) < 2:
        return False
    above = last.lines[last.turns[-1][1] :] if last.turns else last.lines  # these lines are on the page before
    if max(line.text.count(CELLS) for line in above) != max(line.text.count(CELLS) for line in draft.lines):
        return False
    if abs(draft.left - min(line.left for line in above)) > 2 * draft.size:
        return False
    header = draft.lines[0]
    if header.text == last.lines[0].text:
        return len(draft.lines) > 1
    return not (header.bold and not all(line.bold for line in draft.lines))


def _is_continued(last: Draft, draft: Draft) -> bool:
    """Return whether a block continues in the next one, at the top of another column or of the next page."""
    end, line = last.lines[-1], draft.lines[0]
    if draft.kind != "paragraph" or last.kind not in ("paragraph", "item") or draft.page > last.last_page + 1:
        return False
    if draft.page == last.last_page and (end.flow == line.flow or (line.top >= end.bottom and line.left > end.left)):
        return False
    if end.angle or line.angle or end.bold != line.bold or CONTENTS.search(end.text[-60:]):
        return False
    if max(end.size, line.size) > _STYLE * min(end.size, line.size) or _STOP.search(end.text):
        return False
    if line.text[:1].islower() or end.text.endswith(("\u00ad", "\u2010")):
        return True
    if last.kind == "item" or len(last.lines) < 2 or len(draft.lines) < 2 or end.text.endswith(";"):
        return False
    # A capital may begin a new paragraph, or a name. For a name, the last line is full and the next one not indented.
    em = line.size or line.height
    return _is_full(end, line, em) and line.left - line.column[0] < _INDENT * em and not _is_centred(end, em)


def _is_centred(line: Line, em: float) -> bool:
    left, right = line.column
    return line.left - left > 1.5 * em and abs((line.left - left) - (right - line.right)) < 1.5 * em


def _nest(drafts: Sequence[Draft]) -> None:
    """Set the levels of items: the number of less indented items of the same list around them, plus one."""
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
