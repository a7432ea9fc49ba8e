"""Pages of HTML to Markdown, its blocks, and what noise is seen by, on lexbor's tree (extra ``docs``)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.blocks import CAPTION, CODE, FORM, HEADING, ITEM, PARAGRAPH, QUOTE, TABLE, Blocks
from ..data.ragged import Ragged, offsets_of
from .encodings import decode
from .html_facts import HtmlFacts, word_hash, words_of
from .html_guard import flattened, suspect

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
        "rp",
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
_SPECIAL = frozenset((*_HEADINGS, "li", *_LISTS, *_FORMS, "blockquote", "figcaption", "caption", "table"))
_VERBATIM = frozenset(("pre", "listing", "xmp"))
_SPECIAL |= _VERBATIM
#: An element that is open: its row, and what was around it (None: the same as inside); or one inside a line.
_Frame = tuple[int, "tuple[int, int, bool, int, int, list[str], list[int]] | None"]
_INLINE: _Frame = (-1, None)
_LINK: _Frame = (-2, None)
_HIDDEN: _Frame = (-3, None)


@dataclass(frozen=True)
class HtmlPage:
    """A page as it is read.

    Attributes:
        text: Markdown of all that the page shows: headings ``#``, lists ``-`` and ``1.``, tables as rows with bars,
            fenced code, quotes ``>``; paragraphs as they are, nothing escaped but bars in tables.
        blocks: of one document, in characters of ``text``.
        facts: what noise is seen by.
        title: of the page's head, else its first heading of level 1, else "".
        encoding: that the bytes were read by.
    """

    text: str
    blocks: Blocks
    facts: HtmlFacts
    title: str
    encoding: str


def parse_html(data: bytes | str) -> HtmlPage:
    """A page to Markdown and blocks.

    Text that the page hides, or shows only without scripts, is there and said to be (``facts.hidden``); that of
    scripts, styles, templates, frames and media is not. Nothing is fetched. Time and memory grow with the page,
    whatever is in it (see ``html_guard``).

    Args:
        data: the file; how bytes become text: :func:`pychunk.parsing.encodings.decode`.

    Raises:
        ImportError: selectolax is not installed.

    Example:
        >>> page = parse_html("<title>T</title><h1>One</h1><p>Two <b>th</b>ree<ul><li>four</ul>")
        >>> page.text, page.title
        ('# One\\n\\nTwo three\\n\\n- four\\n', 'T')
    """
    try:
        from selectolax.lexbor import LexborHTMLParser
    except ImportError as error:
        raise ImportError('reading HTML needs selectolax: pip install "pychunk-native[docs]"') from error
    text, encoding = (data.replace("\0", ""), "") if isinstance(data, str) else decode(data)
    as_it_is = isinstance(data, bytes) and encoding == "utf-8" and len(text) <= len(data) and data[:1] != b"\xef"
    page = data if as_it_is and b"\0" not in data else text.encode("utf-8", "replace")
    assert isinstance(page, bytes)
    if suspect(page):
        page = flattened(page.decode()).encode()
    tree = LexborHTMLParser(page)
    tree.strip_tags(["script", "style"])
    walk = _Walk()
    metas = _metas(tree)
    walk.about = _about(metas, tree, page)
    walk.told = _told(metas, page)
    if tree.root is not None:
        walk.run(tree.root)
    found = tree.css_first("head > title") or tree.css_first("title")
    title = " ".join(found.text().split()) if found is not None else ""
    return walk.page(title, encoding)


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
        self.about: list[str] = []
        self.told = ""
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
        self.number: list[int] = [0]  # of an ordered list, 0: bullets
        self.path: list[tuple[Any, _Frame]] = []

    def run(self, root: Any) -> None:
        """Reads the elements below ``root``."""
        parts, inline, path = self.parts, self.inline, self.path
        node = root
        while True:
            tag = node.tag or "-comment"  # None: a processing instruction
            child = None
            frame: _Frame | None = _INLINE
            if tag == "-text":
                text = node.text_content
                if text and (parts or not text.isspace()):
                    if self.in_link:
                        self.link_chars += len(text.strip())
                    parts.append(text)
            elif tag in UNSEEN:
                pass
            elif tag in BLOCK or "-" in tag:
                if parts or inline:
                    self._flush()
                frame = self._enter_block(node, tag)
                if frame is not None and (child := node.first_child) is None:
                    self._leave(frame)
            elif tag == "br":
                if parts:
                    parts.append(_BREAK)
            else:
                attributes = node.attributes
                if attributes or tag == "img" or tag == "a":
                    inline.append(self._hashes(tag, attributes))
                if tag == "a":
                    if parts and not self.in_link and parts[-1] == "":
                        parts[-1] = " "  # two links side by side, which nothing but style sets apart
                    self.in_link += 1
                    self.links += 1
                    frame = _LINK
                elif attributes and not self.hidden and _hides(attributes):
                    # What is hidden inside a line is a block of its own: the rest of the line is seen.
                    self._flush()
                    self.hidden = True
                    frame = _HIDDEN
                if (child := node.first_child) is None and frame is not None:
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

    def _leave(self, frame: _Frame) -> None:
        """What is to be done when the children of an element are read."""
        own, around = frame
        if own >= 0:
            if self.parts or self.inline:
                self._flush()
            self.last[own] = len(self.parent)
            self.element = self.parent[own]
            if around is not None:
                self.kind, self.level, self.hidden, self.quotes, self.lists, self.mark, self.number = around
        elif frame is _LINK:
            self.in_link -= 1
            if self.parts:
                self.parts.append("")
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
            hides = not self.hidden and _hides(attributes)
            self.words.append(self._hashes(tag, attributes))
        own = len(self.parent)
        self.parent.append(self.element)
        self.last.append(own + 1)
        if tag not in _SPECIAL and not hides:
            self.element = own
            return own, None
        around = (self.kind, self.level, self.hidden, self.quotes, self.lists, self.mark, self.number)
        self.element = own
        self.hidden = self.hidden or hides
        if tag in _HEADINGS:
            self.kind, self.level = HEADING, _HEADINGS[tag]
        elif tag == "li":
            self.kind, self.level = ITEM, max(1, self.lists)
            self.mark = [f"{self.number[0]}. " if self.number[0] else "- "]
            self.number[0] += bool(self.number[0])
        elif tag in _LISTS:
            self.lists += 1
            start = (attributes.get("start") or "1").strip() if tag == "ol" else "0"
            self.number = [int(start) if start.isdecimal() and len(start) < 9 else 1]
        elif tag in _FORMS:
            self.kind, self.level = FORM, 0
        elif tag == "blockquote":
            self.quotes += 1
        elif tag == "figcaption" or tag == "caption":
            self.kind, self.level = CAPTION, 0
        elif tag in _VERBATIM:
            self._code(node)
            self._leave((own, around))
            return None
        elif tag == "table" and (rows := _data_table(node)):
            self._table(*rows)
            self._leave((own, around))
            return None
        return own, around

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

    def _code(self, node: Any) -> None:
        text = _text_of(node, "\n").strip("\n")
        if not text.strip():
            return
        runs = max((len(run) for run in text.replace("`", " `").split(" ") if run.startswith("`")), default=0)
        fence = "`" * max(3, _longest_run(text) + 1 if runs else 3)
        links = node.css("a")
        linked = sum(len(link.text()) for link in links)
        self._put(f"{fence}\n{text}\n{fence}", CODE, 0, len(text), min(linked, len(text)), min(len(links), _DEPTH), ())

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

    def page(self, title: str, encoding: str) -> HtmlPage:
        if self.pieces:
            self.pieces.append("\n")
        rows = np.array(self.rows, np.int64).reshape(-1, 4)
        facts = np.array(self.facts, np.int32).reshape(-1, 5)
        blocks = Blocks(
            offsets_of([len(rows)]), rows[:, 0].astype(np.int8), rows[:, 1].astype(np.int16), rows[:, 2].copy(),
            rows[:, 3].copy()
        )  # fmt: skip
        last = np.array(self.last, np.int32)
        words = Ragged(
            np.fromiter(chain.from_iterable(self.words), np.uint32),
            offsets_of(list(map(len, self.words))),
        )
        text = "".join(self.pieces)
        has = [known for name, known in _HAS.items() if (words.values == name).any()]
        return HtmlPage(
            text,
            blocks,
            HtmlFacts(
                facts[:, 0].copy(),
                facts[:, 1].copy(),
                facts[:, 2].copy(),
                np.minimum(facts[:, 3], _DEPTH).astype(np.int16),
                facts[:, 4].astype(bool),
                _is_told(self.told, text, blocks),
                np.array(self.parent, np.int32),
                last,
                _depths(last),
                words,
                np.array(sorted({*(word_hash(word) for word in self.about), *has}), np.uint32),
            ),
            title or self.first_heading,
            encoding,
        )


_NAMING = frozenset(("class", "id", "role", "itemprop", "itemtype", "aria-label", "data-testid"))


def _depths(last: npt.NDArray[np.int32]) -> npt.NDArray[np.int16]:
    """How many elements are around each, from the rows that each ends before."""
    steps = np.ones(len(last) + 1, np.int64)
    steps -= np.bincount(last, minlength=len(last) + 1)
    depth = np.cumsum(steps[:-1]) - 1
    return np.minimum(depth, _DEPTH).astype(np.int16)


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


#: What pages say of themselves in JSON, of use where it stands in a part of this many bytes.
_TYPE = re.compile(rb'"@type"\s*:\s*"(\w{3,40})"')
_TYPED_WITHIN = 4 << 20
_TAG = re.compile(r"<[^>]{0,200}>")


#: Texts that pages hold for search engines, in JSON.
_NO_WORD = re.compile(r"[\W_]+")
_BODIES = (b'"articleBody"', b'"reviewBody"', b'"description"', b'"text"')
_BODY = re.compile(rb'\s*:\s*("(?:[^"\\]|\\.){60,20000}")')
_TRIES = 500
#: Characters of them that are compared, with so many blocks, by their first letters and digits.
_TOLD, _TOLD_BLOCKS, _TOLD_BY = 50_000, 4000, 40


def _told(metas: dict[str, str], page: bytes) -> str:
    """Letters and digits of what a page tells search engines: its description, bodies of articles and reviews."""
    texts = [metas.get("description", ""), metas.get("og:description", "")]
    size = tries = 0
    for key in _BODIES:
        at = page.find(key, 0, _TYPED_WITHIN)
        while at >= 0 and size <= _TOLD and tries < _TRIES:
            tries += 1
            if body := _BODY.match(page, at + len(key)):
                try:
                    texts.append(_TAG.sub(" ", json.loads(body[1], strict=False)))
                    size += len(texts[-1])
                except ValueError:
                    pass
            at = page.find(key, at + len(key), _TYPED_WITHIN)
    return "|".join(_bare(text) for text in texts if len(text) >= _TOLD_BY)[:_TOLD]


def _is_told(told: str, text: str, blocks: Blocks) -> npt.NDArray[np.bool_]:
    found = np.zeros(len(blocks.kind), bool)
    if told and len(found) <= _TOLD_BLOCKS:
        long = np.flatnonzero(blocks.end - blocks.start >= _TOLD_BY)
        for row in long.tolist():
            start = int(blocks.start[row])
            bare = _bare(text[start : min(int(blocks.end[row]), start + 3 * _TOLD_BY)])[:_TOLD_BY]
            found[row] = len(bare) >= 25 and bare in told
    return found


def _bare(text: str) -> str:
    return _NO_WORD.sub("", text).lower()


def _about(metas: dict[str, str], tree: Any, page: bytes) -> list[str]:
    """Words of what a page says that it is: ``og:type``, types of schema.org, its generator, names of its body."""
    words = []
    if b'"@type"' in page:
        words = [f"@{kind.decode('ascii', 'replace').lower()}" for kind in set(_TYPE.findall(page, 0, _TYPED_WITHIN))]
    words += [f"og:{word}" for word in words_of(metas.get("og:type", ""))[:4]]
    words += [f"by:{word}" for word in words_of(metas.get("generator", ""))[:4]]
    for top in (tree.root, tree.body):
        if top is not None and (found := top.attributes):
            words += [f"body:{word}" for word in words_of(f"{found.get('class') or ''} {found.get('id') or ''}")]
    return words


def _metas(tree: Any) -> dict[str, str]:
    """What the head says, by name, the first of each."""
    found: dict[str, str] = {}
    node = None if tree.head is None else tree.head.first_child
    while node is not None:
        if node.tag == "meta":
            attributes = node.attributes
            name = attributes.get("property") or attributes.get("name")
            if name and (content := attributes.get("content")):
                found.setdefault(name.lower(), content)
        node = node.next
    return found


#: What a page is told by, beside the names of its body.
_HAS = {word_hash("<" + name): word_hash("has:" + name) for name in ("main", "article", "h1")}


def _hides(attributes: dict[str, str | None]) -> bool:
    if "hidden" in attributes:
        return True
    if "style" not in attributes:
        return False
    style = attributes["style"]
    if not style or ("none" not in style and "hidden" not in style):
        return False
    style = style.replace(" ", "").lower()
    return "display:none" in style or "visibility:hidden" in style


def _longest_run(text: str) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest


def _text_of(top: Any, line: str) -> str:
    """All text below a node that is seen, without recursion; ``<br>`` and borders of blocks are ``line``."""
    parts: list[str] = []
    path: list[Any] = []
    node = top.first_child
    while node is not None or path:
        if node is None:
            node = path.pop()
            if node.tag in BLOCK and parts and not parts[-1].endswith(line):
                parts.append(line)
            node = node.next
            continue
        tag = node.tag or "-comment"
        if tag == "-text":
            parts.append(node.text_content or "")
        elif tag == "br":
            parts.append(line)
        elif tag not in UNSEEN and (child := node.first_child) is not None:
            if tag in BLOCK and parts and not parts[-1].endswith(line):
                parts.append(line)
            path.append(node)
            node = child
            continue
        node = node.next
    return "".join(parts)


def _data_table(table: Any) -> tuple[list[list[str]], bool, str, int, int] | None:
    """(rows of cells, whether the first is a header, caption, characters in links, links); None: one of layout.

    A table of data has rows of two cells and more, no headings, forms or tables inside, and no long text in cells.
    """
    rows: list[list[str]] = []
    heads: list[list[bool]] = []
    cell: list[str] | None = None
    length = cells = links = link_chars = in_link = span = 0
    caption: list[str] = []
    in_head = False
    path: list[Any] = []
    node = table.first_child
    while node is not None or path:
        if node is None:
            node = path.pop()
            tag = node.tag
            if tag in _CELLS and cell is not None:
                text = " ".join("".join(cell).split())
                if len(text) > MAX_CELL or cells > MAX_CELLS:
                    return None
                if not rows:
                    rows, heads = [[]], [[]]
                rows[-1] += [text.replace("|", "\\|"), *[""] * (span - 1)]
                heads[-1].append(in_head or tag == "th")
                cells += span
                cell = None
            elif tag == "a":
                in_link -= 1
            elif tag == "thead":
                in_head = False
            elif cell is not None and tag in BLOCK:
                cell.append(" ")
            node = node.next
            continue
        tag = node.tag or "-comment"
        if tag == "-text":
            text = node.text_content or ""
            if cell is not None:
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
        elif tag == "br":
            if cell is not None:
                cell.append(" ")
        elif tag not in UNSEEN:
            if tag == "tr":
                rows.append([])
                heads.append([])
            elif tag in _CELLS:
                if cell is not None:
                    return None
                cell = []
                written = node.attributes.get("colspan") or "1"
                span = min(50, max(1, int(written))) if written.isdecimal() and len(written) < 4 else 1
            elif tag == "thead":
                in_head = True
            elif tag == "a":
                in_link += 1
                links += 1
            elif cell is not None and (tag in BLOCK or "-" in tag):
                cell.append(" ")
            child = node.first_child
            if child is None:
                if tag in _CELLS:  # an empty one
                    path.append(node)
                    node = None
                    continue
                if tag == "a":
                    in_link -= 1
                elif tag == "thead":
                    in_head = False
            else:
                path.append(node)
                node = child
                continue
        node = node.next
    kept = [number for number, row in enumerate(rows) if any(row)]
    width = max(map(len, rows), default=0)
    if len(kept) < 2 or width < 2 or width * len(kept) > MAX_CELLS:
        return None
    if sum(len(rows[number]) > 1 for number in kept) * 2 < len(kept):
        return None
    first = heads[kept[0]]
    wide = width > 2
    header = all(first) or (wide and not any(any(row) for row in heads))
    return [rows[number] for number in kept], header, " ".join("".join(caption).split()), link_chars, links
