"""Pages that no parser of HTML takes in linear time, made plain before it sees them.

The rules of HTML's tree walk the open elements at many tags: 100,000 nested ``div`` take half a minute, as do 100,000
attributes of one tag or a list of 100,000 options. :func:`suspect` finds such pages by counting tags, in a
hundredth of the parser's time; :func:`flattened` writes them anew: the same text, at most ``MAX_DEPTH`` elements deep.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from .. import _native
from ..engine import backend_name

if TYPE_CHECKING:
    import numpy.typing as npt

#: What is skipped to its own end tag; parsers end the first two at an element of HTML, unless that is inside of these.
_NESTED, _HOLDS_HTML = ("svg", "math", "template"), ("foreignobject", "desc", "title", "annotation-xml", "mtext")
_HTML_AGAIN = (
    "b|big|blockquote|body|br|center|code|dd|div|dl|dt|em|embed|h[1-6]|head|hr|i|img|li|listing|menu|meta|nobr|ol|p|pre|"
    "ruby|s|small|span|strike|strong|sub|sup|table|tt|u|ul|var"
)
_INSIDE = {
    name: re.compile(rf"<(/?)({name}|{'|'.join(_HOLDS_HTML)}|{_HTML_AGAIN})(?=[\s/>])(?:[^<>]*?(/)(?=>))?", re.I)
    for name in ("svg", "math")
} | {"template": re.compile(r"<(/?)(template)(?=[\s/>])(/)?", re.I)}
#: Nested elements that are kept; browsers keep 512.
MAX_DEPTH = 256
#: Open elements, as counted without knowing which tags need no end, from which on a page is suspect.
OPEN = 1500
#: Attributes of a tag, options of a page, formatting elements left open.
ATTRIBUTES, OPTIONS, FORMATTING = 2000, 3000, 200

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
_RAW = frozenset(("script", "style", "xmp", "iframe", "noembed", "noframes"))
_KEPT = frozenset(("class", "id", "role", "itemprop", "hidden", "style", "aria-label", "aria-level", "href"))
_KEPT |= {"start", "type", "value", "reversed", "colspan", "rowspan", "data-lang", "data-language"}
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
#: How the HTML standard reads a tag: its name, what is between attributes, an attribute with its value, if it has one.
_NAME, _BETWEEN = re.compile(rb"<[^ \t\n\f\r/>]*"), re.compile(rb"[ \t\n\f\r/]*")
_ATTRIBUTE_READ = re.compile(
    rb"""[ \t\n\f\r/]*(?:(?P<name>[^>][^ \t\n\f\r/>=]*)[ \t\n\f\r]*"""
    rb"""(?:=[ \t\n\f\r]*(?:"[^"]*(?:"|\Z)|'[^']*(?:'|\Z)|(?P<ends>(?=>)|\Z)|[^ \t\n\f\r>]*))?)?"""
)
#: Bytes that are read for attributes, of each of the page's; pairs of them, of which 600 take a microsecond, of each of
#: the page's and at least.
_READ, _COMPARED, _COMPARED_MOST = 4, 16, 4_000_000
#: Bytes from a tag to the next one from which on its attributes are counted.
_LONG = 2000
_ATTRIBUTE = re.compile(r"""([a-zA-Z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")


def _code(name: str) -> int:
    return int.from_bytes(name.encode()[:4].ljust(4, b"\0"), "little")


_VOID_CODES = np.sort(np.array([_code(name) for name in sorted(_VOID - {"col", "embed", "param", "area"})], np.uint32))
_FORMATTING_CODES = np.sort(np.array([_code(name) for name in sorted(_FORMATTING)], np.uint32))
_ALNUM = np.zeros(256, bool)
_ALNUM[[*range(48, 58), *range(65, 91), *range(97, 123)]] = True


def _among(codes: npt.NDArray[np.uint32], known: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    return np.asarray(known[np.minimum(np.searchsorted(known, codes), len(known) - 1)] == codes)


def suspect(data: bytes) -> bool:
    """Whether a parser's time or memory may grow faster than the page: UTF-8 in."""
    opened, options, formatting, longer = (_native_counts if backend_name() == "native" else _counts)(data)
    if opened > OPEN or options > OPTIONS or formatting > FORMATTING:
        return True
    # Tags of more than some kilobytes are few. Their attributes are counted, as the parser compares each with all
    # before it. Most are no tags: scripts compare with "<", and what follows looks like some hundred attributes.
    count = _native_attributes if backend_name() == "native" else _count_attributes
    read, compared = _READ * len(data), max(_COMPARED_MOST, _COMPARED * len(data))
    for start in longer:
        attributes, end = count(data, start)
        read -= end - start
        compared -= attributes**2
        if attributes > ATTRIBUTES or read < 0 or compared < 0:
            return True
    return False


def _native_attributes(data: bytes, start: int) -> tuple[int, int]:
    return _native.count_attributes(np.frombuffer(data, np.uint8), start, most=ATTRIBUTES + 1)


def _count_attributes(data: bytes, start: int) -> tuple[int, int]:
    """(attributes of the tag that begins at a byte, at most one more than ``ATTRIBUTES``, the byte behind them)."""
    at = _end(_NAME, data, start)
    for count in range(ATTRIBUTES + 1):
        found = _ATTRIBUTE_READ.match(data, at)
        if found is None or found["name"] is None:
            return count, _end(_BETWEEN, data, at)
        at = found.end()
        if found["ends"] is not None:
            return count + 1, at
    return ATTRIBUTES + 1, at


def _end(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    """Return the end of what a pattern matches at a byte; the byte itself, if nothing."""
    found = pattern.match(data, at)
    return found.end() if found else at


#: (the most elements open at once and those that end without a beginning, options, the most formatting elements open at
#: once, where tags begin that the next one follows late)
_Counts = tuple[int, int, int, list[int]]


def _native_counts(data: bytes) -> _Counts:
    page = np.frombuffer(data, np.uint8)
    return _native.count_tags(page, _VOID_CODES, _FORMATTING_CODES, longest=_LONG)


def _counts(data: bytes) -> _Counts:
    """The same in NumPy: the reference."""
    page = np.frombuffer(data, np.uint8)
    at = np.flatnonzero(page == ord("<"))
    at = at[at < len(page) - 5]
    close = page[at + 1] == ord("/")
    first = at + 1 + close
    letter = page[first] | 32
    tag = (letter >= ord("a")) & (letter <= ord("z"))
    at, close, first = at[tag], close[tag], first[tag]
    if not len(at):
        return 0, 0, 0, []
    code = np.zeros(len(at), np.uint32)
    going = np.ones(len(at), bool)
    for step in range(4):
        byte = page[np.minimum(first + step, len(page) - 1)]
        going &= _ALNUM[byte]
        code |= np.where(going, (byte | (32 * (byte > 64))).astype(np.uint32) << np.uint32(8 * step), np.uint32(0))
    depth = np.where(close, -1, 1)
    depth[_among(code, _VOID_CODES)] = 0
    formatting = np.where(_among(code, _FORMATTING_CODES), depth, 0)
    ends = np.append(at[1:], len(page))
    return (
        int(np.cumsum(depth).max()) - min(0, int(depth.sum())),
        int(np.count_nonzero(code[~close] == _code("opti"))),
        int(np.cumsum(formatting).max()),
        at[(ends - at > _LONG) & ~close].tolist(),
    )


def flattened(page: str) -> str:
    """The page's text in tags that any parser takes in linear time; scripts, comments and drawings are left out.

    An element below ``MAX_DEPTH`` becomes a break (``<hr>``), or nothing where it is inline; only attributes that
    blocks are told by are kept.

    Example:
        >>> flattened("<div>" * 1000 + "deep").count("<div>"), flattened("<p a=1 class=x>one<p>two")
        (256, '<p class="x">one</p><p>two</p>')
    """
    out: list[str] = []
    stack: list[str] = []
    formatting = 0
    count: dict[str, int] = {}
    at, size = 0, len(page)

    def pop() -> None:
        nonlocal formatting
        name = stack.pop()
        count[name] -= 1
        formatting -= name in _FORMATTING
        out.append(f"</{name}>")

    while at < size:
        start = page.find("<", at)
        if start < 0:
            out.append(page[at:])
            break
        out.append(page[at:start])
        if page.startswith("<!--", start):
            end = page.find("-->", start + 2)
            at = size if end < 0 else end + 3
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
        name = {"option": "button", "select": "div"}.get(name, name)
        if not name.replace("-", "").isalnum() or not name.isascii() or name in ("html", "body", "head", "plaintext"):
            continue
        if found[1]:
            if count.get(name):
                while stack[-1] != name:
                    pop()
                pop()
            continue
        if name in _NESTED:
            at = at if page[end - 1] == "/" and name != "template" else _end_of_nested(page, name, at)
            continue
        if name in _RAW or name in ("title", "textarea"):
            close = re.compile(rf"</{name}[\s/>]", re.I).search(page, at)
            inner, at = page[at : close.start() if close else size], close.start() if close else size
            if name in ("title", "textarea"):
                out.append(f"<{name}>{inner.replace('<', '&lt;')}</{name}>")
            continue
        if name in _VOID:
            if name in ("br", "hr", "img", "input"):
                out.append(f"<{name}>")
            continue
        if ends := _SIBLINGS.get(name, {"p"} if name not in _INLINE else None):
            while (kept := _under_inline(stack)) and stack[kept - 1] in ends:
                while len(stack) >= kept:
                    pop()
        if len(stack) >= MAX_DEPTH or (name in _FORMATTING and formatting >= 8):
            if name not in _INLINE:
                out.append("<hr>")
            continue
        stack.append(name)
        count[name] = count.get(name, 0) + 1
        formatting += name in _FORMATTING
        out.append(f"<{name}{_attributes(page[found.end() : min(end, found.end() + _ATTRIBUTES_WITHIN)])}>")
    while stack:
        pop()
    return "".join(out)


def _end_of_nested(page: str, name: str, at: int) -> int:
    """Return the end of a drawing, a formula or a template: at its own end tag, or for the first two at HTML again."""
    depth, texts = 1, 0
    for found in _INSIDE[name].finditer(page, at):
        tag, closed = found[2].lower(), found[3] == "/"
        if tag == name:
            depth += (1 if not closed or name == "template" else 0) if not found[1] else -1
            if not depth:
                close = page.find(">", found.end() - 1)
                return len(page) if close < 0 else close + 1
        elif tag in _HOLDS_HTML:
            texts = max(0, texts + (-1 if found[1] else not closed))
        elif not found[1] and not texts:
            return found.start()
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
