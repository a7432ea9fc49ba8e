"""What a page shows, read from lexbor's tree in plain Python: what ``csrc/html_walk.h`` does, slow and obvious."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data.blocks import CAPTION, CODE, FORM, HEADING, ITEM, PARAGRAPH, QUOTE, TABLE, TERM
from ..data.ragged import Ragged, offsets_of
from .html_facts import word_hash, words_of

if TYPE_CHECKING:
    import numpy.typing as npt

#: Elements whose text nobody sees.
UNSEEN = frozenset(
    (
        "script",
        "style",
        "head",
        "template",
        "audio",
        "video",
        "canvas",
        "iframe",
        "noembed",
        "noframes",
        "datalist",
        "metadata",
        "desc",
        "defs",
        "symbol",
        "title",
        "map",
        "annotation",
        "annotation-xml",
        "object",
        "rp",
        "mjx-math",
        "-comment",
    )
)
#: Elements that begin and end a line.
BLOCK = frozenset(
    (
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "button",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "dir",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "menu",
        "nav",
        "noscript",
        "ol",
        "optgroup",
        "option",
        "p",
        "pre",
        "search",
        "section",
        "select",
        "summary",
        "table",
        "tbody",
        "td",
        "textarea",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
        "foreignobject",
        "listing",
        "xmp",
        "plaintext",
        "marquee",
    )
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_FORMS = frozenset(("button", "legend", "optgroup", "option", "select", "textarea"))
_LISTS = frozenset(("ul", "ol", "menu", "dir"))
_CELLS = frozenset(("td", "th"))
#: What makes a table one of layout, not of data.
_LAYOUT = frozenset(
    ("table", "h1", "h2", "h3", "h4", "h5", "h6", "form", "pre", "blockquote", "article", "section", "nav", "textarea")
)
#: Characters of a cell of data, cells of a table with short rows filled up: larger ones are read as text, by block.
MAX_CELL, MAX_CELLS = 1000, 200_000
_BREAK = "\0"  # of a line, in text that has no NUL
_DEPTH = 32767


#: Elements that change what is inside: how, says _enter_block.
_SPECIAL = frozenset((*_HEADINGS, "li", *_LISTS, *_FORMS, "blockquote", "figcaption", "caption", "table", "dt"))
_VERBATIM = frozenset(("pre", "listing", "xmp"))
_SPECIAL |= _VERBATIM
#: An element that is open: its row, and what was around it (None: the same as inside); or one inside a line.
_Frame = tuple[int, "tuple[Any, ...] | None"]
_INLINE: _Frame = (-1, None)
_LINK: _Frame = (-2, None)
_HIDDEN: _Frame = (-3, None)
_SCRIPT: _Frame = (-4, None)
_PERMALINK: _Frame = (-5, None)
_DRAWN: _Frame = (-6, None)


class Walked(NamedTuple):
    """What a walk over one page gives.

    Attributes:
        text: Markdown of all that the page shows.
        rows: int64[b, 4], of each block: kind, level, first character, one past the last.
        facts: int32[b, 5], of each block: its element, characters, those in links, links, whether it is hidden.
        parent, last: int32[e], of each element; see :class:`pychunk.parsing.html_facts.HtmlFacts`.
        words: hashes of each element's names.
        first_heading: of level 1, else "".
    """

    text: str
    rows: npt.NDArray[np.int64]
    facts: npt.NDArray[np.int32]
    parent: npt.NDArray[np.int32]
    last: npt.NDArray[np.int32]
    words: Ragged
    first_heading: str


def walk(root: Any) -> Walked:
    """What the elements below ``root``, of lexbor's tree without scripts, styles and templates, show.

    Texts side by side, between which something was taken out, are one.
    """
    found = _Walk()
    found.run(root)
    return found.walked()


class _Walk:
    """One walk over a tree, in reading order, without recursion."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.length = 0
        self.rows: list[tuple[int, int, int, int]] = []  # kind, level, start, end
        self.facts: list[tuple[int, int, int, int, bool]] = []  # element, characters, in links, links, hidden
        self.parent: list[int] = []
        self.last: list[int] = []
        self.words: list[tuple[int, ...]] = []
        self.first_heading = ""
        # The block that is being read: its text, its words, its links.
        self.parts: list[str] = []
        self.inline: list[tuple[int, ...]] = []
        self.link_chars = 0
        self.links = 0
        self.in_link = 0
        # Around it: kind, level, hidden, quotes, lists, element, mark of the list item, its number;
        # and the elements above.
        self.kind, self.level, self.hidden, self.quotes, self.lists, self.element = PARAGRAPH, 0, False, 0, 0, -1
        self.mark: list[str] = [""]  # shared by what is inside the item: taken by its first block
        self.language = -1, ""  # the block that named a language last
        self.list = _List()
        self.reversed = 0  # lists around that count down
        self.path: list[tuple[Any, _Frame]] = []
        self.scripts = _Scripts()
        self.in_fragment = False
        self.formulas = _Formulas()
        self.term = False
        self.permalinks: list[tuple[int, int]] = []  # where one begins; characters in links before

    def run(self, root: Any) -> None:
        """Reads the elements below ``root``."""
        parts, inline, path = self.parts, self.inline, self.path
        node = root
        while True:
            tag = node.tag or "-comment"  # None: a processing instruction
            child = None
            frame: _Frame | None = _INLINE
            if tag == "-text":
                text, node = _text_from(node)
                if text and (parts or not text.isspace()):
                    if self.in_link:
                        self.link_chars += len(text.strip())
                    self.formulas.see(text)
                    self.scripts.follow(text, parts)
                    parts.append(text)
            elif tag in UNSEEN:
                pass
            elif _is_block(tag):
                if parts or inline:
                    self._flush()
                frame = self._enter_block(node, tag)
                if frame is not None and (child := node.first_child) is None:
                    self._leave(frame)
            elif tag == "br":
                if parts:
                    parts.append(_BREAK)
                    self.scripts.follow("", parts)
            else:
                attributes = node.attributes
                if attributes or tag == "img" or tag == "a":
                    inline.append(self._hashes(tag, attributes))
                if (value := self.formulas.read(node, tag, attributes)) is not None:
                    self._put_formula(*value)
                    frame = None
                elif tag == "a":
                    if parts and not self.in_link and parts[-1] == "":
                        parts[-1] = " "  # two links side by side, which nothing but style sets apart
                    self.in_link += 1
                    self.links += 1
                    frame = _LINK
                    self.in_fragment = _is_fragment(attributes)
                    self.scripts.see_link(self.in_fragment)
                    if _is_permalink(attributes, self.kind in (HEADING, CAPTION) or self.term):
                        self.permalinks.append((len(parts), self.link_chars))
                        frame = _PERMALINK
                elif tag == "text":
                    self._blank()
                    frame = _DRAWN
                elif attributes and not self.hidden and _hides(tag, attributes) and not _shows_formula(attributes):
                    # What is hidden inside a line is a block of its own: the rest of the line is seen.
                    self._flush()
                    self.hidden = True
                    frame = _HIDDEN
                elif tag in _SCRIPTS:
                    if parts and parts[-1] == "":
                        parts.pop()  # a link inside belongs to the text before
                    self.scripts.enter(tag, (self.in_link > 0 and self.in_fragment) or _is_note(attributes), parts)
                    frame = _SCRIPT
                if frame is not None and (child := node.first_child) is None:
                    self._leave(frame)
            if child is not None and frame is not None:
                path.append((node, frame))
                node = child
                continue
            while (after := node.next) is None or not path:
                if not path:
                    self._flush()
                    return
                node, frame = path.pop()
                if frame is _INLINE:
                    continue
                if frame[1] is None and frame[0] >= 0 and not parts and not inline:  # most elements, in short
                    self.last[frame[0]] = len(self.parent)
                    self.element = self.parent[frame[0]]
                else:
                    self._leave(frame)
            node = after

    def _around(self) -> tuple[Any, ...]:
        """Return what holds for all that is inside of an element, and ends with it."""
        own = (self.kind, self.level, self.hidden, self.quotes, self.lists, self.mark, self.term)
        return *own, self.list, self.reversed

    def _leave(self, frame: _Frame) -> None:
        """What is to be done when the children of an element are read."""
        own, around = frame
        if own >= 0:
            if self.parts or self.inline:
                self._flush()
            self.last[own] = len(self.parent)
            self.element = self.parent[own]
            if around is not None:
                self.kind, self.level, self.hidden, self.quotes, self.lists, self.mark, self.term = around[:7]
                self.list, self.reversed = around[7:]
        elif frame is _LINK:
            self.in_link -= 1
            if self.parts:
                self.parts.append("")
        elif frame is _PERMALINK:
            self.in_link -= 1
            self._leave_permalink()
        elif frame is _DRAWN:
            self._blank()
        elif frame is _SCRIPT:
            self.scripts.leave(self.parts)
        elif frame is _HIDDEN:
            self._flush()
            self.hidden = False

    def _enter_block(self, node: Any, tag: str) -> _Frame | None:
        """Adds an element: what is to be done after its children; None: they have been read."""
        attributes = node.attributes
        if not attributes:
            hides, found = False, _hashed.get((tag, ""))
            self.words.append(_hash(tag, "") if found is None else found)
        else:
            hides = not self.hidden and _hides(tag, attributes)
            self.words.append(self._hashes(tag, attributes))
        own = len(self.parent)
        self.parent.append(self.element)
        self.last.append(own + 1)
        role = _role_level(attributes) if attributes and tag not in _ROLELESS else 0
        if attributes and (language := _language_in(attributes)):
            self.language = own, language
        listing = tag not in _SPECIAL and tag not in _ROLELESS and _is_listing(node)
        if tag not in _SPECIAL and not hides and not role and not listing:
            self.element = own
            return own, None
        around = self._around()
        self.element = own
        self.hidden = self.hidden or hides
        if tag in _HEADINGS:
            self.kind, self.level = HEADING, _HEADINGS[tag]
        elif tag == "li":
            self.kind, self.level = ITEM, max(1, self.lists)
            number = _integer(attributes.get("value"))
            self.list.number = self.list.number if number is None else number
            self.mark = [_mark(_list_style(attributes, self.list.style), self.list.number)]
            self.list.number += self.list.step
        elif tag in _LISTS:
            self.lists += 1
            self.list = _List(_list_style(attributes, "1" if tag == "ol" else "-"))
            start = _integer(attributes.get("start")) if tag == "ol" else None
            if tag == "ol" and "reversed" in attributes and self.reversed < _MOST_REVERSED:
                self.reversed += 1
                self.list.number, self.list.step = _items(node) if start is None else start, -1
            elif start is not None:
                self.list.number = start
        elif tag in _FORMS:
            self.kind, self.level = FORM, 0
        elif tag == "dt":
            self.term = True
        elif tag == "blockquote":
            self.quotes += 1
        elif tag == "figcaption" or tag == "caption":
            self.kind, self.level = CAPTION, 0
        elif tag in _VERBATIM or listing or (tag == "table" and _is_code_table(node)):
            self._code(node, listing)
            self._leave((own, around))
            return None
        elif tag == "table":
            rows = _data_table(node)
            self.formulas = _Formulas()
            if rows:
                self._table(*rows)
                self._leave((own, around))
                return None
        if role:
            self.kind, self.level = HEADING, role
        return own, around

    def _put_formula(self, text: str, display: bool) -> None:
        """Add a formula to the line; one that is set apart is a block."""
        if not text:
            return
        if display and self.kind != HEADING and not self.in_link:
            self._flush()
            self.parts.append(f"${text}$" if text.startswith("$") else text)
            self._flush()
            return
        if self.in_link:
            self.link_chars += len(text)
        self.scripts.follow(text, self.parts)
        self.parts.append(text)

    def _blank(self) -> None:
        """Keep the words of a drawing apart."""
        if self.parts:
            self.parts.append(" ")
            self.scripts.follow("", self.parts)

    def _leave_permalink(self) -> None:
        """Take the mark of a link to the place that it stands at out of the text."""
        at, link_chars = self.permalinks.pop()
        if at >= 0 and (text := "".join(self.parts[at:])) and _is_permalink_mark(text):
            del self.parts[at:]
            self.link_chars = link_chars
            self.links -= 1
        if self.parts:
            self.parts.append("")

    def _add_element(self, words: tuple[int, ...]) -> int:
        own = len(self.parent)
        self.parent.append(self.element)
        self.last.append(own + 1)
        self.words.append(words)
        return own

    def _hashes(self, tag: str, attributes: dict[str, str | None]) -> tuple[int, ...]:
        names = ""
        if attributes:
            if len(attributes) == 1 and "class" in attributes:
                names = attributes["class"] or ""
            else:
                names = " ".join([value for name, value in attributes.items() if value and name in _NAMING])
        found = _hashed.get((tag, names))
        return _hash(tag, names) if found is None else found

    def _flush(self) -> None:
        """What was read since the last border becomes a block, or several where empty lines are inside."""
        links, link_chars, inline = self.links, self.link_chars, self.inline[:]
        text = "".join(self.parts)
        self.parts.clear()
        self.inline.clear()
        self.scripts.forget()
        self.permalinks = [(-1, 0)] * len(self.permalinks)
        self.links = self.link_chars = 0
        if _BREAK not in text:
            text = " ".join(text.split())
            if text:
                self._block(text, link_chars, links, inline)
            return
        if self.kind in (HEADING, FORM):
            text = text.replace(_BREAK, " ")
        lines = [" ".join(line.split()) for line in text.split(_BREAK)]
        groups = [group for group in "\n".join(lines).strip("\n").split("\n\n") if group.strip("\n")]
        total = sum(map(len, groups))
        for group in groups:
            share = min(len(group), link_chars * len(group) // max(1, total))
            self._block(
                group.strip("\n"), share, links if len(groups) == 1 else -(-links * len(group) // total), inline
            )

    def _block(self, text: str, link_chars: int, links: int, inline: list[tuple[int, ...]]) -> None:
        kind, level, chars = self.kind, self.level, len(text)
        indent = ""
        if kind == HEADING:
            written = f"{'#' * level} {text}"
            if level == 1 and not self.first_heading:
                self.first_heading = text
        else:
            if self.lists and kind in (ITEM, PARAGRAPH):
                indent = "  " * (min(max(1, self.lists), 10) - 1)
                mark = self.mark[0] if kind == ITEM else ""
                if kind == ITEM:
                    self.mark[0] = ""
                    if not mark:  # a further paragraph of the item
                        indent += "  "
                written = indent + mark + text.replace("\n", "\n" + indent + " " * len(mark))
            elif kind == ITEM:
                mark, self.mark[0] = self.mark[0], ""
                written = mark + text
            else:
                written = text
            if self.quotes:
                bars = "> " * min(self.quotes, 6)
                written = bars + written.replace("\n", "\n" + bars)
                kind, level = QUOTE, min(self.quotes, _DEPTH)
            elif self.term and kind == PARAGRAPH:
                kind = TERM
        words = tuple(dict.fromkeys(word for words in inline[:16] for word in words)) if inline else ()
        self._put(written, kind, min(level, _DEPTH), chars, min(link_chars, chars), links, words)

    def _put(
        self, written: str, kind: int, level: int, chars: int, link_chars: int, links: int, words: tuple[int, ...]
    ) -> None:
        if self.pieces:
            between = "\n" if kind == ITEM and self.rows and self.rows[-1][0] == ITEM else "\n\n"
            self.pieces.append(between)
            self.length += len(between)
        row = self._add_element(words)
        self.rows.append((kind, level, self.length, self.length + len(written)))
        self.facts.append((row, chars, link_chars, links, self.hidden))
        self.pieces.append(written)
        self.length += len(written)

    def _code(self, node: Any, listing: bool) -> None:
        text, links, linked, language = _code_text(node, listing)
        language, text = self._language() or language, text.strip("\n")
        if not text.strip():
            return
        runs = max((len(run) for run in text.replace("`", " `").split(" ") if run.startswith("`")), default=0)
        fence = "`" * max(3, _longest_run(text) + 1 if runs else 3)
        written = f"{fence}{language}\n{text}\n{fence}"
        self._put(written, CODE, 0, len(text), min(linked, len(text)), min(links, _DEPTH), ())

    def _language(self) -> str:
        """Return the language that the open element, or one of the three around it, says its code is in."""
        element = self.element
        for _ in range(4):
            if element >= 0 and element == self.language[0]:
                return self.language[1]
            element = self.parent[element] if element >= 0 else -1
        return ""

    def _table(self, rows: list[list[str]], header: bool, caption: str, link_chars: int, links: int) -> None:
        if caption:
            self._put(caption, CAPTION, 0, len(caption), 0, 0, (word_hash("<caption"),))
        width = max(map(len, rows))
        if not header:
            rows = [[""] * width, *rows]
        lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in rows]
        lines.insert(1, "|" + " --- |" * width)
        chars = sum(len(cell) + 1 for row in rows for cell in row)
        self._put("\n".join(lines), TABLE, 0, chars, min(link_chars, chars), min(links, _DEPTH), ())

    def walked(self) -> Walked:
        if self.pieces:
            self.pieces.append("\n")
        words = np.fromiter(chain.from_iterable(self.words), np.uint32)
        return Walked(
            "".join(self.pieces),
            np.array(self.rows, np.int64).reshape(-1, 4),
            np.array(self.facts, np.int32).reshape(-1, 5),
            np.array(self.parent, np.int32),
            np.array(self.last, np.int32),
            Ragged(words, offsets_of(list(map(len, self.words)))),
            self.first_heading,
        )


_NAMING = frozenset(("class", "id", "role", "itemprop", "itemtype", "aria-label", "data-testid"))


def _hash(tag: str, names: str) -> tuple[int, ...]:
    found = (word_hash("<" + tag), *(word_hash(word) for word in dict.fromkeys(words_of(names))))
    if len(_hashed) >= _HASHED:
        _hashed.clear()
    if len(names) < 500:
        _hashed[tag, names] = found
    return found


#: Hashes of elements, kept from page to page: sites name theirs alike. At most as many, of 500 characters each.
_HASHED = 20_000
_hashed: dict[tuple[str, str], tuple[int, ...]] = {}


class _List:
    """A list, and the number of its next item."""

    def __init__(self, style: str = "-") -> None:
        self.style, self.number, self.step = style, 1, 1


#: Items of lists that count down are counted ahead, once for each such list around.
_MOST_REVERSED = 4
_INTEGER = re.compile(r"[ \t\n\f\r]*([+-]?[0-9]{1,9})(?![0-9])")
_LIST_STYLES = {"decimal": "1", "lower-alpha": "a", "lower-latin": "a", "upper-alpha": "A", "upper-latin": "A"}
_LIST_STYLES |= {"lower-roman": "i", "upper-roman": "I"} | dict.fromkeys(("none", "disc", "circle", "square"), "-")
_ROMAN = {1000: "M", 900: "CM", 500: "D", 400: "CD", 100: "C", 90: "XC", 50: "L", 40: "XL", 10: "X", 9: "IX", 5: "V"}
_ROMAN |= {4: "IV", 1: "I"}


def _integer(text: str | None) -> int | None:
    """Return a whole number as HTML reads it; what comes after its digits counts nothing."""
    found = _INTEGER.match(text or "")
    return int(found[1]) if found else None


def _items(node: Any) -> int:
    """Return how many items a list has."""
    child, found = node.first_child, 0
    while child is not None:
        found += child.tag == "li"
        child = child.next
    return found


def _list_style(attributes: dict[str, str | None], style: str) -> str:
    """Return how items are numbered: "1", "a", "A", "i", "I", or "-" without numbers."""
    kind = attributes.get("type") or ""
    if kind in ("1", "a", "A", "i", "I"):
        style = kind
    written = (attributes.get("style") or "").translate(_SMALL)
    for part in re.findall("list-style[^;]*", written):
        for name in re.split("[ \t\n\f\r!]", part.partition(":")[2]):
            style = _LIST_STYLES.get(name, style)
    return style


def _mark(style: str, number: int) -> str:
    """Return the mark that a browser shows before an item; letters and Roman numerals have no number below 1.

    >>> _mark("a", 28), _mark("I", 14), _mark("i", 0), _mark("-", 3)
    ('ab. ', 'XIV. ', '0. ', '- ')
    """
    if style == "-":
        return "- "
    written = ""
    if style in "aA" and number > 0:
        while number > 0:
            number, letter = divmod(number - 1, 26)
            written = chr(ord(style) + letter) + written
    elif style in "iI" and 0 < number < 4000:
        for value, part in _ROMAN.items():
            written += part * (number // value)
            number %= value
        written = written.lower() if style == "i" else written
    else:
        written = str(number)
    return written + ". "


def _hides(tag: str, attributes: dict[str, str | None]) -> bool:
    if "hidden" in attributes:
        return True
    style = (attributes.get("style") or "").replace(" ", "").translate(_SMALL)
    return bool(style) and _style_hides(style, _is_block(tag) and tag != "p")


def _style_hides(style: str, container: bool) -> bool:
    """Return whether a style, in small letters and without blanks, takes an element's text out of sight."""
    if "display:none" in style or "visibility:hidden" in style:
        return True
    values: dict[str, str] = {}
    for each in style.split(";"):
        name, colon, value = each.partition(":")
        if colon:
            values[name] = value.removesuffix("!important")
    # Containers of size 0 close the gaps between their parts, which have sizes of their own.
    if not container and _ZERO.fullmatch(values.get("font-size", "")):
        return True
    # Pages that fade in begin with opacity 0, and say how.
    if _ZERO.fullmatch(values.get("opacity", "")) and "trans" not in style and "anim" not in style:
        return True
    if "text-indent:-" in style and len(values.get("text-indent", "").encode()) >= 7:
        return True
    if "position:absolute" in style or "position:fixed" in style:
        for side in ("left", "top", "right"):
            value = values.get(side, "")
            if value.startswith("-") and value.endswith("px") and len(value.encode()) >= 7:
                return True
    if "color:" in style and "background" in style:
        color = _COLORS.get(values.get("color", ""), values.get("color", ""))
        ground = values.get("background-color", "") or values.get("background", "")
        return color not in ("", "transparent", "inherit") and "(" not in color and color == _COLORS.get(ground, ground)
    return False


#: 0, 0px, 0.0em, 0%.
_ZERO = re.compile(r"\.*0[^1-9(]*")
_COLORS = {"#fff": "white", "#ffffff": "white", "rgb(255,255,255)": "white"}
_COLORS |= {"#000": "black", "#000000": "black", "rgb(0,0,0)": "black"}
_PERMALINKS = ("headerlink", "hash-link", "header-anchor", "anchor", "permalink")
#: Marks that pages put into headings as links to themselves.
_MARK = re.compile(r"[#\s\u00b6\u00a7\u00a0\u2000-\u206f\u2190-\u2bff\ue000-\uf8ff\ufe0f\ufeff\U0001f000-\U0010ffff]+")
VOID = frozenset(("area", "base", "basefont", "bgsound", "col", "embed", "frame", "img", "input", "keygen", "link",
                  "meta", "param", "source", "track", "wbr"))  # fmt: skip
#: Elements whose role changes nothing.
_ROLELESS = frozenset((*_SPECIAL, "tr", "td", "th", "thead"))


def _is_permalink_mark(text: str) -> bool:
    return len(text.encode()) <= 16 and all(
        each.isspace() if each.isascii() and each != "#" else _MARK.fullmatch(each) for each in text
    )


def _is_permalink(attributes: dict[str, str | None], heading: bool) -> bool:
    """Return whether a link is one to the place that it stands at: by its class; or its target, inside a heading."""
    names = attributes.get("class") or ""
    return (heading and _is_fragment(attributes)) or any(each in names for each in _PERMALINKS)


def _role_level(attributes: dict[str, str | None]) -> int:
    if attributes.get("role") != "heading":
        return 0
    level = attributes.get("aria-level") or ""
    number = int(level) if level.isascii() and level.isdecimal() and len(level) < 4 else 2
    return min(6, max(1, number))


_SCRIPTS = frozenset(("sup", "sub", "rt"))
#: What a raised text is joined to its word by, in small letters, and the marks that need nothing between.
_JOINED = frozenset(
    ("a", "as", "de", "e", "eme", "er", "ers", "es", "ie", "lle", "lles", "me", "mes", "nd", "o", "os", "r", "rd", "re",
     "sm", "st", "ste", "te", "th", "tm", "\u00e8me", "\u00e8re")
)  # fmt: skip
_MARKS = ("*", "#", *"\u2122\u2120\u00ae\u00a9\u2020\u2021\u00a7\u00b0\u00ba\u00aa")
_STOPS = tuple('.,;:!?"\u201d\u2019\u00bb\u3002')
_ONE_TOKEN = re.compile(r"[-+\u2212]?[0-9](?:[0-9.,]*[0-9])?|.", re.DOTALL)
_DIGITS = re.compile(r"[0-9][0-9,. ]*")
_WORDS = re.compile(r"[A-Za-z .\u0080-\U0010ffff]{2,}")
_WORD_BEFORE = re.compile(r"[A-Za-z]*\Z")
_FRACTION = re.compile(r"\^([0-9]{1,9}[/\u2044])\Z")
_SMALL = str.maketrans({chr(code): chr(code + 32) for code in range(65, 91)})


def _blank(parts: list[str], left: int) -> None:
    """Replace the character ``left`` before the end by a blank: ``5^1/2`` becomes ``5 1/2``."""
    piece = len(parts) - 1
    while left > len(parts[piece]):
        left -= len(parts[piece])
        piece -= 1
    text = parts[piece]
    parts[piece] = f"{text[: len(text) - left]} {text[len(text) - left + 1 :]}"


def _script_text(raised: bool, note: bool, before: str, text: str) -> str:
    """Return the text of a ``sup`` or ``sub`` as it is written after the line so far.

    Exponents are ``10^6``, ``x^{n+1}``; indices ``x_i``; formulas of chemistry ``H2O``; footnote marks ``[3]``;
    ordinals and trade marks are joined: ``1st``.
    """
    if raised and (note or (text.startswith("[") and text.endswith("]"))):
        return text if text.startswith(("[", "(")) else f"[{text}]"
    if not before or before[-1].isspace():
        return text
    base = before[-1]
    found = _WORD_BEFORE.search(before[-3:])
    word = len(found[0]) if found else 0
    digits = _DIGITS.fullmatch(text) is not None
    if raised and digits and (before.endswith(_STOPS) or ("," in text and not _ascii_digit(base))):
        return f"[{text}]"
    if not raised and base in "/\u2044":
        return text
    if not (base.isascii() and base.isalnum()) and base not in ")]}|" and base.isascii():
        return text
    words = _WORDS.fullmatch(text) is not None
    if raised:
        if text.translate(_SMALL) in _JOINED and (len(text.encode()) > 1 or _ascii_digit(base) or base in "nNMD"):
            return text  # 1<sup>e</sup> and n<sup>o</sup> are words, e<sup>x</sup> is a power
        if text.startswith(_MARKS):
            return text
        if words and word >= 2:
            return f" {text}"
    else:
        element = "A" <= base <= "Z" or base in ")]" or ("a" <= base <= "z" and "A" <= before[-2:-1] <= "Z")
        if digits and element:
            return text
        if words and word >= 3:
            return f" {text}"
    return ("^" if raised else "_") + (text if _ONE_TOKEN.fullmatch(text) else f"{{{text}}}")


def _ascii_digit(character: str) -> bool:
    return "0" <= character[:1] <= "9"


class _Scripts:
    """Superscripts, subscripts and readings of a line that is being read."""

    def __init__(self) -> None:
        self.open: list[tuple[str, bool, int]] = []
        self.ends_in_digit = False

    def enter(self, tag: str, note: bool, parts: list[str]) -> None:
        self.open.append((tag, note, len(parts)))

    def see_link(self, fragment: bool) -> None:
        if self.open:
            tag, note, at = self.open[-1]
            self.open[-1] = tag, note or fragment, at

    def leave(self, parts: list[str]) -> None:
        tag, note, at = self.open.pop()
        inside = "".join(parts[at:]) if at >= 0 else ""
        if not inside.strip() or _BREAK in inside:
            return
        text = " ".join(inside.split())
        del parts[at:]
        before = ""
        piece = len(parts)
        while piece and len(before) < 24:
            piece -= 1
            before = parts[piece] + before
        if tag == "rt":
            text = f"({text})"
        else:
            if tag == "sub" and (found := _FRACTION.search(before)):
                _blank(parts, len(before) - found.start())
            text = _script_text(tag == "sup", note, before, text)
        if inside[-1].isspace():
            text += " "
        parts.append(text)
        self.ends_in_digit = _ascii_digit(text[-1])

    def follow(self, text: str, parts: list[str]) -> None:
        """Keep two numbers apart: ``text`` is added next."""
        if self.ends_in_digit and _ascii_digit(text):
            parts.append(" ")
        self.ends_in_digit = False

    def forget(self) -> None:
        """End the line."""
        self.open = [(tag, note, -1) for tag, note, _ in self.open]
        self.ends_in_digit = False


def _is_block(tag: str) -> bool:
    """Return whether an element begins a line; those of MathJax do not."""
    return tag in BLOCK or ("-" in tag and not tag.startswith("mjx-"))


def _shows_formula(attributes: dict[str, str | None]) -> bool:
    return "mwe-math-mathml" in (attributes.get("class") or "")


def _braced(text: str) -> str:
    return text if _ONE_TOKEN.fullmatch(text) else f"{{{text}}}"


def _grouped(text: str) -> str:
    return text if (text.isascii() and text.isalnum()) or not text or _ONE_TOKEN.fullmatch(text) else f"({text})"


def _plain_tex(written: str) -> str:
    """Return TeX without what MediaWiki puts around it."""
    tex = " ".join(written.split())
    for around in ("{\\displaystyle ", "{\\textstyle "):
        if tex.startswith(around) and tex.endswith("}"):
            return tex[len(around) : -1].strip()
    return tex


class _Formulas:
    """Formulas of a page, each read once: as TeX if the page has it, else its elements in a line."""

    def __init__(self) -> None:
        self.after = False  # a formula is right before
        self.displayed = False  # the next one is set apart

    def see(self, text: str) -> None:
        if text.strip():
            self.after = False

    def read(self, node: Any, tag: str, attributes: dict[str, str | None]) -> tuple[str, bool] | None:
        """Return the text of a formula and whether it is set apart; "" for its visual copy; None: there is none."""
        if tag == "math":
            display = self.displayed or attributes.get("display") == "block"
            self.displayed = False
            tex, line = _formula(node)
            tex = _plain_tex(tex if tex.strip() else attributes.get("alttext") or "")
            text = f"${tex}$" if tex else " ".join(line.split())
            self.after = bool(text)
            return text, display
        names = (attributes.get("class") or "") if attributes else ""
        if tag == "img" and attributes:
            wiki = "mwe-math" in names
            if not wiki and names not in ("tex", "latex", "math"):
                return None
            if wiki and self.after:
                return "", False
            if not (tex := _plain_tex(attributes.get("alt") or "")):
                return None
            self.after = True
            return f"${tex}$", "fallback-image-display" in names
        if not names or tag == "a" or tag == "img":
            return None
        if tag == "span" and "katex-" in names:
            if self.after and "katex-html" in names:
                return "", False
            if "katex-display" in names:
                self.displayed = True
        elif "mw-editsection" in names and not _is_block(tag) and tag not in VOID and tag != "br":
            return "", False
        return None


_INVISIBLE = frozenset("\u2062\u2063\u2064")


def _formula(top: Any) -> tuple[str, str]:
    """Return the TeX and the line of a formula's elements, without recursion."""
    tex: list[str] = []
    in_tex = False
    path: list[tuple[Any, str, list[str]]] = [(None, "math", [])]
    node = top.first_child
    while True:
        if node is None:
            node, name, kids = path.pop()
            in_tex = False
            text = _written(name, kids)
            if not path:
                return "".join(tex), text
            if text:
                path[-1][2].append(text)
            node = node.next
            continue
        tag = node.tag or "-comment"
        if tag == "-text":
            text, node = _text_from(node)
            if in_tex:
                tex.append(text)
            elif (word := " ".join(text.split())) and word not in _INVISIBLE:
                path[-1][2].append(" " if word == "\u2061" else word)
        elif tag != "-comment" and tag not in VOID and tag != "br" and tag != "hr":
            if tag == "annotation":
                encoding = node.attributes.get("encoding") or ""
                in_tex = "tex" in encoding or "TeX" in encoding
            path.append((node, tag, []))
            node = node.first_child
            continue
        node = node.next


def _written(name: str, kids: list[str]) -> str:
    if name == "mphantom" or name.startswith("annotation"):
        return ""
    if name == "mspace":
        return " "
    if len(kids) == 2:
        if name in ("msup", "mover"):
            return f"{kids[0]}^{_braced(kids[1])}"
        if name in ("msub", "munder"):
            return f"{kids[0]}_{_braced(kids[1])}"
        if name == "mfrac":
            return f"{_grouped(kids[0])}/{_grouped(kids[1])}"
        if name == "mroot":
            return f"root({kids[1]}, {kids[0]})"
    if len(kids) == 3 and name in ("msubsup", "munderover"):
        return f"{kids[0]}_{_braced(kids[1])}^{_braced(kids[2])}"
    text = "".join(kids)
    if name == "msqrt":
        return f"sqrt({text})"
    if name == "mtext":
        return f" {text} "
    return text + {"mtd": " ", "mtr": "; "}.get(name, "")


def _is_note(attributes: dict[str, str | None]) -> bool:
    names = attributes.get("class") or ""
    return "footnote" in names or "reference" in names or "noteref" in names


def _is_fragment(attributes: dict[str, str | None]) -> bool:
    return (attributes.get("href") or "").startswith("#")


def _longest_run(text: str) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest


def _text_from(node: Any) -> tuple[str, Any]:
    """The text of a node and of those right behind it, and the last of them."""
    text = node.text_content or ""
    while (after := node.next) is not None and after.tag == "-text":
        node = after
        text += node.text_content or ""
    return text, node


def _code_text(top: Any, listing: bool) -> tuple[str, int, int, str]:
    """Return the text of code, its links, their characters, and the language that its element ``code`` names.

    All text below a node that is seen is in it, but numbers of lines, and what stands between the lines of a listing;
    ``<br>`` and borders of blocks are line breaks.
    """
    text = ""
    path: list[tuple[Any, int]] = []
    numbers: list[tuple[int, int, int, int]] = []
    links = linked = in_links = 0
    language = ""

    def ended(text: str) -> str:
        return text + "\n" if text and not text.endswith("\n") else text

    node = top.first_child
    while node is not None or path:
        if node is None:
            node, row = path.pop()
            in_links -= node.tag == "a"
            if numbers and len(path) < numbers[-1][0]:
                _, at, links_before, linked_before = numbers.pop()
                if _NUMBERS.fullmatch(text, at):
                    text, links, linked = text[:at], links_before, linked_before
            if (node.tag == "tr" or (listing and not path)) and text and len(text) == row:
                text += "\n"
            if node.tag in BLOCK:
                text = ended(text)
            node = node.next
            continue
        tag = node.tag or "-comment"
        if tag == "-text":
            if not listing or path:
                text += node.text_content or ""
                linked += in_links * len(node.text_content or "")
        elif not tag.startswith("-") and tag not in UNSEEN and not _is_copy_button(node, tag):
            child = node.first_child
            if child is not None and tag in BLOCK:
                text = ended(text)
            numbered = tag not in VOID and not _LINE_NUMBERS.isdisjoint(_classes(node.attributes))
            if numbered and child is not None:
                numbers.append((len(path) + 1, len(text), links, linked))
            links += tag == "a" and not (numbered and child is None)
            if tag == "br":
                text += "\n"
            if tag == "code" and not language and not text:
                language = _language_in(node.attributes)
            if child is not None and tag != "br":
                in_links += tag == "a"
                path.append((node, len(text)))
                node = child
                continue
        node = node.next
    return text, links, linked, language


#: Classes of the numbers of lines of code, of buttons that copy it, and of cells that hold it.
_LINE_NUMBERS = frozenset(
    ("lineno", "linenos", "linenodiv", "ln", "gutter", "rouge-gutter", "line-number", "line-numbers", "blob-num")
)
_LINE_NUMBERS |= {"hljs-ln-numbers", "line-numbers-rows"}
_COPY_BUTTONS = frozenset(("copybtn", "copy-btn", "copy-button"))
#: Numbers of lines and nothing else: pages also name the code itself "line-numbers".
_NUMBERS = re.compile("[0-9 \\t\\n\\f\\r.:|\\xa0]*")
_CODE_CELLS = frozenset(("code", "blob-code", "rouge-code", "hljs-ln-code"))
_LANGUAGE = re.compile(r"[A-Za-z0-9+#._-]{1,20}")
_SPACES = re.compile("[ \t\n\f\r]")


def _classes(attributes: dict[str, str | None]) -> list[str]:
    return _SPACES.split(attributes.get("class") or "")


def _is_copy_button(node: Any, tag: str) -> bool:
    """Return whether an element is a button that copies code."""
    if tag in ("button", "clipboard-copy"):
        return True
    return tag not in VOID and not _COPY_BUTTONS.isdisjoint(_classes(node.attributes))


def _is_listing(node: Any) -> bool:
    """Return whether an element holds its code in lines that are elements, as Doxygen writes it."""
    if "fragment" not in _classes(node.attributes):
        return False
    child = node.first_child
    while child is not None and (
        child.tag in (None, "-comment") or (child.tag == "-text" and not (child.text_content or "").strip())
    ):
        child = child.next
    return child is not None and child.tag == "div" and "line" in _classes(child.attributes)


def _is_code_table(table: Any) -> bool:
    """Return whether a table holds code and the numbers of its lines, and nothing else."""
    numbers = codes = False
    path: list[tuple[Any, bool]] = []
    node, cell = table.first_child, False
    while node is not None or path:
        if node is None:
            node, cell = path.pop()
            node = node.next
            continue
        tag = node.tag or "-comment"
        around = cell
        if tag == "-text":
            if not cell and (node.text_content or "").strip():
                return False
        elif tag == "td" and not cell:
            classes = _classes(node.attributes)
            number = not _LINE_NUMBERS.isdisjoint(classes)
            code = not number and not _CODE_CELLS.isdisjoint(classes)
            if not number and not code:
                return False
            numbers, codes, cell = numbers or number, codes or code, True
        elif tag in ("table", "th", "caption"):
            return False
        if (child := node.first_child) is not None:
            path.append((node, around))
            node = child
            continue
        cell = around
        node = node.next
    return numbers and codes


def _language_in(attributes: dict[str, str | None]) -> str:
    """Return the language that an element says its code is in, "" if none.

    >>> _language_in({"class": "highlight-python3 notranslate"}), _language_in({"data-lang": "c++"})
    ('python3', 'c++')
    """
    found = [attributes.get("data-lang") or "", attributes.get("data-language") or ""]
    for word in _classes(attributes):
        prefixes = [each for each in ("language-", "lang-", "highlight-source-", "highlight-") if word.startswith(each)]
        found += [word[len(prefixes[0]) :]] if prefixes else []
    known = (each for each in found if _LANGUAGE.fullmatch(each) and each not in ("default", "none", "notranslate"))
    return next(known, "")


#: Rows that a cell may span; rows of heads that become one; characters of cells that stand in several places.
_MOST_ROWS, _MOST_HEADS, _MOST_REPEATED = 65534, 4, 200_000


class _Row:
    """A row of a table: its texts, whether each is a head's, and how many cells begin in it."""

    def __init__(self) -> None:
        self.cells: list[str] = []
        self.heads: list[bool] = []
        self.own = 0


class _Grid:
    """Cells of a table in a grid.

    A cell that spans rows stands in each of them, as a chunk may begin with any. A head that spans columns beside
    others names each of them.
    """

    def __init__(self) -> None:
        self.rows: list[_Row] = []
        self.cells = 0
        self.spans: list[tuple[int, str, bool]] = []  # for each column: the last row that it reaches, from 1
        self.wide: list[tuple[int, int]] = []
        self.repeated = 0

    def begin_row(self) -> None:
        self.end_row()
        self.rows.append(_Row())

    def begin_group(self) -> None:
        """End the spans of cells, which reach no rows of another group."""
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
        if down > 1:
            self.spans += [(0, "", False)] * (first + columns - len(self.spans))
            for column in range(first, first + columns):
                again = text if column == first or head else ""
                self.spans[column] = (len(self.rows) + down - 1, again, head)
        row.cells += [text, *[""] * (columns - 1)]

    def end_row(self) -> None:
        if self.rows and self.rows[-1].own:
            self._fill(True)
            row = self.rows[-1]
            for first, end in self.wide if row.own > 1 else ():
                for column in range(first + 1, end):
                    row.cells[column] = self._repeat(row.cells[first])
        self.wide = []

    def _fill(self, to_end: bool) -> None:
        """Put what cells of the rows above span into this row: up to its first free column, or to its end."""
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
        """Return a text again, as long as repeated ones are few: spans of small pages may be many."""
        self.repeated += len(text)
        return text if self.repeated <= _MOST_REPEATED else ""


def _joined_heads(rows: list[_Row]) -> list[list[str]]:
    """Return the cells of each row; several rows of heads become one, joined for each column from the top."""
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


def _data_table(table: Any) -> tuple[list[list[str]], bool, str, int, int] | None:
    """(rows of cells, whether the first is a header, caption, characters in links, links); None: one of layout.

    A table of data has rows of two cells and more, of which two of one row have text (those of a notice and its sign
    have not), no headings, forms or tables inside, and no long text in cells.
    """
    grid = _Grid()
    cell: list[str] | None = None
    length = links = link_chars = in_link = 0
    columns = down = 1
    caption: list[str] = []
    in_head = fragment = permalink = False
    line_at = 0
    scripts, formulas = _Scripts(), _Formulas()
    path: list[Any] = []
    node = table.first_child
    while node is not None or path:
        if node is None:
            node = path.pop()
            tag = node.tag
            if tag in _CELLS and cell is not None:
                text = " ".join("".join(cell).split())
                if len(text) > MAX_CELL or grid.cells > MAX_CELLS:
                    return None
                grid.add(text.replace("|", "\\|"), in_head or tag == "th", columns, down)
                cell = None
                scripts.forget()
            elif tag in _SCRIPTS:
                scripts.leave(caption if cell is None else cell)
            elif tag == "a":
                in_link -= 1
                line = caption if cell is None else cell
                if permalink and (text := "".join(line[line_at:])) and _is_permalink_mark(text):
                    del line[line_at:]
                permalink = False
            elif tag == "text":
                if cell is not None:
                    cell.append(" ")
            elif tag == "thead":
                in_head = False
            elif cell is not None and tag in BLOCK:
                cell.append(" ")
            node = node.next
            continue
        tag = node.tag or "-comment"
        if tag == "-text":
            text, node = _text_from(node)
            formulas.see(text)
            if cell is not None:
                scripts.follow(text, cell)
                cell.append(text)
                length += len(text)
                if in_link:
                    link_chars += len(text.strip())
            elif text.strip():
                if not any(each.tag == "caption" for each in path):
                    return None
                caption.append(text)
        elif tag in _LAYOUT:
            return None
        elif tag not in UNSEEN and (value := formulas.read(node, tag, node.attributes)) is not None:
            if value[0]:
                line = caption if cell is None else cell
                scripts.follow(value[0], line)
                line.append(value[0])
        elif tag == "br":
            if cell is not None:
                cell.append(" ")
        elif tag not in UNSEEN:
            if tag == "tr":
                grid.begin_row()
            elif tag in _CELLS:
                if cell is not None:
                    return None
                cell = []
                written = _integer(node.attributes.get("colspan"))
                columns = min(50, max(1, 1 if written is None else written))
                written = _integer(node.attributes.get("rowspan"))
                down = min(_MOST_ROWS, max(0, 1 if written is None else written)) or _MOST_ROWS
                scripts.forget()
            elif tag == "thead":
                in_head = True
                grid.begin_group()
            elif tag == "a":
                in_link += 1
                links += 1
                fragment = _is_fragment(node.attributes)
                scripts.see_link(fragment)
                permalink = _is_permalink(node.attributes, True)
                line_at = len(caption if cell is None else cell)
            elif tag == "text":
                if cell is not None:
                    cell.append(" ")
            elif tag in _SCRIPTS:
                note = (in_link > 0 and fragment) or _is_note(node.attributes)
                scripts.enter(tag, note, caption if cell is None else cell)
            else:
                if tag in ("tbody", "tfoot"):
                    grid.begin_group()
                if cell is not None and _is_block(tag):
                    cell.append(" ")
            child = node.first_child
            if child is None:
                if tag in _CELLS or tag in _SCRIPTS or tag in ("a", "text"):  # an empty one
                    path.append(node)
                    node = None
                    continue
                if tag == "thead":
                    in_head = False
            else:
                path.append(node)
                node = child
                continue
        node = node.next
    grid.end_row()
    width = max((len(row.cells) for row in grid.rows), default=0)
    rows = [row for row in grid.rows if row.own and any(row.cells)]
    if len(rows) < 2 or width < 2 or width * len(rows) > MAX_CELLS:
        return None
    if sum(len(row.cells) > 1 for row in rows) * 2 < len(rows):
        return None
    if all(sum(map(bool, row.cells)) < 2 for row in rows):
        return None
    header = all(rows[0].heads) or (width > 2 and not any(any(row.heads) for row in grid.rows))
    return _joined_heads(rows), header, " ".join("".join(caption).split()), link_chars, links
