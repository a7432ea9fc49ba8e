"""The text of a chunk as a language model or a person should read it, with what its span alone does not say."""

from __future__ import annotations

import re
from typing import Any

#: The text between the headings of a path.
BETWEEN = " > "
#: A line that opens or closes a block of code; a line that closes one has nothing after the mark.
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})(.*)")
_BAR = re.compile(r"(?<!\\)\|")


def rendered(chunk: Any, *, path: bool, header: bool, fences: bool) -> str:
    """Return the text of a :class:`pychunk.Chunk` or :class:`pychunk.Hit`. See :meth:`pychunk.Chunk.render`."""
    text = chunk.text
    for hole in reversed(chunk.holes or ()):
        begin, end = hole["start"] - chunk.start, hole["end"] - chunk.start
        text = f"{text[:begin].rstrip()}{_joint(text, begin, end)}{text[end:].lstrip()}"
    if chunk.header and _FENCE.match(chunk.header):
        text = f"{chunk.header}\n{text}" if fences else text
    elif chunk.header and header:
        text = f"{chunk.header}\n{_delimiter(chunk.header)}{text}"
    if fences and (mark := _open_fence(text)):
        text = f"{text}\n{mark}"
    above = list((chunk.sections or [chunk.path or []])[0]) if path else []
    if above and _begins_with(text, above[-1]):
        above.pop()
    return f"{BETWEEN.join(above)}\n\n{text}" if above else text


def _joint(text: str, begin: int, end: int) -> str:
    """Return what replaces removed text: a blank line if a line break is in it or next to it, else a space."""
    before, after = text[:begin], text[end:]
    around = before[len(before.rstrip()) :] + text[begin:end] + after[: len(after) - len(after.lstrip())]
    return "\n\n" if "\n" in around else " "


def _delimiter(header: str) -> str:
    """Return the row below the header rows of a table in Markdown, or "" for another table."""
    last = header.splitlines()[-1].strip()
    if "|" not in last or set(last) <= set("|-: \t"):
        return ""
    cells = _BAR.split(last.removeprefix("|").removesuffix("|"))
    return f"|{'---|' * len(cells)}\n"


def _open_fence(text: str) -> str:
    """Return the mark that closes the block of code at the end of a text, or "" if no block is open."""
    mark = ""
    for line in text.splitlines():
        found = _FENCE.fullmatch(line)
        if found is None:
            continue
        if not mark:
            mark = found[1]
        elif found[1].startswith(mark) and not found[2].strip():
            mark = ""
    return mark


def _begins_with(text: str, heading: str) -> bool:
    return bool(heading) and text.splitlines()[0].strip("#= \t") == heading
