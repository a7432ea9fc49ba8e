"""The elements of wikitext that must not be parsed, and its comments, as in `csrc/parsing/wiki/elements.cc`."""

from __future__ import annotations

import re
from collections.abc import Callable

#: The mark of ``pychunk.io.wiki.wikitext`` for text that was left out.
_DROPPED = "\x01"

_OPAQUE = (
    "nowiki|pre|math|ce|chem|source|syntaxhighlight|poem|references|ref|gallery|timeline|imagemap|score|hiero|graph|"
    "mapframe|maplink|templatedata|templatestyles|inputbox|categorytree|includeonly|section|indicator|"
    "dynamicpagelist|charinsert"
)
_OPENING = re.compile(rf"<(?:!--|({_OPAQUE})\b([^<>]*)>)", re.IGNORECASE | re.ASCII)
#: The elements in which even another opening tag of the same name is text.
_VERBATIM = frozenset({"nowiki", "pre", "source", "syntaxhighlight"})
#: The elements whose content is shown, perhaps in another form.
_SHOWN = frozenset({"nowiki", "pre", "math", "ce", "chem", "source", "syntaxhighlight", "poem"})
_CLOSING: dict[str, re.Pattern[str]] = {
    name: re.compile(rf"<(/){name}(?u:\s)*>|<{name}\b([^<>]*)>", re.IGNORECASE | re.ASCII)
    for name in _OPAQUE.split("|")
}
_COMMENT_END = re.compile("-->")
_LINE_END = re.compile(r"[ \t]*(?=\n)")


def without_elements(page: str, opaque: Callable[[str, str], str]) -> str:
    """Return a page without control characters, comments and elements such as references.

    Carriage returns become line feeds, and a line feed is before and after the page. ``opaque`` returns what replaces
    an element whose content is shown, from its name and content.
    """
    text = "\n" + re.sub("[\x00-\x08\x0e-\x1f]", "", page).replace("\r\n", "\n").replace("\r", "\n") + "\n"
    parts: list[str] = []
    position = 0
    unclosed: set[str] = set()
    while (match := _OPENING.search(text, position)) is not None:
        start, end = match.span()
        name = (match[1] or "").lower()
        start = start if name else _line_begin(text, position, start)
        parts.append(text[position:start])
        if not name:
            position = _comment(text, start, end, parts, unclosed)
            continue
        position = end
        if match[2].rstrip().endswith("/"):
            parts.append(_DROPPED)
            continue
        if name in unclosed:
            continue
        stop, more = _end_of(name, text, end)
        if stop is None:
            if not more:
                unclosed.add(name)  # no closing tag follows anywhere, so none is searched again
            continue
        position = stop.end()
        parts.append(opaque(name, text[end : stop.start()]) if name in _SHOWN else _DROPPED)
    parts.append(text[position:])
    return "".join(parts)


def _line_begin(text: str, position: int, start: int) -> int:
    """Return the position of the line feed before ``start`` if only blanks are between them, else ``start``."""
    begin = start
    while begin > position and text[begin - 1] in " \t":
        begin -= 1
    return begin - 1 if begin > position and text[begin - 1] == "\n" else start


def _comment(text: str, start: int, end: int, parts: list[str], unclosed: set[str]) -> int:
    """Return the position after a comment, or after its line if the line holds nothing else."""
    stop = None if "!" in unclosed else _COMMENT_END.search(text, end)
    if text[start] == "\n":
        after = None if stop is None else _LINE_END.match(text, stop.end())
        if stop is not None and after is not None:
            return after.end()
        parts.append("\n")
    if stop is None:
        unclosed.add("!")
        return end
    return stop.end()


def _end_of(name: str, text: str, position: int) -> tuple[re.Match[str] | None, bool]:
    """Return an element's closing tag or None, and whether a later element of the same name may have one."""
    while (match := _CLOSING[name].search(text, position)) is not None:
        if match[1]:
            return match, True
        if name not in _VERBATIM and not match[2].rstrip().endswith("/"):
            return None, True  # another element of this name opens first, so this element was never closed
        position = match.end()
    return None, False
