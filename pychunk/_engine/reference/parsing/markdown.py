"""The blocks of Markdown in plain Python, with positions in characters, as `csrc/parsing/markdown.h` finds them.

The rules are those of CommonMark 0.31, and further ones for GFM's tables and for front matter. The lines inside a
container (a quote or a list item), without its marks, are read by the same rules again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from ...data.blocks import CODE, FRONT_MATTER, HEADING, ITEM, PARAGRAPH, QUOTE, TABLE, TERM
from .markdown_lines import Line, Place, is_code, width_of

Row = tuple[int, int, int, int]

_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
#: The white space that JavaScript's trim() and CommonMark's labels and cells remove.
_TRIM = " \t\n\v\f\r\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
_FENCE = re.compile(r"`{3,}(?!.*`)|~{3,}", re.DOTALL)
_BREAK = re.compile(r"([*_-])[ \t]*(?:\1[ \t]*){2,}")
_HEADING = re.compile(r"(#{1,6})(?=[ \t]|\Z)")
_UNDERLINE = re.compile(r"(=+|-+)[ \t]*")
_BULLET = re.compile(r"[*+-](?=[ \t]|\Z)")
_NUMBER = re.compile(r"([0-9]{1,9})[.)](?=[ \t]|\Z)")
_DELIMITERS = re.compile(r"[|:-][|: \t-]+")
_CELL = re.compile(r":?-+:?")
_ATTRIBUTE = r"""\s+[a-zA-Z_:][a-zA-Z0-9_.:-]*(?:\s*=\s*(?:[^"'=<>`\x01-\x20]+|'[^']*'|"[^"]*"))?"""
_NAMES = (
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link "
    "main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead "
    "title tr track ul"
)
_TABLE_NAMES = {"caption", "col", "colgroup", "table", "tbody", "td", "tfoot", "th", "thead", "tr"}
#: For each kind of HTML block: its beginning, its end ("" is a blank line), and whether it interrupts a paragraph.
_HTML = [
    (r"<(?ai:(script|pre|style|textarea))(?=\s|>|\Z)", r"</(?ai:script|pre|style|textarea)>", True),
    (r"<!--", r"-->", True),
    (r"<\?", r"\?>", True),
    (r"<![A-Za-z]", r">", True),
    (r"<!\[CDATA\[", r"\]\]>", True),
    (rf"</?(?ai:({_NAMES.replace(' ', '|')}))(?=\s|/?>|\Z)", "", True),
    (rf"(?:<[a-zA-Z][a-zA-Z0-9-]*(?:{_ATTRIBUTE})*\s*/?>|</[a-zA-Z][a-zA-Z0-9-]*\s*>)\s*\Z", "", False),
]
_HEADING_TAG = re.compile(r"<[hH]([1-6])(?=[ \t>]|\Z)")
# Syntax of dialects: mathematics, footnotes, definitions, the JavaScript in MDX, and the keys of front matter.
_FORMULAS = (
    "CD Vmatrix align alignat aligned alignedat array bmatrix cases displaymath dcases empheq "
    "eqnarray equation flalign gather gathered math matrix multline multlined numcases "
    "pmatrix prooftree rcases smallmatrix split subequations tikzcd vmatrix"
)
_FORMULA = re.compile(rf"(\$\$)|(\\\[)|\\begin\{{({_FORMULAS.replace(' ', '|')})\*?\}}")
_FOOTNOTE = re.compile(r"\[\^[^ \t\[\]]+\]:")
_DEFINITION = re.compile(r":[ \t]+(?=[^ \t])")
_MODULE = re.compile(
    r"""import (?:\{\Z|[ \t]*(?:[^'" \t][^'"]* from[ \t]*)?(?:'[^']*'|"[^"]*")[; \t]*\Z)"""
    r"""|export [ \t]*(?:(?:const|let|var|function|class|async function) |\{|\* from |default [^({;]*[({;])""",
    re.DOTALL,
)
_KEY = re.compile(r"[A-Za-z_-][A-Za-z0-9_-]*[ \t]*[:=]")
_HTML_RULES = [(re.compile(begins), re.compile(ends), also) for begins, ends, also in _HTML]


def blocks(text: str) -> list[Row]:
    """Return the (kind, level, start, end) of each block of a document, in characters."""
    return _Document(text).rows


def front_matter(text: str) -> tuple[int, int]:
    """Return the span of the front matter at the beginning of a document, with its closing line, or (0, 0) for none.

    Blank lines may precede its opening line. After them, ``---`` and ``+++`` open front matter only if the next line is
    a key.
    """
    every = list(_LINE.finditer(text, text.startswith("\ufeff")))
    blank = next((i for i, line in enumerate(every) if line[1].strip(" \t")), 0)
    lines = every[blank:]
    fence = lines[0][1].rstrip(" \t")
    closing = {"---": ("---", "..."), "+++": ("+++",), ";;;": (";;;",), "{": ("}",)}.get(fence)
    if closing is None or len(lines) < 2 or not lines[1][1].strip(" \t"):
        return 0, 0
    if fence == "{" and not lines[1][1].strip(" \t").startswith('"'):
        return 0, 0
    if fence in ("---", "+++") and blank and not _KEY.match(lines[1][1]):
        return 0, 0
    end = next((line.end(1) for line in lines[1:] if line[1].rstrip(" \t") in closing), 0)
    return (lines[0].start() if blank else 0, end) if end else (0, 0)


class _Document:
    def __init__(self, text: str) -> None:
        self.text = text
        self.rows: list[Row] = []
        begin, at = front_matter(text)
        if at:
            self.rows.append((FRONT_MATTER, 0, begin, len(text[:at].rstrip(" \t"))))
        lines = self._lines(at)
        self._blocks(lines, 0, len(lines), Place())

    def _lines(self, at: int) -> list[Line]:
        lines = []
        mark = at == 0 and self.text.startswith("\ufeff")
        for found in _LINE.finditer(self.text, at + mark):
            begin, end = found.span(1)
            first = next((i for i in range(begin, end) if self.text[i] not in " \t"), end)
            lines.append(Line(first, first, end, width_of(self.text[begin:first], 0)))
        if mark and not lines[0].blank:
            lines[0].start = 0
        return lines

    def _blocks(self, lines: list[Line], i: int, end: int, place: Place) -> int:
        """Find the blocks of those lines of [i, end) that belong to a place. Return the first line that does not."""
        while True:
            while i < end and lines[i].blank:
                i += 1
            if i >= end or lines[i].indent < place.indent:
                return i
            i = self._block(lines, i, end, place)

    def _block(self, lines: list[Line], i: int, end: int, place: Place) -> int:
        """Find the block that begins with line ``i``. Return the line after the block."""
        line, rest = lines[i], self._rest(lines[i])
        if heads := self._table_heads(lines, i, end, place):
            return self._table(lines, i, end, place, heads)
        if is_code(line, place):
            return self._indented(lines, i, end, place)
        if fence := _FENCE.match(rest):
            return self._fenced(lines, i, end, place, fence[0])
        if rest[0] == ">" and not place.is_full:
            return self._quote(lines, i, end, place)
        if _BREAK.fullmatch(rest):
            return i + 1
        if self._list_mark(line, place):
            return self._list(lines, i, end, place)
        if not place.is_note and (mark := _FOOTNOTE.match(rest)):
            return self._note(lines, i, end, place, mark.end(), place.indent + 4)
        if rest[0] == "[" and (after := self._definition(lines, i, end, place)):
            return after
        if after := self._formula_end(lines, i, end, place) or self._module_end(lines, i, end, place):
            return self._leaf(lines, i, after, CODE)
        if rule := next((rule for rule in _HTML_RULES if rule[0].match(rest)), None):
            return self._html(lines, i, end, place, *rule[:2])
        if heading := _HEADING.match(rest):
            return self._heading_leaf(lines, i, i + 1, place, HEADING, len(heading[1]))
        if self._is_term(lines, i, end, place):
            return self._definitions(lines, i, end, place)
        return self._paragraph(lines, i, end, place)

    def _rest(self, line: Line) -> str:
        return self.text[line.text : line.end]

    def _leaf(self, lines: list[Line], i: int, after: int, kind: int, level: int = 0) -> int:
        """Add a block of the lines [i, after), except for blank lines and white space at the end. Return ``after``."""
        last = max(j for j in range(i, after) if lines[j].start < lines[j].end)
        start = lines[i].start
        self.rows.append((kind, level, start, start + len(self.text[start : lines[last].end].rstrip(" \t"))))
        return after

    def _text_leaf(self, lines: list[Line], i: int, after: int, place: Place) -> int:
        """Add a block of text, whose kind depends on the containers around it. Return ``after``."""
        if place.item_rows == len(self.rows):
            return self._leaf(lines, i, after, ITEM, place.lists)
        if place.quotes:
            return self._leaf(lines, i, after, QUOTE, place.quotes)
        return self._leaf(lines, i, after, PARAGRAPH)

    def _heading_leaf(self, lines: list[Line], i: int, after: int, place: Place, kind: int, level: int) -> int:
        """Add a heading or a term. In a quote or list item it becomes text, because no section begins with it there."""
        if place.quotes or place.lists:
            return self._text_leaf(lines, i, after, place)
        return self._leaf(lines, i, after, kind, level)

    # ---- leaves ----

    def _indented(self, lines: list[Line], i: int, end: int, place: Place) -> int:
        after = i + 1
        while after < end and (lines[after].blank or is_code(lines[after], place)):
            after += 1
        while lines[after - 1].blank:
            after -= 1
        self._leaf(lines, i, after, CODE)
        if lines[i].start == lines[i].text:  # the indentation is part of the code
            kind, level, start, stop = self.rows.pop()
            while start and self.text[start - 1] in " \t":
                start -= 1
            self.rows.append((kind, level, start, stop))
        return after

    def _fenced(self, lines: list[Line], i: int, end: int, place: Place, fence: str) -> int:
        closing = re.compile(rf"{fence[0]}{{{len(fence)},}}[ \t]*")
        after = i + 1
        while after < end and (lines[after].blank or lines[after].indent >= place.indent):
            after += 1
            if not is_code(lines[after - 1], place) and closing.fullmatch(self._rest(lines[after - 1])):
                break
        return self._leaf(lines, i, after, CODE)

    def _html(
        self, lines: list[Line], i: int, end: int, place: Place, begins: re.Pattern[str], ends: re.Pattern[str]
    ) -> int:
        found = begins.match(self._rest(lines[i]))
        assert found is not None
        name = (found[1] if found.re.groups else "").lower()
        until_blank = not ends.pattern
        after = i + 1
        if until_blank or not ends.search(self._rest(lines[i])):
            while after < end:
                line = lines[after]
                if line.indent < place.indent and (until_blank or not line.blank):
                    break
                if until_blank and line.blank:
                    break
                after += 1
                if not until_blank and ends.search(self._rest(line)):
                    break
        if name == "pre":
            return self._leaf(lines, i, after, CODE)
        if name in _TABLE_NAMES:
            return self._leaf(lines, i, after, TABLE)
        if until_blank and not (place.quotes or place.lists or place.is_note):
            return self._html_with_headings(lines, i, after)
        return self._text_leaf(lines, i, after, place)

    def _html_with_headings(self, lines: list[Line], i: int, after: int) -> int:
        """Add the blocks in lines [i, after) of HTML: headings with their end tags, and the text between them."""
        at, start = i, lines[i].start
        while at < after:
            begin = _HEADING_TAG.search(self._rest(lines[at]))
            end = self._heading_end(lines, at, after, begin) if begin else None
            if begin is None or end is None:
                at += 1
                continue
            first = lines[at].text + begin.start()
            if begin.start() == 0 and start == lines[at].start:
                first = start  # only a byte order mark precedes the heading
            self._piece(PARAGRAPH, 0, start, first)
            self._piece(HEADING, int(begin[1]), first, end)
            at = next(j for j in range(at, after) if end <= lines[j].end)
            start = next((j for j in range(end, lines[at].end) if self.text[j] not in " \t"), lines[at].end)
            lines[at] = replace(lines[at], start=start, text=start)
            if lines[at].blank:
                at += 1
                start = lines[at].start if at < after else lines[-1].end
        if start < lines[after - 1].end:
            self._piece(PARAGRAPH, 0, start, lines[after - 1].end)
        return after

    def _heading_end(self, lines: list[Line], at: int, after: int, begin: re.Match[str]) -> int | None:
        """Return the position after the end tag of the heading that ``begin`` begins in line ``at``, or None."""
        closes = re.compile(rf"</[hH]{begin[1]}>")
        inside = lines[at].text + begin.end()
        for line in lines[at:after]:
            if found := closes.search(self.text, max(inside, line.text), line.end):
                return found.end()
        return None

    def _piece(self, kind: int, level: int, start: int, end: int) -> None:
        if piece := self.text[start:end].rstrip(" \t\r\n"):
            self.rows.append((kind, level, start, start + len(piece)))

    def _formula_end(self, lines: list[Line], i: int, end: int, place: Place) -> int:
        """Return the line after the formula that begins with line i, or 0 if no formula ends before a blank line."""
        mark = _FORMULA.match(self._rest(lines[i]))
        if mark is None:
            return 0
        name = mark[3] or ""
        closing = re.compile(r"\$\$" if mark[1] else r"\\\]" if mark[2] else rf"\\end\{{{name}\*?\}}")
        rest = self._rest(lines[i])
        if close := closing.search(rest, mark.end()):
            inside, behind = rest[mark.end() : close.start()], rest[close.end() :].strip(" \t")
            return i + 1 if set(inside) & set("\\^_={}<>+") and not behind.strip(".,;:") else 0
        for j in range(i + 1, end):
            if lines[j].blank or lines[j].indent < place.indent:
                return 0
            if closing.search(self._rest(lines[j])):
                return j + 1
        return 0

    def _module_end(self, lines: list[Line], i: int, end: int, place: Place) -> int:
        """Return the line after the JavaScript that begins with line i, or 0 if there is none."""
        if place.quotes or place.lists or not _MODULE.match(self._rest(lines[i]).strip(" \t")):
            return 0
        return next((j for j in range(i, end) if lines[j].blank), end)

    def _is_term(self, lines: list[Line], i: int, end: int, place: Place) -> bool:
        """Return whether line i is a term, which is followed by its definition, perhaps after a blank line."""
        j = i + 1
        if j < end and lines[j].blank:
            j += 1
            if self._rest(lines[i]).rstrip(" \t")[-1] in ".!?:,;":
                return False
        return not place.is_note and j < end and self._begins_definition(lines[j], place) is not None

    def _begins_definition(self, line: Line, place: Place) -> re.Match[str] | None:
        if line.blank or line.indent < place.indent or is_code(line, place):
            return None
        return _DEFINITION.match(self._rest(line))

    def _definitions(self, lines: list[Line], i: int, end: int, place: Place) -> int:
        after = self._heading_leaf(lines, i, i + 1, place, TERM, 0)
        while True:
            while after < end and lines[after].blank:
                after += 1
            mark = self._begins_definition(lines[after], place) if after < end else None
            if mark is None:
                return after
            column = lines[after].indent + 1
            width = width_of(mark[0][1:], lines[after].column + column)
            after = self._note(lines, after, end, place, 1, column + min(width, 4))

    def _note(self, lines: list[Line], i: int, end: int, place: Place, mark: int, indent: int) -> int:
        """Read a footnote or a definition and the following lines with at least ``indent`` columns of indentation."""
        line = lines[i]
        at = line.text + mark
        inner = lines[:]
        first = next((k for k in range(at, line.end) if self.text[k] not in " \t"), line.end)
        inner[i] = replace(line, text=first, indent=indent)
        return self._blocks(inner, i, end, place._replace(indent=indent, is_note=True))

    def _paragraph(self, lines: list[Line], i: int, end: int, place: Place) -> int:
        after = i + 1
        while after < end and not lines[after].blank:
            line = lines[after]
            if line.indent - place.indent < 4:
                underline = _UNDERLINE.fullmatch(self._rest(line))
                if underline and line.indent >= place.indent:
                    level = 1 if underline[1][0] == "=" else 2
                    return self._heading_leaf(lines, i, after + 1, place, HEADING, level)
                if line.indent >= 0 and self._ends_text(lines, after, end, place, "paragraph"):
                    break
            after += 1
        return self._text_leaf(lines, i, after, place)

    def _table_heads(self, lines: list[Line], i: int, end: int, place: Place) -> int:
        """Return the number of head rows, 1 or 2, of the table that begins with line i, or 0 if no table begins."""
        if self._is_table(lines, i, end, place):
            return 1
        if i + 1 >= end or lines[i].blank or lines[i + 1].blank or is_code(lines[i], place):
            return 0
        rows = [self._rest(lines[i]), self._rest(lines[i + 1])]
        if rows[0][0] != "|" or rows[1][0] != "|" or lines[i + 1].indent < place.indent:
            return 0
        return 2 if self._is_table(lines, i + 1, end, place) and len(_cells(rows[0])) == len(_cells(rows[1])) else 0

    def _is_table(self, lines: list[Line], i: int, end: int, place: Place) -> bool:
        """Return whether line i is the header of a table: the next line has a cell of dashes for each of its cells."""
        if i + 1 >= end or lines[i + 1].indent < place.indent or is_code(lines[i + 1], place):
            return False
        dashes, header = self._rest(lines[i + 1]), self._rest(lines[i]).strip(_TRIM)
        if not _DELIMITERS.fullmatch(dashes) or re.match(r"-[ \t]", dashes):
            return False
        cells = [cell.strip(" \t") for cell in dashes.split("|")]
        if not all(_CELL.fullmatch(cell) for cell in cells[1:-1]):
            return False
        if not all(_CELL.fullmatch(cell) for cell in (cells[0], cells[-1]) if cell):
            return False
        if "|" not in header or is_code(lines[i], place):
            return False
        return 0 < len(_cells(header)) == sum(map(bool, cells[:1] + cells[1:-1] + cells[1:][-1:]))

    def _table(self, lines: list[Line], i: int, end: int, place: Place, heads: int) -> int:
        after = i + heads + 1
        while after < end and lines[after].indent >= place.indent and not is_code(lines[after], place):
            if self._ends_text(lines, after, end, place, "table") or not self._rest(lines[after]).strip(_TRIM):
                break
            after += 1
        return self._leaf(lines, i, after, TABLE)

    def _definition(self, lines: list[Line], i: int, end: int, place: Place) -> int:
        """Return the line after the link reference definition that begins with line i, or 0 if none begins."""
        text = _Growing(self.text, lines, i, lambda j: self._goes_on(lines, j, end, place))
        at = text.label()
        at = at and text.destination(text.skip(at))
        if not at:
            return 0
        plain = text.rest_is_blank(at)
        lines_read = text.read
        begin = text.skip(at)
        close = text.title(begin) if begin > at else 0
        if close and (close - begin == 2 or text.rest_is_blank(close)):
            return text.read if text.rest_is_blank(close) else 0
        return lines_read if plain else 0

    def _goes_on(self, lines: list[Line], i: int, end: int, place: Place) -> bool:
        """Return whether line i continues a link reference definition."""
        if i >= end or lines[i].blank:
            return False
        if is_code(lines[i], place) or lines[i].indent < 0:
            return True
        return not self._ends_text(lines, i, end, place, "definition")

    # ---- containers ----

    def _ends_text(self, lines: list[Line], i: int, end: int, place: Place, what: str) -> bool:
        """Return whether line i begins a block that ends the block before it.

        ``what`` names that block: paragraph, definition, quote, table or item.
        """
        line, rest = lines[i], self._rest(lines[i])
        if what in ("paragraph", "definition") and self._table_heads(lines, i, end, place):
            return True
        if line.blank or is_code(line, place):
            return False
        if what == "paragraph" and self._formula_end(lines, i, end, place):
            return True
        before_note = place.is_note and line.indent < place.indent
        if what != "item" and (before_note or not place.is_note) and _FOOTNOTE.match(rest):
            return True
        if what == "paragraph" and before_note and _DEFINITION.match(rest):
            return True
        if _FENCE.match(rest) or (rest[0] == ">" and not place.is_full) or _BREAK.fullmatch(rest):
            return True
        if what == "item":
            return False
        if mark := self._list_mark(line, place):
            # A list interrupts a paragraph only if it begins with 1 and text.
            number = mark[1] if mark.re is _NUMBER else "1"
            begins = int(number) == 1 and bool(rest[mark.end() :].strip(" \t"))
            if what != "paragraph" or line.indent < place.indent or begins:
                return True
        return any(begins.match(rest) for begins, _, ends in _HTML_RULES if ends) or bool(_HEADING.match(rest))

    def _quote(self, lines: list[Line], i: int, end: int, place: Place) -> int:
        inner = [*lines[:i], self._unquoted(lines[i])]
        after = i + 1
        while after < end and not lines[after].blank:
            line = lines[after]
            if self.text[line.text] == ">" and line.indent >= place.indent:
                inner.append(self._unquoted(line))
            elif inner[-1].blank or self._ends_text(lines, after, end, place, "quote"):
                break
            else:
                inner.append(replace(line, indent=-1))
            after += 1
        inside = place._replace(indent=0, quotes=place.quotes + 1, item_rows=-1)
        return self._blocks(inner, i, after, inside)

    def _unquoted(self, line: Line) -> Line:
        """Return a line without the mark of a quote and the space after it."""
        at, column = line.text + 1, line.indent + 1
        follower = self.text[at : line.end][:1]
        spaced = follower in (" ", "\t") and follower != ""
        partial = follower == "\t" and (line.column + column) % 4 != 3  # a part of the tab is indentation of the text
        if spaced and not partial:
            at, column = at + 1, column + 1
        first = next((k for k in range(at, line.end) if self.text[k] not in " \t"), line.end)
        indent = width_of(self.text[at:first], line.column + column + partial)
        return Line(line.start, first, line.end, indent, line.indent + 1 + spaced)

    def _list_mark(self, line: Line, place: Place) -> re.Match[str] | None:
        """Return the mark of a list item at the beginning of a line, or None."""
        outside = place.list_indent >= 0 and line.indent - place.list_indent >= 4 and line.indent < place.indent
        if place.is_full or is_code(line, place) or outside:
            return None
        return self._mark(line)

    def _mark(self, line: Line) -> re.Match[str] | None:
        return _NUMBER.match(self._rest(line)) or _BULLET.match(self._rest(line))

    def _list(self, lines: list[Line], i: int, end: int, place: Place) -> int:
        mark = self._mark(lines[i])
        assert mark is not None
        sign = mark[0][-1]
        while True:
            i = self._item(lines, i, end, place, mark)
            if i >= end or lines[i].indent < place.indent or is_code(lines[i], place):
                return i
            if self._ends_text(lines, i, end, place, "item"):
                return i
            mark = self._mark(lines[i])
            if mark is None or mark[0][-1] != sign:
                return i

    def _item(self, lines: list[Line], i: int, end: int, place: Place, mark: re.Match[str]) -> int:
        line = lines[i]
        at, column = line.text + mark.end(), line.indent + mark.end()
        first = next((k for k in range(at, line.end) if self.text[k] not in " \t"), line.end)
        spaces = width_of(self.text[at:first], line.column + column)
        inner = lines[:]
        inner[i] = replace(line, text=first, indent=column + spaces)
        indent = column + (1 if first == line.end or spaces > 4 else spaces)
        rows = len(self.rows)
        if first == line.end and i + 1 < end and lines[i + 1].blank:
            after = i + 2  # the item ends, because it begins with two blank lines
        else:
            inside = Place(indent, place.indent, place.quotes, place.lists + 1, rows, place.is_note)
            after = self._blocks(inner, i, end, inside)
        if len(self.rows) == rows:
            self._leaf(lines, i, i + 1, ITEM, place.lists + 1)
        return after


class _Growing:
    """The text of a possible link reference definition, without indentation. Lines are added only when needed."""

    def __init__(self, text: str, lines: list[Line], first: int, goes_on: Callable[[int], bool]) -> None:
        self._source, self._lines, self._goes_on = text, lines, goes_on
        self.string = ""
        self.read = first
        self._add()

    def _add(self) -> None:
        line = self._lines[self.read]
        ended = line.end < len(self._source)
        self.string += self._source[line.text : line.end].replace("\0", "\ufffd") + "\n" * ended
        self.read += 1

    def _passed(self, at: int) -> None:
        """Add the next line if ``at`` is the line break at the end, and the next line continues the definition."""
        if self.string[at : at + 1] == "\n" and at + 1 == len(self.string) and self._goes_on(self.read):
            self._add()

    def skip(self, at: int) -> int:
        """Return the position after the white space that begins at ``at``."""
        while self.string[at : at + 1] in (" ", "\t", "\n") and at < len(self.string):
            self._passed(at)
            at += 1
        return at

    def rest_is_blank(self, at: int) -> bool:
        """Return whether the rest of the line from ``at`` on is blank."""
        return not self.string[at:].partition("\n")[0].strip(" \t")

    def label(self) -> int:
        """Return the position after ``[label]:``, or 0 if there is no label."""
        at = 1
        while at < len(self.string) and self.string[at] not in "[]":
            if self.string[at] == "\\":
                at += 1
            self._passed(at)
            at += 1
        found = self.string[at : at + 2] == "]:" and self.string[1:at].strip(_TRIM)
        return at + 2 if found else 0

    def destination(self, at: int) -> int:
        """Return the end of the link's destination that begins at ``at``, or 0 if there is none."""
        if self.string[at : at + 1] == "<":
            found = re.compile(r"<(?:\\.|[^\n<>\\]|\\\Z)*>", re.DOTALL).match(self.string, at)
            return found.end() if found else 0
        begin, open_ = at, 0
        while at < len(self.string) and self.string[at] > " " and self.string[at] != "\x7f":
            if self.string[at] == "\\" and at + 1 < len(self.string):
                if self.string[at + 1] == " ":
                    break
                at += 2
                continue
            if self.string[at] == ")" and open_ == 0:
                break
            open_ += (self.string[at] == "(") - (self.string[at] == ")")
            if open_ > 32:
                return 0
            at += 1
        return at if at > begin and open_ == 0 else 0

    def title(self, at: int) -> int:
        """Return the end of a title in quotes or brackets that begins at ``at``, or 0 if there is none."""
        closing = {'"': '"', "'": "'", "(": ")"}.get(self.string[at : at + 1])
        if closing is None:
            return 0
        at += 1
        while True:
            while at < len(self.string):
                if self.string[at] == closing:
                    return at + 1
                if self.string[at] == "(" and closing == ")":
                    return 0
                at += 2 if self.string[at] == "\\" and at + 1 < len(self.string) else 1
            if not self._goes_on(self.read):
                return 0
            self._add()


def _cells(row: str) -> list[str]:
    """Return the cells of a table row, which are separated by ``|``."""
    columns = re.split(r"(?<!\\)\|", row.strip(_TRIM))
    if columns[0] == "":
        columns.pop(0)
    if columns and columns[-1] == "":
        columns.pop()
    return columns
