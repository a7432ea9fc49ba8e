"""The HTML elements, grouped by their effect on a page's text, and functions on their text and names."""

from __future__ import annotations

import re
import zlib
from typing import Any

#: The elements whose text a reader does not see.
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
#: The elements that begin and end a line.
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
CELLS = frozenset(("td", "th"))
LINE_BREAK = "\0"  # the end of a line; the text itself contains no NUL
VOID = frozenset(("area", "base", "basefont", "bgsound", "col", "embed", "frame", "img", "input", "keygen", "link",
                  "meta", "param", "source", "track", "wbr"))  # fmt: skip


SCRIPTS = frozenset(("sup", "sub", "rt"))
SMALL = str.maketrans({chr(code): chr(code + 32) for code in range(65, 91)})


def is_block(tag: str) -> bool:
    """Return whether an element begins a line. Elements of MathJax do not."""
    return tag in BLOCK or ("-" in tag and not tag.startswith("mjx-"))


def text_from(node: Any) -> tuple[str, Any]:
    """Return the text of a node and of the text nodes directly after it, and the last of these nodes."""
    text = node.text_content or ""
    while (after := node.next) is not None and after.tag == "-text":
        node = after
        text += node.text_content or ""
    return text, node


_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def word_hash(word: str) -> int:
    """Return the CRC-32 of a word, which is the same on every machine.

    >>> word_hash("nav")
    2022224343
    """
    return zlib.crc32(word.encode("utf-8", "replace"))


def words_of(names: str) -> list[str]:
    """Return the words in class names and ids, which camelCase and kebab-case join: at most 24, of 2 letters or more.

    >>> words_of("siteNav nav-menu__item x2")
    ['site', 'nav', 'nav', 'menu', 'item']
    """
    return [word.lower() for word in _WORDS.findall(names[:1000]) if len(word) > 1][:24]
