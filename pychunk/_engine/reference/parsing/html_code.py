"""The code in pages, without line numbers and buttons, and the language that the page names for it."""

from __future__ import annotations

import re
from typing import Any

from ...data.html_tags import BLOCK, UNSEEN, VOID
from .html_attributes import class_words


def code_text(top: Any, listing: bool) -> tuple[str, int, int, str]:
    """Return (text, number of links, characters in links, language of the ``code`` element) of the code below a node.

    The text contains all visible text, except line numbers and, in a ``listing``, the text between its lines. ``<br>``
    and the boundaries of blocks are line breaks.
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
            numbered = tag not in VOID and not _LINE_NUMBERS.isdisjoint(class_words(node.attributes))
            if numbered and child is not None:
                numbers.append((len(path) + 1, len(text), links, linked))
            links += tag == "a" and not (numbered and child is None)
            if tag == "br":
                text += "\n"
            if tag == "code" and not language and not text:
                language = language_in(node.attributes)
            if child is not None and tag != "br":
                in_links += tag == "a"
                path.append((node, len(text)))
                node = child
                continue
        node = node.next
    return text, links, linked, language


#: Classes of line numbers, of buttons that copy code, and of table cells that contain code.
_LINE_NUMBERS = frozenset(
    ("lineno", "linenos", "linenodiv", "ln", "gutter", "rouge-gutter", "line-number", "line-numbers", "blob-num")
)
_LINE_NUMBERS |= {"hljs-ln-numbers", "line-numbers-rows"}
_COPY_BUTTONS = frozenset(("copybtn", "copy-btn", "copy-button"))
#: A text of line numbers only. It must match, too, because pages also use the class "line-numbers" for the code itself.
_NUMBERS = re.compile("[0-9 \\t\\n\\f\\r.:|\\xa0]*")
_CODE_CELLS = frozenset(("code", "blob-code", "rouge-code", "hljs-ln-code"))
_LANGUAGE = re.compile(r"[A-Za-z0-9+#._-]{1,20}")


def _is_copy_button(node: Any, tag: str) -> bool:
    """Return whether an element is a button that copies code."""
    if tag in ("button", "clipboard-copy"):
        return True
    return tag not in VOID and not _COPY_BUTTONS.isdisjoint(class_words(node.attributes))


def is_listing(node: Any) -> bool:
    """Return whether each line of an element's code is an element of its own, as in pages by Doxygen."""
    if "fragment" not in class_words(node.attributes):
        return False
    child = node.first_child
    while child is not None and (
        child.tag in (None, "-comment") or (child.tag == "-text" and not (child.text_content or "").strip())
    ):
        child = child.next
    return child is not None and child.tag == "div" and "line" in class_words(child.attributes)


def is_code_table(table: Any) -> bool:
    """Return whether a table contains only code and its line numbers."""
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
            classes = class_words(node.attributes)
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


def language_in(attributes: dict[str, str | None]) -> str:
    """Return the language that an element names for its code, or "" if it names none.

    >>> language_in({"class": "highlight-python3 notranslate"}), language_in({"data-lang": "c++"})
    ('python3', 'c++')
    """
    found = [attributes.get("data-lang") or "", attributes.get("data-language") or ""]
    for word in class_words(attributes):
        prefixes = [each for each in ("language-", "lang-", "highlight-source-", "highlight-") if word.startswith(each)]
        found += [word[len(prefixes[0]) :]] if prefixes else []
    known = (each for each in found if _LANGUAGE.fullmatch(each) and each not in ("default", "none", "notranslate"))
    return next(known, "")
