"""A guard against pages that a parser could not parse in linear time.

HTML's rules make a parser visit all open elements at many tags. Therefore 100,000 nested ``div`` take half a minute, as
do 100,000 attributes of one tag or a list of 100,000 options. The native core counts this work instead of measuring
time (``csrc/parsing/html/html_work.h``), so a page has the same result on any machine. :func:`flattened` rewrites a
suspect page with the same text, at most ``MAX_DEPTH`` elements deep. A page that takes much memory or time, but only in
proportion to its size, is parsed in a process of its own (:attr:`Work.is_large`).
"""

from __future__ import annotations

import re
from html import escape
from typing import NamedTuple

import numpy as np

from ..._engine import native
from ..._engine.data.html_tags import BLOCK, CELLS, UNSEEN

#: The elements of drawings and formulas; the elements in them that hold HTML; and the HTML elements whose start ends a
#: drawing or formula, except inside an element that holds HTML.
_FOREIGN, _HOLDS_HTML = ("svg", "math"), ("foreignobject", "desc", "annotation-xml", "mi", "mn", "mo", "ms", "mtext")
_ENDS_FOREIGN = frozenset((
    "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2",
    "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre",
    "ruby", "s", "small", "span", "strike", "strong", "sub", "sup", "table", "tt", "u", "ul", "var"
))  # fmt: skip
_TEMPLATE = re.compile(r"<(/?)template(?=[\s/>])", re.I)
#: The maximum number of nested elements that are kept; browsers keep 512.
MAX_DEPTH = 256
#: A page with more elements open at once than this is suspect; browsers keep as many.
OPEN = 512
#: A page is also suspect with more attributes of one tag, more options, or more active formatting elements than these.
ATTRIBUTES, OPTIONS, FORMATTING = 2000, 3000, 200
#: A page is also suspect with more different names of attributes and unknown elements than this. The parser looks each
#: name up in one of 128 lists, so 200,000 names take 30 s.
NAMES = 2000
#: The maximum number of nodes of a page is ``NODES``, or one for each ``NODE_BYTES`` bytes of the page if that is more.
#: Of 1,000 pages, 998 have fewer. A node takes up to 450 bytes of memory. Therefore 31 MB of tags, which gzip
#: compresses to 31 kB, take less than 0.8 GB.
NODES, NODE_BYTES = 1_000_000, 20
#: The maximum number of nodes of a page that is flattened. Flattening takes 4 microseconds for each node.
FLATTENED = 300_000
#: The numbers of bytes, nodes and steps from which on a page gets a process of its own. Pages below these take less
#: than 120 MB and half a second. The largest of 120 common pages has 4,900 nodes. A step takes 4 nanoseconds.
LARGE, LARGE_NODES, LARGE_STEPS = 8 << 20, 50_000, 50_000_000
#: The limits at which such a process is ended as a last resort: seconds, and bytes of address space. They are ten times
#: what a page within the limits of work takes. A page of 128 MB takes 6 s for each process that reads.
SECONDS, MEMORY = 600.0, 6 << 30

_FORMATTING = frozenset(
    ("a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u")
)
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr")
)
_INLINE = _FORMATTING | {
    "span",
    "abbr",
    "label",
    "sub",
    "sup",
    "q",
    "cite",
    "time",
    "mark",
    "var",
    "kbd",
    "samp",
    "bdi",
}
#: The elements whose names are kept in a flattened page, however many other names there are.
_KNOWN = BLOCK | UNSEEN | CELLS | _VOID | _INLINE
_RAW = frozenset(("script", "style", "xmp", "iframe", "noembed", "noframes"))
_KEPT = frozenset(("class", "id", "role", "itemprop", "hidden", "style", "aria-label", "aria-level", "href"))
_KEPT |= {
    "alttext",
    "encoding",
    "start",
    "type",
    "value",
    "reversed",
    "colspan",
    "rowspan",
    "data-lang",
    "data-language",
}
#: The elements that have no effect outside tables, or outside frames.
_IN_TABLES = frozenset(("caption", "tbody", "td", "tfoot", "th", "thead", "tr", "frame", "frameset", "colgroup"))
#: The elements that the start of another one of their kind ends.
_SIBLINGS = {
    "p": {"p"}, "li": {"li", "p"}, "dt": {"dt", "dd", "p"}, "dd": {"dt", "dd", "p"}, "tr": {"tr", "td", "th", "p"},
    "td": {"td", "th", "p"}, "th": {"td", "th", "p"}, "tbody": {"tbody", "thead", "tr", "td", "th", "p"},
}  # fmt: skip
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
#: The end of a tag, or the beginning of a quoted value, inside which ``>`` does not end the tag. A single pattern for a
#: whole tag would take 180 bytes of memory for each character.
_ENDING = re.compile(r""">|=\s*(["'])""")
#: The number of characters of a tag that are searched for attributes.
_ATTRIBUTES_WITHIN = 4000
_COMMENT = re.compile(r"<!--(?:-?>|.*?--!?>)", re.S)
_ATTRIBUTE = re.compile(r"""([a-zA-Z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")


class WorkError(ValueError):
    """The error for a page that needs more parsing work than is allowed; the message names the limit and the remedy."""


class Work(NamedTuple):
    """The work of a parser on a page.

    Attributes:
        size: The bytes of the page.
        nodes: The number of its elements, attributes and comments.
        steps: The sum of the numbers of open elements at each tag.
        is_suspect: Whether the parser's time or memory may grow faster than the page.
    """

    size: int
    nodes: int
    steps: int
    is_suspect: bool

    @property
    def is_large(self) -> bool:
        """True if the page needs a process of its own, which Ctrl-C can end at once."""
        return self.size >= LARGE or self.nodes >= LARGE_NODES or self.steps >= LARGE_STEPS

    def check(self) -> None:
        """Check that the work is within limits.

        Raises:
            WorkError: The page has too many nodes.
        """
        if self.nodes > (limit := max(NODES, self.size // NODE_BYTES)):
            raise WorkError(
                f"too many nodes: {self.nodes:,} elements, attributes and comments in {self.size:,} bytes; at most "
                f"{limit:,} are allowed: split the page"
            )
        if self.is_suspect and self.nodes > FLATTENED:
            raise WorkError(
                f"too many nodes: {self.nodes:,}; at most {FLATTENED:,} are allowed in a page with more than {OPEN} "
                f"elements open at once, {FORMATTING} formatting elements, {OPTIONS:,} options, {ATTRIBUTES:,} "
                f"attributes in a tag, or {NAMES:,} different names of attributes and unknown elements: split the page"
            )


def work_of(page: bytes) -> Work:
    """Return the work of a parser on a page in UTF-8.

    Example:
        >>> work_of(b"<p>One<br>two</p>")
        Work(size=17, nodes=2, steps=2, is_suspect=False)
    """
    limits = {"open": OPEN, "formatting": FORMATTING, "options": OPTIONS, "attributes": ATTRIBUTES, "names": NAMES}
    return Work(len(page), *native.html_work(np.frombuffer(page, np.uint8), **limits))


def flattened(page: str) -> str:
    """Return the page's text in tags that any parser takes in linear time, without scripts and comments.

    An element deeper than ``MAX_DEPTH`` is replaced by a break (``<hr>``), or only removed if it is inline; its text
    stays. Only the attributes on which blocks depend are kept.

    Example:
        >>> flattened("<div>" * 1000 + "deep").count("<div>"), flattened("<p a=1 class=x>one<p>two")
        (256, '<p class="x">one</p><p>two</p>')
    """
    flat = _Flat(page)
    at = 0
    while at < len(page):
        start = page.find("<", at)
        if start < 0:
            flat.out.append(page[at:])
            break
        flat.out.append(page[at:start])
        at = flat.after_declaration(start) or flat.after_tag(start)
    flat.close_all()
    return "".join(flat.out)


class _Flat:
    """The flattened page, with the elements that are open in it."""

    def __init__(self, page: str) -> None:
        self.page, self.size = page, len(page)
        self.out: list[str] = []
        self._stack: list[str] = []
        self._count: dict[str, int] = {}
        self._names: set[str] = set()
        self._formatting = 0

    def close_all(self) -> None:
        """Close all open elements."""
        while self._stack:
            self._pop()

    def _pop(self) -> None:
        name = self._stack.pop()
        self._count[name] -= 1
        self._formatting -= name in _FORMATTING
        self.out.append(f"</{name}>")

    def _is_foreign(self) -> bool:
        return bool(self._count.get("svg") or self._count.get("math"))

    def after_declaration(self, start: int) -> int:
        """Return the position after a comment, CDATA or declaration; 0 if none begins at ``start``."""
        page = self.page
        if page.startswith("<!--", start):
            comment = _COMMENT.match(page, start)
            return comment.end() if comment else self.size
        if self._is_foreign() and page.startswith("<![CDATA[", start):
            end = page.find("]]>", start)
            end = self.size if end < 0 else end
            self.out.append(escape(page[start + 9 : end], quote=False))
            return end + 3
        if page[start + 1 : start + 2] in ("!", "?"):
            end = page.find(">", start)
            return self.size if end < 0 else end + 1
        return 0

    def after_tag(self, start: int) -> int:
        """Return the position after the tag at ``start``, or after the whole element if its text is raw."""
        page = self.page
        found = _TAG.match(page, start)
        if found is None:
            self.out.append("&lt;")
            return start + 1
        end = _end_of_tag(page, found.end())
        if end < 0:
            return self.size  # the tag has no end, so parsers drop the rest
        name = self._name(found[2].lower())
        if name is None:
            return end + 1
        if found[1]:
            self._close(name)
            return end + 1
        if name == "template":
            return _end_of_template(page, end + 1)
        if self._is_foreign() and name in _ENDS_FOREIGN and not any(map(self._count.get, _HOLDS_HTML)):
            while self._is_foreign():
                self._pop()
        is_drawn = name in _FOREIGN or self._is_foreign()
        if is_drawn and page[end - 1] == "/":
            return end + 1
        if not is_drawn and (name in _RAW or name in ("title", "textarea")):
            return self._after_raw(name, end + 1)
        if name in _VOID:
            if name in ("br", "hr", "img", "input"):
                self.out.append(f"<{name}>")
            return end + 1
        self._open(name, is_drawn, page[found.end() : min(end, found.end() + _ATTRIBUTES_WITHIN)])
        return end + 1

    def _name(self, name: str) -> str | None:
        """Return the name that an element has in the flattened page; None if it is skipped."""
        if name in ("option", "select"):  # a button in code is not part of the code's text
            name = "button" if name == "option" and not self._count.get("pre") else "div"
        if not name.replace("-", "").isalnum() or not name.isascii() or name in ("html", "body", "head", "plaintext"):
            return None
        if name not in _KNOWN and name not in self._names:
            if len(self._names) >= NAMES // 4:
                return "x-other" if "-" in name else "other"
            self._names.add(name)
        return name

    def _close(self, name: str) -> None:
        if self._count.get(name):
            while self._stack[-1] != name:
                self._pop()
            self._pop()

    def _after_raw(self, name: str, at: int) -> int:
        close = re.compile(rf"</{name}[\s/>]", re.I).search(self.page, at)
        end = close.start() if close else self.size
        if name in ("title", "textarea"):
            self.out.append(f"<{name}>{self.page[at:end].replace('<', '&lt;')}</{name}>")
        return end

    def _open(self, name: str, is_drawn: bool, attributes: str) -> None:
        stack = self._stack
        if name in _IN_TABLES and not is_drawn and not self._count.get("table"):
            if len(stack) >= MAX_DEPTH:  # this belongs to a table that has no start tag
                self.out.append("<hr>")
            return  # parsers skip it and go on with the text
        if ends := None if is_drawn else _SIBLINGS.get(name, {"p"} if name not in _INLINE else None):
            while (kept := _under_inline(stack)) and stack[kept - 1] in ends:
                while len(stack) >= kept:
                    self._pop()
        # How the content of svg and math is parsed depends on these elements, so they are kept at any depth.
        is_deep = len(stack) >= MAX_DEPTH and (name not in _FOREIGN or self._is_foreign())
        if is_deep or (name in _FORMATTING and self._formatting >= 8):
            if name not in _INLINE and not is_drawn:
                self.out.append("<hr>")
            return
        stack.append(name)
        self._count[name] = self._count.get(name, 0) + 1
        self._formatting += name in _FORMATTING
        self.out.append(f"<{name}{_attributes(attributes)}>")


def _end_of_template(page: str, at: int) -> int:
    """Return the end of a template, including nested templates, whose start tag ends at ``at``."""
    depth = 1
    for found in _TEMPLATE.finditer(page, at):
        depth += -1 if found[1] else 1
        if not depth:
            close = page.find(">", found.end())
            return len(page) if close < 0 else close + 1
    return len(page)


def _under_inline(stack: list[str]) -> int:
    """Return the number of open elements without the innermost ones that are inline."""
    depth = len(stack)
    while depth and stack[depth - 1] in _INLINE:
        depth -= 1
    return depth


def _end_of_tag(page: str, at: int) -> int:
    """Return the position of the ``>`` that ends a tag whose name ends at ``at``; -1 if there is none."""
    while found := _ENDING.search(page, at):
        if not found[1]:
            return found.start()
        if not (at := page.find(found[1], found.end()) + 1):
            break
    return -1


def _attributes(written: str) -> str:
    """Return the attributes on which blocks depend, all with quoted values."""
    if not written.strip():
        return ""
    kept = {}
    for found in _ATTRIBUTE.finditer(written):
        if (name := found[1].lower()) in _KEPT and name not in kept:
            kept[name] = (found[2] or found[3] or found[4] or "").replace('"', "&quot;")
    return "".join(f' {name}="{value}"' for name, value in kept.items())
