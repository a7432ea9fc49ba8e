"""The text of a page, read from lexbor's tree in plain Python, as in csrc/parsing/html/html_walk.h."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from ...data.blocks import CAPTION, CODE, FORM, HEADING, ITEM, PARAGRAPH, QUOTE, TABLE, TERM
from ...data.html_document import HtmlDocument
from ...data.html_tags import LINE_BREAK, SCRIPTS, UNSEEN, is_block, text_from, word_hash, words_of
from ...data.ragged import Ragged, offsets_of
from .html_attributes import (
    integer,
    is_fragment,
    is_hidden,
    is_in_line,
    is_note,
    is_permalink,
    is_permalink_mark,
    role_level,
)
from .html_code import code_text, is_code_table, is_listing, language_in
from .html_formula import Formulas, shows_formula
from .html_links import alternative, is_picture, link_target, write_target
from .html_lists import MOST_REVERSED, List, item_count, list_mark, list_style
from .html_scripts import Scripts
from .html_table import data_table

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_FORMS = frozenset(("button", "legend", "optgroup", "option", "select", "textarea"))
_LISTS = frozenset(("ul", "ol", "menu", "dir"))
_DEPTH = 32767


#: The elements that change how their content is read; see _enter_block.
_SPECIAL = frozenset((*_HEADINGS, "li", *_LISTS, *_FORMS, "blockquote", "figcaption", "caption", "table", "dt"))
_VERBATIM = frozenset(("pre", "listing", "xmp"))
_SPECIAL |= _VERBATIM
#: An open element that begins a block: its row, and the state around it, or None if the state inside is the same. For
#: an open element inside a line, it is one of the constants below.
_Frame = tuple[int, "tuple[Any, ...] | None"]
_INLINE: _Frame = (-1, None)
_LINK: _Frame = (-2, None)
_HIDDEN: _Frame = (-3, None)
_SCRIPT: _Frame = (-4, None)
_PERMALINK: _Frame = (-5, None)
_DRAWN: _Frame = (-6, None)


def walk(root: Any, *, images: bool = False, targets: bool = False) -> HtmlDocument:
    """Return the text, blocks and elements below ``root``.

    Scripts, styles and templates must have been removed from lexbor's tree. Two text nodes between which an element was
    removed are read as one text.

    Args:
        root: An element of the tree.
        images: Whether an image that is alone in its block and has a description becomes a block.
        targets: Whether links are written as in Markdown, with their targets.
    """
    found = _Walk(images, targets)
    found.run(root)
    return found.walked()


class _Walk:
    """A walk over a tree in reading order, without recursion."""

    def __init__(self, images: bool, targets: bool) -> None:
        self.images, self.targets = images, targets
        self.pieces: list[str] = []
        self.length = 0
        self.rows: list[tuple[int, int, int, int]] = []  # kind, level, start, end
        # element, characters, characters in links, links, hidden
        self.facts: list[tuple[int, int, int, int, bool]] = []
        self.parent: list[int] = []
        self.last: list[int] = []
        self.words: list[tuple[int, ...]] = []
        self.first_heading = ""
        # The block that is being read: its text, the words of names of elements inside it, and its links.
        self.parts: list[str] = []
        self.inline: list[tuple[int, ...]] = []
        self.link_chars = 0
        self.links = 0
        self.in_link = 0
        # The state around this block: kind, level, hidden, quotes, lists, element, mark of the list item, its number,
        # and the elements above.
        self.kind, self.level, self.hidden, self.quotes, self.lists, self.element = PARAGRAPH, 0, False, 0, 0, -1
        self.mark: list[str] = [""]  # the mark of the list item, a shared list: the first block of the item removes it
        self.language = -1, ""  # the last block that named a language
        self.list = List()
        self.reversed = 0  # the number of lists around the block that count down
        self.path: list[tuple[Any, _Frame]] = []
        self.scripts = Scripts()
        self.in_fragment = False
        self.formulas = Formulas()
        self.term = False
        # For each open permalink: its beginning, and the number of characters in links before it.
        self.permalinks: list[tuple[int, int]] = []
        self.link_at, self.target = -1, ""  # where the open link begins, and its target
        self.in_picture = False
        self.image = ""  # the alternative text of the block's first image
        self.pictured: tuple[int, int, str] = (
            -1,
            0,
            "",
        )  # the number of pieces and of characters before the last image block, and the text of this block

    def run(self, root: Any) -> None:
        """Read the elements below ``root``."""
        parts, inline, path = self.parts, self.inline, self.path
        node = root
        while True:
            tag = node.tag or "-comment"  # the tag of a processing instruction is None
            child = None
            frame: _Frame | None = _INLINE
            if tag == "-text":
                text, node = text_from(node)
                if text and (parts or not text.isspace()):
                    if self.in_link:
                        self.link_chars += len(text.strip())
                    self.formulas.see(text)
                    self.scripts.follow(text, parts)
                    parts.append(text)
            elif tag in UNSEEN:
                pass
            elif self._begins_block(node, tag):
                if parts or inline:
                    self._flush()
                frame = self._enter_block(node, tag)
                if frame is not None and (child := node.first_child) is None:
                    self._leave(frame)
            elif tag == "br":
                if parts:
                    parts.append(LINE_BREAK)
                    self.scripts.follow("", parts)
            else:
                frame = self._enter_inline(node, tag)
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
                # This is what _leave would do for most elements, without the cost of a call.
                if frame[1] is None and frame[0] >= 0 and not parts and not inline:
                    self.last[frame[0]] = len(self.parent)
                    self.element = self.parent[frame[0]]
                else:
                    self._leave(frame)
            node = after

    def _enter_inline(self, node: Any, tag: str) -> _Frame | None:
        """Begin an element inside a line. Return None if its children are not read."""
        parts, inline = self.parts, self.inline
        frame: _Frame | None = _INLINE
        attributes = node.attributes
        if attributes or tag == "img" or tag == "a":
            inline.append(self._hashes(tag, attributes))
        if (value := self.formulas.read(node, tag, attributes)) is not None:
            self._put_formula(*value)
            frame = None
        elif tag == "a":
            if parts and not self.in_link and parts[-1] == "":
                parts[-1] = " "  # between two adjacent links, which are separate only by their style
            self.in_link += 1
            self.links += 1
            frame = _LINK
            self.in_fragment, self.in_picture = is_fragment(attributes), is_picture(attributes)
            self.link_at, self.target = len(parts), ""
            if self.targets and self.kind != HEADING and not self.scripts.open:
                self.target = link_target(attributes)
            self.scripts.see_link(self.in_fragment)
            if is_permalink(attributes, self.kind in (HEADING, CAPTION) or self.term):
                self.permalinks.append((len(parts), self.link_chars))
                frame = _PERMALINK
        elif tag == "img":
            heads = self.kind == HEADING
            wanted = heads or (self.images and self.kind != FORM)
            seen = wanted and not self.hidden and not is_hidden(tag, attributes)
            if seen and not self.image and (not self.in_link or self.in_picture):
                self.image = alternative(attributes, heads)
        elif tag == "text":
            self._blank()
            frame = _DRAWN
        elif attributes and not self.hidden and is_hidden(tag, attributes) and not shows_formula(attributes):
            # Hidden text inside a line is a block of its own, because the rest of the line is visible.
            self._flush()
            self.hidden = True
            frame = _HIDDEN
        elif tag in SCRIPTS:
            if parts and parts[-1] == "":
                parts.pop()  # "" marks the end of a link; without it, a link in the superscript is not separated
            self.scripts.enter(tag, (self.in_link > 0 and self.in_fragment) or is_note(attributes), parts)
            frame = _SCRIPT
        return frame

    def _around(self) -> tuple[Any, ...]:
        """Return the state that an element may change for its content, and that must be restored at its end."""
        own = (self.kind, self.level, self.hidden, self.quotes, self.lists, self.mark, self.term)
        return *own, self.list, self.reversed

    def _leave(self, frame: _Frame) -> None:
        """End an element after its children."""
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
            write_target(self.parts, self.link_at, self.target)
            self.target = ""
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

    def _begins_block(self, node: Any, tag: str) -> bool:
        """Return whether an element begins a block, by its name or role, unless its style makes it part of a line."""
        if is_block(tag):
            return tag in _ROLELESS or not (attributes := node.attributes) or not is_in_line(attributes)
        if self.in_link or tag in _INLINE_KINDS:
            return False
        return bool(attributes := node.attributes) and role_level(attributes) > 0

    def _enter_block(self, node: Any, tag: str) -> _Frame | None:
        """Begin an element that is a block. Return its frame, or None if its children have been read already."""
        attributes = node.attributes
        if not attributes:
            hides, found = False, _hashed.get((tag, ""))
            self.words.append(_hash(tag, "") if found is None else found)
        else:
            hides = not self.hidden and is_hidden(tag, attributes)
            self.words.append(self._hashes(tag, attributes))
        own = len(self.parent)
        self.parent.append(self.element)
        self.last.append(own + 1)
        role = role_level(attributes) if attributes and tag not in _ROLELESS else 0
        if attributes and (language := language_in(attributes)):
            self.language = own, language
        listing = tag not in _SPECIAL and tag not in _ROLELESS and is_listing(node)
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
            number = integer(attributes.get("value"))
            self.list.number = self.list.number if number is None else number
            self.mark = [list_mark(list_style(attributes, self.list.style), self.list.number)]
            self.list.number += self.list.step
        elif tag in _LISTS:
            self.lists += 1
            self.list = List(list_style(attributes, "1" if tag == "ol" else "-"))
            start = integer(attributes.get("start")) if tag == "ol" else None
            if tag == "ol" and "reversed" in attributes and self.reversed < MOST_REVERSED:
                self.reversed += 1
                self.list.number, self.list.step = item_count(node) if start is None else start, -1
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
        elif tag in _VERBATIM or listing or (tag == "table" and is_code_table(node)):
            self._code(node, listing)
            self._leave((own, around))
            return None
        elif tag == "table":
            rows = data_table(node, targets=self.targets)
            self.formulas = Formulas()
            if rows:
                self._table(*rows)
                self._leave((own, around))
                return None
        if role:
            self.kind, self.level = HEADING, role
        return own, around

    def _put_formula(self, text: str, display: bool) -> None:
        """Add a formula to the line, or as a block of its own if it is displayed."""
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
        """Add a space between two words of a drawing."""
        if self.parts:
            self.parts.append(" ")
            self.scripts.follow("", self.parts)

    def _leave_permalink(self) -> None:
        """End a permalink, and remove its mark from the text."""
        at, link_chars = self.permalinks.pop()
        if at >= 0 and (text := "".join(self.parts[at:])) and is_permalink_mark(text):
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
        """Write the text since the last boundary as a block, or as several if it contains empty lines."""
        links, link_chars, inline = self.links, self.link_chars, self.inline[:]
        text = "".join(self.parts)
        self.parts.clear()
        self.inline.clear()
        self.scripts.forget()
        self.permalinks = [(-1, 0)] * len(self.permalinks)
        self.link_at = -1
        self.links = self.link_chars = 0
        image, self.image = self.image, ""
        if not text.strip():
            if image and (self.kind == HEADING or image != self.pictured[2]):
                before = len(self.pieces), self.length, image
                self._block(image if self.kind == HEADING else f"[image: {image}]", 0, links, inline)
                self.pictured = before if self.kind != HEADING else self.pictured
            return
        if self.kind == CAPTION and not links:
            self._forget_image(" ".join(text.replace(LINE_BREAK, " ").split()))
        if LINE_BREAK not in text:
            text = " ".join(text.split())
            if text:
                self._block(text, link_chars, links, inline)
            return
        if self.kind in (HEADING, FORM):
            text = text.replace(LINE_BREAK, " ")
        lines = [" ".join(line.split()) for line in text.split(LINE_BREAK)]
        groups = [group for group in "\n".join(lines).strip("\n").split("\n\n") if group.strip("\n")]
        total = sum(map(len, groups))
        for group in groups:
            share = min(len(group), link_chars * len(group) // max(1, total))
            self._block(
                group.strip("\n"), share, links if len(groups) == 1 else -(-links * len(group) // total), inline
            )

    def _forget_image(self, caption: str) -> None:
        """Remove the block of the last image if its text is also in the caption."""
        at, length, said = self.pictured
        is_last = at >= 0 and len(self.pieces) - at == (2 if at else 1)
        if is_last and said in caption:
            del self.pieces[at:], self.rows[-1], self.facts[-1]
            self.length = length
            self.pictured = -1, 0, said

    def _block(self, text: str, link_chars: int, links: int, inline: list[tuple[int, ...]]) -> None:
        kind, level, chars = self.kind, self.level, len(text)
        indent = ""
        if kind == HEADING:
            written = f"{'#' * level} {text}"
            if level == 1 and not self.quotes and not self.first_heading:
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
            if self.term and kind == PARAGRAPH:
                kind = TERM
        if self.quotes:  # also for a heading, because a heading in a quote has no section after the quote
            bars = "> " * min(self.quotes, 6)
            written = bars + written.replace("\n", "\n" + bars)
            kind, level = QUOTE, min(self.quotes, _DEPTH)
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
        text, links, linked, language = code_text(node, listing)
        language, text = self._language() or language, text.strip("\n")
        if not text.strip():
            return
        runs = max((len(run) for run in text.replace("`", " `").split(" ") if run.startswith("`")), default=0)
        fence = "`" * max(3, _longest_run(text) + 1 if runs else 3)
        written = f"{fence}{language}\n{text}\n{fence}"
        self._put(written, CODE, 0, len(text), min(linked, len(text)), min(links, _DEPTH), ())

    def _language(self) -> str:
        """Return the language that the open element, or one of the three elements around it, names for its code."""
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

    def walked(self) -> HtmlDocument:
        if self.pieces:
            self.pieces.append("\n")
        words = np.fromiter(chain.from_iterable(self.words), np.uint32)
        return HtmlDocument(
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


#: The most entries in the cache of hashes of elements' names, each of at most 500 characters. The cache is kept from
#: page to page, because the pages of a site repeat the same names.
_HASHED = 20_000
_hashed: dict[tuple[str, str], tuple[int, ...]] = {}
#: The elements inside a line that the walk treats specially.
_INLINE_KINDS = frozenset(("a", "br", "img", "math", "text", *SCRIPTS))
#: The elements whose attribute ``role`` changes nothing.
_ROLELESS = frozenset((*_SPECIAL, "tr", "td", "th", "thead"))


def _longest_run(text: str) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest
