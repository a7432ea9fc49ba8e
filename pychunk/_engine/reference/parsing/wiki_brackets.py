"""The brackets of wikitext, from match to match of a regular expression, as in `csrc/parsing/wiki/brackets.cc`."""

from __future__ import annotations

import re
from collections.abc import Callable

Render = Callable[[str], str]
Hidden = Callable[[str, bool], bool]

#: The maximum number of templates, links and tables that are open at once. Further opening brackets are removed. Real
#: pages stay below 20.
_DEPTH = 100

# Marks of ``pychunk.io.wiki.wikitext``: text that was left out, and a bar that is text and separates no arguments.
_DROPPED, _PIPE = "\x01", "\x02"

_HEADING = r"(?=={1,6}[^\n]*=[ \t]*\n)"
_TOKEN = re.compile(
    r"\[\[([^\[\]{}|\n<>]*)(?:\|([^\[\]{}|\n]*))?\]\]"  # a link without markup in it
    r"|\{\{([^{}\[\]<]*)\}\}(?!\})"  # a template without markup in it
    r"|\{\{|\}\}|\[\[|\]\]"
    r"|\n[ \t:*#;]*\{\|(?!\})|\n[ \t]*\|\}"
    rf"|\n{_HEADING}"
    r"|</?table(?![0-9A-Za-z_])[^<>]*>",
    re.IGNORECASE | re.ASCII,
)
_STRAY_MARKS = ("{{", "}}", "[[", "]]", "{|", "|}")
_STRAY = re.compile(r"\{\{+|\}\}+|\[\[+|\]\]+|\n[ \t]*(?:\{\||\|\})")


class _Frame:
    """An open template ``{{``, link ``[[`` or table ``{|``, or the whole page, with the text in it so far."""

    __slots__ = ("kind", "parts")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.parts: list[str] = []


def _nearest(stack: list[_Frame], kind: str) -> int:
    """Return the depth of the innermost frame of a kind; 0 if none is open."""
    depth = len(stack) - 1
    while depth and stack[depth].kind != kind:
        depth -= 1
    return depth


def _collapse(stack: list[_Frame], depth: int) -> None:
    """Close the frames from ``depth`` on, whose closing brackets are missing; the frame around them gets their text."""
    while len(stack) > depth:
        frame = stack.pop()
        stack[-1].parts.extend(frame.parts)


def without_brackets(text: str, render: Render, is_hidden: Hidden) -> str:
    """Return the text of a page without templates, links and tables.

    Args:
        text: Wikitext without control characters, except the marks of the passes.
        render: The function that returns the text of a template from what is between its braces.
        is_hidden: The function that returns whether a link is left out, from its target, which has a colon, and from
            whether it has a label.
    """
    stack = [_Frame("")]
    position = 0
    search = _TOKEN.search
    while (match := search(text, position)) is not None:
        start, end = match.span()
        parts = stack[-1].parts
        if start > position:
            parts.append(text[position:start])
        position = end
        target, label, simple = match.groups()
        if target is not None:
            parts.append(_link(target, label, is_hidden))
        elif simple is not None:
            parts.append(render(simple))
        else:
            position = _bracket(text, start, end, stack, render, is_hidden)
    stack[-1].parts.append(text[position:])
    _collapse(stack, 1)
    out = "".join(stack[0].parts).replace(_PIPE, "|")
    for _ in range(4):
        # Removing a mark can join two halves of another mark. Hostile input could do this many times, so the loop
        # has a limit.
        if not any(mark in out for mark in _STRAY_MARKS):
            break
        out = _STRAY.sub(lambda match: "\n" if match[0][0] == "\n" else "", out)
    return out


def _bracket(text: str, start: int, end: int, stack: list[_Frame], render: Render, is_hidden: Hidden) -> int:
    """Open or close a frame at the bracket ``text[start:end]``, and return the position to continue from."""
    token = text[start:end]
    if token in ("{{", "[["):
        if len(stack) < _DEPTH:
            stack.append(_Frame(token))
        return end
    if token == "}}":
        depth = _nearest(stack, "{{")
        if depth:
            _collapse(stack, depth + 1)
            content = "".join(stack.pop().parts)
            if text[end : end + 1] == "}" and content.count("{") > content.count("}"):
                content, end = content + "}", end + 1
            stack[-1].parts.append(render(content))
        return end
    if token == "]]":
        if stack[-1].kind == "[[":
            content = "".join(stack.pop().parts)
            if text[end : end + 1] == "]" and content.count("[") > content.count("]"):
                content, end = content + "]", end + 1
            target, bar, label = content.partition("|")
            stack[-1].parts.append(_link(target, label if bar else None, is_hidden))
        return end
    if token == "\n":  # a heading follows
        _collapse(stack, 1)
        stack[0].parts.append(token)
        return end
    return _table(text, start, end, stack)


def _table(text: str, start: int, end: int, stack: list[_Frame]) -> int:
    opens = text[end - 1] == "|" or text.startswith("<t", start) or text.startswith("<T", start)
    stack[-1].parts.append("\n")
    if opens:
        if len(stack) < _DEPTH:
            stack.append(_Frame("{|"))
        return end
    closes_template = text.startswith("}", end) and not text.startswith("}}", end) and text[start] == "\n"
    if closes_template and _nearest(stack, "{{"):
        stack[-1].parts.append("|")
        return end - 1  # "|}}" is an empty argument and the template's end
    depth = _nearest(stack, "{|")
    if depth:
        del stack[depth:]
        stack[-1].parts.append("\n")
    return end


def _link(target: str, label: str | None, is_hidden: Hidden) -> str:
    if ":" in target and is_hidden(target, label is not None):
        return _DROPPED
    return (label if label and label.strip() else target.strip().lstrip(":#")).replace("|", _PIPE)
