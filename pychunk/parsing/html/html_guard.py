"""A guard that keeps pages from parsers that would take more than linear time for them.

The rules of HTML's tree walk the open elements at many tags: 100,000 nested ``div`` take half a minute, as do 100,000
attributes of one tag or a list of 100,000 options. The native core counts this work
(``csrc/parsing/html/html_work.h``), so a page has the same result on any machine. :func:`flattened` rewrites a suspect
page: the same text, at most ``MAX_DEPTH`` elements deep. A page that takes much memory or time, though in proportion,
has a process of its own (:attr:`Work.is_large`).
"""

from __future__ import annotations

import re
from html import escape
from typing import NamedTuple

import numpy as np

from ..._engine import native
from ..._engine.data.html_tags import BLOCK, CELLS, UNSEEN

#: Drawings and formulas, elements that hold HTML inside of them, and those of HTML that end them elsewhere.
_FOREIGN, _HOLDS_HTML = ("svg", "math"), ("foreignobject", "desc", "annotation-xml", "mi", "mn", "mo", "ms", "mtext")
_ENDS_FOREIGN = frozenset((
    "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2",
    "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre",
    "ruby", "s", "small", "span", "strike", "strong", "sub", "sup", "table", "tt", "u", "ul", "var"
))  # fmt: skip
_TEMPLATE = re.compile(r"<(/?)template(?=[\s/>])", re.I)
#: Nested elements that are kept; browsers keep 512.
MAX_DEPTH = 256
#: Elements open at once from which on a page is suspect: as many as browsers keep.
OPEN = 512
#: Attributes of a tag, options of a page, active formatting elements.
ATTRIBUTES, OPTIONS, FORMATTING = 2000, 3000, 200
#: Different names of attributes and unknown elements. The parser looks each up in 128 lists: 200,000 names take 30 s.
NAMES = 2000
#: Nodes of a page: as many, or one for each 20 bytes if that is more; 998 of 1,000 pages have fewer. A node
#: takes up to 450 bytes, so that 31 kB of gzip, which are 31 MB of tags, take under 0.8 GB.
NODES, NODE_BYTES = 1_000_000, 20
#: Nodes of a page that is flattened, which takes 4 microseconds each.
FLATTENED = 300_000
#: Bytes, nodes or steps from which on a page has a process of its own: others take under 120 MB and half a second. The
#: largest of 120 common pages has 4,900 nodes; a step takes 4 nanoseconds.
LARGE, LARGE_NODES, LARGE_STEPS = 8 << 20, 50_000, 50_000_000
#: The last resort of such a process, ten times what the limits of work allow: seconds and bytes of address space. A
#: page of 128 MB takes 6 s for each process that reads.
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
#: Elements whose names are kept, however many others there are.
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
#: Elements that are none outside of tables, or of frames.
_IN_TABLES = frozenset(("caption", "tbody", "td", "tfoot", "th", "thead", "tr", "frame", "frameset", "colgroup"))
#: Elements that the start of another of their kind ends.
_SIBLINGS = {
    "p": {"p"}, "li": {"li", "p"}, "dt": {"dt", "dd", "p"}, "dd": {"dt", "dd", "p"}, "tr": {"tr", "td", "th", "p"},
    "td": {"td", "th", "p"}, "th": {"td", "th", "p"}, "tbody": {"tbody", "thead", "tr", "td", "th", "p"},
}  # fmt: skip
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
#: What ends a tag, or begins a value in which nothing does. One pattern for a whole tag takes 180 bytes a character.
_ENDING = re.compile(r""">|=\s*(["'])""")
#: Characters of a tag that are looked through for attributes.
_ATTRIBUTES_WITHIN = 4000
_COMMENT = re.compile(r"<!--(?:-?>|.*?--!?>)", re.S)
_ATTRIBUTE = re.compile(r"""([a-zA-Z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")


class WorkError(ValueError):
    """A page that would take its parser more work than is allowed; the message names the limit and the remedy."""


class Work(NamedTuple):
    """The work of a parser on a page.

    Attributes:
        size: its bytes.
        nodes: its elements, attributes and comments.
        steps: the elements that are open at each tag, summed.
        is_suspect: whether the parser's time or memory may grow faster than the page.
    """

    size: int
    nodes: int
    steps: int
    is_suspect: bool

    @property
    def is_large(self) -> bool:
        """Return whether the page has a process of its own, which Ctrl-C ends at once."""
        return self.size >= LARGE or self.nodes >= LARGE_NODES or self.steps >= LARGE_STEPS

    def check(self) -> None:
        """Check that the work is within limits.

        Raises:
            WorkError: the page has too many nodes.
        """
        if self.nodes > (limit := max(NODES, self.size // NODE_BYTES)):
            raise WorkError(
                f"too many nodes: {self.nodes:,} elements, attributes and comments in {self.size:,} bytes, of at most "
                f"{limit:,}; split the page"
            )
        if self.is_suspect and self.nodes > FLATTENED:
            raise WorkError(
                f"too much nesting: over {OPEN} open elements, {FORMATTING} formatting elements, {OPTIONS:,} options, "
                f"{ATTRIBUTES:,} attributes of a tag or {NAMES:,} names, in a page of {self.nodes:,} nodes, of at most "
                f"{FLATTENED:,}; close its elements or split the page"
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
    """The page's text in tags that any parser takes in linear time; scripts and comments are left out.

    An element below ``MAX_DEPTH`` becomes a break (``<hr>``), or nothing where it is inline; only attributes that
    blocks are told by are kept.

    Example:
        >>> flattened("<div>" * 1000 + "deep").count("<div>"), flattened("<p a=1 class=x>one<p>two")
        (256, '<p class="x">one</p><p>two</p>')
    """
    out: list[str] = []
    stack: list[str] = []
    names: set[str] = set()
    formatting = 0
    count: dict[str, int] = {}
    at, size = 0, len(page)

    def pop() -> None:
        nonlocal formatting
        name = stack.pop()
        count[name] -= 1
        formatting -= name in _FORMATTING
        out.append(f"</{name}>")

    def is_foreign() -> bool:
        return bool(count.get("svg") or count.get("math"))

    while at < size:
        start = page.find("<", at)
        if start < 0:
            out.append(page[at:])
            break
        out.append(page[at:start])
        if page.startswith("<!--", start):
            comment = _COMMENT.match(page, start)
            at = comment.end() if comment else size
            continue
        if is_foreign() and page.startswith("<![CDATA[", start):
            end = page.find("]]>", start)
            end = size if end < 0 else end
            out.append(escape(page[start + 9 : end], quote=False))
            at = end + 3
            continue
        if page[start + 1 : start + 2] in ("!", "?"):
            end = page.find(">", start)
            at = size if end < 0 else end + 1
            continue
        found = _TAG.match(page, start)
        if found is None:
            out.append("&lt;")
            at = start + 1
            continue
        end = _end_of_tag(page, found.end())
        if end < 0:
            break  # a tag that nothing ends: parsers drop what follows
        at = end + 1
        name = found[2].lower()
        if name in ("option", "select"):  # a button in code is none of its text
            name = "button" if name == "option" and not count.get("pre") else "div"
        if not name.replace("-", "").isalnum() or not name.isascii() or name in ("html", "body", "head", "plaintext"):
            continue
        if name not in _KNOWN and name not in names:
            if len(names) < NAMES // 4:
                names.add(name)
            else:
                name = "x-other" if "-" in name else "other"
        if found[1]:
            if count.get(name):
                while stack[-1] != name:
                    pop()
                pop()
            continue
        if name == "template":
            at = _end_of_template(page, at)
            continue
        if is_foreign() and name in _ENDS_FOREIGN and not any(map(count.get, _HOLDS_HTML)):
            while is_foreign():
                pop()
        is_drawn = name in _FOREIGN or is_foreign()
        if is_drawn and page[end - 1] == "/":
            continue
        if not is_drawn and (name in _RAW or name in ("title", "textarea")):
            close = re.compile(rf"</{name}[\s/>]", re.I).search(page, at)
            inner, at = page[at : close.start() if close else size], close.start() if close else size
            if name in ("title", "textarea"):
                out.append(f"<{name}>{inner.replace('<', '&lt;')}</{name}>")
            continue
        if name in _VOID:
            if name in ("br", "hr", "img", "input"):
                out.append(f"<{name}>")
            continue
        if name in _IN_TABLES and not is_drawn and not count.get("table"):
            if len(stack) >= MAX_DEPTH:  # of a table that is none
                out.append("<hr>")
            continue  # parsers pass over it, and copy the text that goes on
        if ends := None if is_drawn else _SIBLINGS.get(name, {"p"} if name not in _INLINE else None):
            while (kept := _under_inline(stack)) and stack[kept - 1] in ends:
                while len(stack) >= kept:
                    pop()
        is_deep = len(stack) >= MAX_DEPTH and (name not in _FOREIGN or is_foreign())  # what they hold depends on them
        if is_deep or (name in _FORMATTING and formatting >= 8):
            if name not in _INLINE and not is_drawn:
                out.append("<hr>")
            continue
        stack.append(name)
        count[name] = count.get(name, 0) + 1
        formatting += name in _FORMATTING
        out.append(f"<{name}{_attributes(page[found.end() : min(end, found.end() + _ATTRIBUTES_WITHIN)])}>")
    while stack:
        pop()
    return "".join(out)


def _end_of_template(page: str, at: int) -> int:
    """Return the end of a template whose start tag ends at ``at``, with those inside of it."""
    depth = 1
    for found in _TEMPLATE.finditer(page, at):
        depth += -1 if found[1] else 1
        if not depth:
            close = page.find(">", found.end())
            return len(page) if close < 0 else close + 1
    return len(page)


def _under_inline(stack: list[str]) -> int:
    """How many elements are open, not counting inline ones at the end."""
    depth = len(stack)
    while depth and stack[depth - 1] in _INLINE:
        depth -= 1
    return depth


def _end_of_tag(page: str, at: int) -> int:
    """Where the ``>`` is that ends a tag, behind its name; -1 where none does."""
    while found := _ENDING.search(page, at):
        if not found[1]:
            return found.start()
        if not (at := page.find(found[1], found.end()) + 1):
            break
    return -1


def _attributes(written: str) -> str:
    """Those that blocks are told by, written plainly."""
    if not written.strip():
        return ""
    kept = {}
    for found in _ATTRIBUTE.finditer(written):
        if (name := found[1].lower()) in _KEPT and name not in kept:
            kept[name] = (found[2] or found[3] or found[4] or "").replace('"', "&quot;")
    return "".join(f' {name}="{value}"' for name, value in kept.items())
