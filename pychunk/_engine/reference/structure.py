"""The method structure: chunks by headings, and the tree of sections."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any

from ..data.blocks import CODE, HEADING, ITEM, TABLE, TERM
from ..data.columns import CUT_REASONS
from . import budget
from .cohesion import Cohesion
from .document_blocks import ROWS, introduces_heading, is_delimiter, is_fence, level
from .overlap_tail import tails
from .parsing.markdown_inline import inline_text, link_labels
from .topic import cut_within

if TYPE_CHECKING:
    from .document import Document

SHORT_PART = 3
CODE_FULL = 4
REMOVED, PAGE, HEADED = (CUT_REASONS.index(name) for name in ("removed", "page", "heading"))


@dataclass(frozen=True)
class Section:
    first: int  # sentence
    parent: int
    level: int
    heading: str


@dataclass
class Outline:
    """The structure of one document: its sections, and the first sentence of each unit.

    ``walls`` holds the boundaries that no chunk crosses, with the reasons. ``parted`` holds the headings that separate
    their section from the text before. For each sentence, ``glued`` is True inside a unit, and ``coarse`` is True if a
    unit that is too long is cut there first.
    """

    sections: list[Section] = field(default_factory=list)
    units: list[int] = field(default_factory=list)
    walls: dict[int, int] = field(default_factory=dict)
    parted: set[int] = field(default_factory=set)
    glued: list[bool] = field(default_factory=list)
    coarse: list[bool] = field(default_factory=list)

    def section_at(self, sentence: int) -> int:
        return bisect_right([section.first for section in self.sections], sentence) - 1

    def above(self, section: int) -> list[int]:
        """Return a section and the sections that contain it, from the outermost inwards."""
        return [*self.above(self.sections[section].parent), section] if section >= 0 else []

    def path(self, first: int, last: int) -> list[int]:
        """Return the sections that contain all sentences [first, last)."""
        paths = [self.above(section) for section in range(self.section_at(first), self.section_at(last - 1) + 1)]
        return [each[0] for each in takewhile(lambda each: len(set(each)) == 1, zip(*paths, strict=False))]

    def unit_at(self, sentence: int) -> int:
        return bisect_right(self.units, sentence) - 1


class Structure:
    """The groups of one document's sentences, the reasons why they begin, and the outline.

    Pages and removed text, which no group may cross, are also marked as walls in the document's boundaries.
    """

    def __init__(self, d: Document) -> None:
        self.d, self.plan = d, d.plan
        self.cohesion, self.breaks = d.borders
        unit, most, _ = d.limits
        self.length = d.length(d.plan.unit if d.plan.size else unit)
        self.size = d.plan.size or most or 2**60
        if most and unit == d.plan.unit:
            self.size = min(self.size, most)
        self.groups: list[budget.Group] = []
        self.outline = outline_of(d)
        self.walls, self.parted, self.glued = self.outline.walls, self.outline.parted, self.outline.glued
        self.code = is_code(d)
        if self.code:
            self._part_definitions()
        edges = [0, *sorted(self.walls), d.n]
        for first, last in pairwise(edges):
            if d.removed[first]:
                self.groups.append((first, last))
            else:
                self._share(first, last)
        size = CUT_REASONS.index("size")
        self.reasons = [self.walls.get(first, HEADED if first in self.parted else size) for first, _ in self.groups]
        for s in self.walls:
            self.cohesion[s] = Cohesion.WALL

    def _share(self, first: int, last: int) -> None:
        """Fill chunks with whole sections. If a section is cut, the next sections fill up its last chunk.

        A definition of code that fits into one chunk, with all that is inside, is never cut.
        """
        begin = first
        edges = [first, *(s for s in sorted(self.parted) if first < s < last), last]
        for section, end in pairwise(edges):
            half = begin < section and 2 * self.length(begin, section) >= self.size
            whole = self.code and self._must_begin(begin, section, last)
            if whole or (half and (self._leaves(begin, section) or self.length(begin, end) > self.size)):
                self._pack(begin, section, False)
                begin = section
            if end < last and self.length(begin, end) > self.size:
                self._pack(begin, end, False)
                begin, _ = self.groups.pop()
        self._pack(begin, last, self.plan.balance)

    def _leaves(self, sentence: int, other: int) -> bool:
        """Return whether ``other`` begins a section further out than that of ``sentence``: its parent begins before."""
        before, after = (self.outline.section_at(s) for s in (sentence, other))
        sections = self.outline.sections
        return before >= 0 and sections[after].parent < sections[before].parent

    def _end(self, section: int) -> int:
        """Return the sentence after a section and all sections inside it."""
        sections = self.outline.sections
        after = (each.first for each in sections[section + 1 :] if each.level <= sections[section].level)
        return next(after, self.d.n)

    def _part_definitions(self) -> None:
        """Part each definition from the signature above it if it fits into a chunk, but not with that signature."""
        for at, section in enumerate(self.outline.sections):
            if section.parent < 0:
                continue
            above, end = self.outline.sections[section.parent].first, self._end(at)
            if self.length(section.first, end) <= self.size < self.length(above, end):
                self.parted.add(section.first)

    def _must_begin(self, begin: int, sentence: int, last: int) -> bool:
        """Return whether ``sentence`` begins a definition that fits into a chunk, but not after ``begin``.

        If the definition is too long, that applies to the first one inside, if nothing but signatures precedes it.
        """
        sections = self.outline.sections
        for at in range(self.outline.section_at(sentence), len(sections)) if begin < sentence else ():
            first = sections[at].first
            if first >= last or (first > sentence and first in self.parted):
                break
            end = min(last, self._end(at))
            if self.length(sentence, end) <= self.size:
                return self.length(begin, end) > self.size
        return False

    def _pack(self, first: int, last: int, even: bool) -> None:
        edges = [first, *(s for s in range(first + 1, last) if not self.glued[s]), last]
        begin = first
        for unit, end in pairwise(edges):
            if end - unit == 1 or self.length(unit, end) <= self.size:
                continue
            if begin < unit:
                self._put_together(begin, unit, even)
            for s in range(unit + 1, end):  # also for what is left of the unit, which may be packed again
                self.glued[s] = self.glued[s] and not self.outline.coarse[s]
            opened = [unit, *(s for s in range(unit + 1, end) if not self.glued[s]), end]
            for a, b in pairwise(opened):  # if a table's head and its first row are too long, the cut is between them
                inside = (
                    self.d.kind_of(b - 1) == TABLE and b - a > 1 and self.d.block_of[b - 1] == self.d.block_of[b - 2]
                )
                if inside and self.length(a, b) > self.size:
                    self.glued[b - 1] = False
            code = any(self.d.kind_of(s) == CODE for s in range(unit, end))
            self._fill(unit, end, code, True)
            begin = end
        if begin < last:
            self._put_together(begin, last, even)

    def _put_together(self, first: int, last: int, even: bool) -> None:
        if self.plan.within == "size" or self.length(first, last) <= self.size:
            self._fill(first, last, True, even)
        elif self.plan.within == "topic":
            self._part_by_topics(first, last, even)
        else:
            found = zip(self.d.affinities, self.glued[1:], strict=True)
            affinities = [math.inf if glued else affinity for affinity, glued in found]
            filling = budget.FillRule((_cohesion(self.glued), self.breaks), by_structure=True)

            def fits(i: int, j: int) -> bool:
                return self.length(i, j) <= self.size

            self.groups += budget.cut_long([(first, last)], fits, affinities, self.length, self.size, filling)

    def _part_by_topics(self, first: int, last: int, even: bool) -> None:
        units = [s for s in range(first, last) if s == first or not self.glued[s]]
        left = [self.length(s, last) for s in units] + [0]
        lengths = [max(0, before - after) for before, after in pairwise(left)]
        gaps = [self.d.affinities[s - 1] for s in units[1:]]
        cuts = cut_within(gaps, self.plan.threshold_value, lengths, self.size // SHORT_PART, self.size)
        for begin, end in pairwise([*(units[cut] for cut in cuts), last]):
            if self.length(begin, end) <= self.size:
                self.groups.append((begin, end))
            else:
                self._fill(begin, end, True, even)

    def _fill(self, first: int, last: int, by_structure: bool, even: bool) -> None:
        opened = [first, *(s for s in range(first + 1, last) if not self.glued[s]), last]
        lengths = [self.length(a, b) for a, b in pairwise(opened)]
        least = max((length for length in lengths if length <= self.size), default=0)
        filling = budget.FillRule(
            (_cohesion(self.glued), self.breaks), by_structure, even, least=least, tail=tails(self.d)
        )
        if self.code:
            filling = replace(filling, full=CODE_FULL)
        self.groups += budget.fill(first, last, self.length, self.size, self.plan.overlap, filling)


def is_code(d: Document) -> bool:
    """Return whether a document is source code: whether all its blocks are code, headings and terms, without markup."""
    return all(d.kind_of(s) in (CODE, HEADING, TERM) and not d.has_markup(s) for s in range(d.n))


def outline_of(d: Document) -> Outline:
    """Return the structure of a document, whichever method cuts it."""
    cohesion, _ = d.text_borders
    out = Outline(find_sections(d), glued=[False] * d.n, coarse=[False] * d.n)
    level = 0
    for section in out.sections:  # The heading of a subsection that directly follows its section's parts nothing.
        if section.level <= level or cohesion[section.first] != Cohesion.LEAD:
            out.parted.add(section.first)
        level = section.level
    for s in range(1, d.n):
        if cohesion[s] == Cohesion.WALL:
            out.walls[s] = REMOVED
        elif d.turns_page(s):
            out.walls[s] = PAGE
    for s in range(d.n):
        if s > 0 and s not in out.walls:
            begins = not d.blocks or d.block_of[s] != d.block_of[s - 1]
            kind, before = d.kind_of(s), d.kind_of(s - 1)
            out.glued[s] = s not in out.parted and (cohesion[s].is_closed or kind == before == ITEM)
            if d.blocks and cohesion[s] != Cohesion.LEAD:
                out.coarse[s] = cohesion[s] != Cohesion.TRAIL if begins else kind in ROWS
            elif d.blocks:
                out.coarse[s] = begins and kind == TERM
        if not out.glued[s]:
            out.units.append(s)
    return out


def find_sections(d: Document) -> list[Section]:
    """Return the sections of a document, each with its heading.

    Without blocks, consecutive lines that look like headings are one heading, together with text that stays with them.
    """
    cohesion, out = d.text_borders[0], list[Section]()
    run, headed, kept = 0, False, False
    labels = link_labels(d.text)
    for s in range(d.n):
        if s == 0 or d.blocks or cohesion[s] != Cohesion.LEAD:
            run, headed = s, False
        kept = kept or not d.removed[s]
        title = not kept and bool(d.blocks) and level(d.blocks, d.block_of, s) == 1
        if (not d.levels[s] and not title) or headed:
            continue
        headed = True
        if d.blocks and s > 0 and introduces_heading(d.blocks, d.block_of[s - 1]):
            while run > 0 and d.block_of[run - 1] == d.block_of[s - 1] and cohesion[run].is_closed:
                run -= 1
        own, end = 1 if title else d.levels[s], d.ends[s]
        if d.blocks:
            end = min(end, d.blocks[d.block_of[s]].end)
        above = len(out) - 1
        while above >= 0 and out[above].level >= own:
            above = out[above].parent
        out.append(Section(run, above, own, heading_text(d.text[d.starts[s] : end], labels, d.has_markup(s))))
    return out


def _cohesion(tied: Sequence[bool]) -> list[Cohesion]:
    return [Cohesion.LEAD if each else Cohesion.OPEN for each in tied]


def _past_marks(line: str) -> str:
    """Return a line of Markdown without the marks of quotes and list items at its beginning."""
    return re.sub(r"^(?:[ \t]*(?:>|(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t])))*[ \t]*", "", line)


def _without_attributes(line: str) -> str:
    """Return a heading without the attributes at its end, as in "Setup {#setup .wide}"."""
    found = re.fullmatch(r"(.*)\{:?([^{}]*)\}", line, re.DOTALL)
    words = [word for word in re.split(r"[ \t]+", found[2]) if word] if found else []
    attribute = re.compile(r"[#.].+|-|.+?=.*", re.DOTALL)
    return found[1].strip() if found and words and all(map(attribute.fullmatch, words)) else line


def heading_text(line: str, labels: frozenset[str] = frozenset(), markup: bool = True) -> str:
    """Return the text of a heading without its own marks, marks of quotes and lists before it, and inline markup.

    Without ``markup``, the text is plain, so that brackets, stars and braces are part of the heading.
    """
    *above, under = re.split(r"\r\n|\r|\n", line.removeprefix("\ufeff").strip())
    mark = under.lstrip("> \t").strip()
    is_markdown = bool(above and mark and (not mark.strip("=") or not mark.strip("-")))
    line = line.removeprefix("\ufeff")
    if is_markdown:
        if under[:1] in tuple("> \t"):
            above = [_past_marks(above[0]), *(each.lstrip("> \t") for each in above[1:])]
        line = "\n".join(above)
    line = line.strip()
    bare = _past_marks(line)
    is_html = markup and re.match(r"<[hH][1-6](?:>|[ \t-\r])", bare) is not None and len(bare) > 4
    if bare.startswith("#") or is_html:
        line = bare
    if line.startswith("#"):
        is_markdown = True
        marks = len(line) - len(line.lstrip("#"))
        line = line[min(marks, 6) :].strip()
        line = _without_attributes(line) if markup else line
        bare = line.rstrip("#")
        if bare != line and (not bare or bare[-1].isspace()):
            line = bare.strip()
        line = _without_attributes(line) if markup else line
    elif is_markdown and markup:
        line = _without_attributes(line)
    elif len(line.encode()) > 4 and line.startswith("==") and line.endswith("==") and line.strip("="):
        line = line.strip("=").strip()
    if markup and (is_markdown or is_html):
        line = inline_text(line, is_html, labels)
    return " ".join(line.split())


def outline_rows(d: Document, outline: Outline, rows: list[dict[str, Any]], own: list[tuple[int, int]]) -> None:
    """Set the columns of the tree of headings in the rows of one document.

    ``own`` holds the sentences [first, last) of each row, without repeated ones.
    """
    holder: dict[int, int] = {}
    for r, (first, last) in enumerate(own):
        for number, section in enumerate(outline.sections):
            if first <= section.first < last:
                holder.setdefault(number, r)
    for r, (row, (first, last)) in enumerate(zip(rows, own, strict=True)):
        path = outline.path(first, last)
        above = path[:-1] if path and holder.get(path[-1]) == r else path
        parent = holder.get(above[-1], -1) if above else -1
        row |= {"parent": parent, "depth": rows[parent]["depth"] + 1 if parent >= 0 else 0, "path": path}
        touched = range(outline.section_at(first), outline.section_at(last - 1) + 1)
        row |= {"subtree": 1, "part": 1, "parts": 1, "header": _header(d, outline, first), "sections": list(touched)}
    for row in reversed(rows):
        if row["parent"] >= 0:
            rows[row["parent"]]["subtree"] += row["subtree"]
    spans = [(outline.unit_at(first), outline.unit_at(last - 1)) for first, last in own]
    units = []
    for r, (first, last) in enumerate(spans):
        shares = r > 0 and spans[r - 1][1] == first
        units.append(first if shares else last if r + 1 < len(spans) and spans[r + 1][0] == last else -1)
    begin = 0
    for r in range(1, len(rows) + 1):
        if r < len(rows) and units[r] >= 0 and units[r] == units[begin]:
            continue
        for p in range(begin, r):
            if units[begin] >= 0:
                rows[p] |= {"part": p - begin + 1, "parts": r - begin}
        begin = r


def _header(d: Document, outline: Outline, s: int) -> str:
    """Return the head rows of the table, the opening fence or the signature of the code that a chunk continues, or "".

    ``s`` is the first sentence of the chunk.
    """
    if d.kind_of(s) not in (TABLE, CODE) or d.starts[s] >= d.blocks[d.block_of[s]].end:
        return ""
    first = d.block_of.index(d.block_of[s])
    rows = [d.text[d.starts[r] : d.ends[r]].strip() for r in range(first, d.n) if d.block_of[r] == d.block_of[s]]
    if d.kind_of(s) == CODE:
        heads = int(is_fence(rows[0]))
    else:
        heads = 2 if len(rows) > 2 and is_delimiter(rows[2]) and not is_delimiter(rows[1]) else 1
    last = min(first + heads, s)
    if first < last:
        return d.text[d.starts[first] : d.ends[last - 1]].strip()
    section = outline.section_at(s) if is_code(d) else -1
    if section < 0:
        return ""
    heading = next(each for each in range(outline.sections[section].first, d.n) if d.kind_of(each) == HEADING)
    block = d.blocks[d.block_of[heading]]
    return d.text[block.start : block.end].strip() if heading < s else ""
