"""The blocks of LaTeX: headings by their commands, items, code and tables; the text stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ..._engine.data.blocks import Blocks
from ..pdf.paged_text import Paged
from .dispatch import decoded

_Block = tuple[str, int, int, int]
#: The commands of headings, from the outermost.
_HEADINGS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
#: The environments whose lines are code or rows, and those of lists.
_LINES = {
    "code": "verbatim Verbatim lstlisting minted alltt comment tikzpicture equation align gather multline displaymath "
    "eqnarray",
    "table": "tabular tabularx longtable tabbing",
}
_KINDS = {name: kind for kind, names in _LINES.items() for name in names.split()}
_LISTS = frozenset(["itemize", "enumerate", "description"])
_TOKEN = re.compile(
    rf"(?<!\\)%[^\n]*|\\({'|'.join(_HEADINGS)})\*?[ \t]*(?:\[[^\]\n]{{0,200}}\][ \t]*)?\{{"
    r"|\\(begin|end)[ \t]*\{([A-Za-z]+)\*?\}|\\(item)(?![A-Za-z])|(\n[ \t]*(?:\n[ \t]*)+)"
    r"|\\verb\*?([^\w\s*])[^\n]*?\6|(?<!\\)(\\\[|\$\$)"
)
_TITLE = re.compile(r"\\title[ \t]*(?:\[[^\]\n]{0,200}\])?\{")
#: The beginning of a document, after its class. A part of a document may show one as an example.
_CLASS, _BEGINS = (
    re.compile(r"^[ \t]*\\document(?:class|style)\b", re.M),
    re.compile(r"^[ \t]*\\begin\{document\}", re.M),
)
#: The maximum length of a heading in characters.
_LONGEST = 400


def convert(data: bytes) -> Paged:
    r"""Convert LaTeX to a document with the same text; no file that it includes is read.

    The commands of headings that occur make the levels. The lines before ``\begin{document}`` are the front matter.

    Raises:
        ConversionError: The bytes are not text.

    Example:
        >>> blocks = convert(b"\\section{Cats}\nThey purr.\n").blocks
        >>> list(zip(blocks.kind.tolist(), blocks.start.tolist(), blocks.end.tolist()))
        [(4, 0, 9), (1, 9, 13), (0, 15, 25)]
    """
    text = decoded(data)
    found = _TITLE.search(text)
    title = " ".join(text[found.end() : _closing(text, found.end())].split()) if found else ""
    return Paged(text, Blocks.of([list(_blocks(text))]), np.empty(0, np.int64), title, [], [])


def _blocks(text: str) -> Iterator[_Block]:
    opened = _CLASS.search(text)
    found = _BEGINS.search(text, opened.end()) if opened else None
    begins = found.start() if found else 0
    if begins > 0 and text[:begins].strip():
        yield from _block(text, "front_matter", 0, 0, begins)
    used = {found[1] for found in _TOKEN.finditer(text) if found[1]}
    levels = {name: min(6, level) for level, name in enumerate([each for each in _HEADINGS if each in used], 1)}
    kind, depth = "paragraph", 0
    start = at = begins
    while found := _TOKEN.search(text, at):
        at = found.end()
        heading, edge, name, item, blank, _, formula = found.groups()
        if heading:
            yield from _block(text, kind, depth, start, found.start())
            end = _closing(text, at)
            yield from _block(text, "code", levels[heading], found.start(), at)  # the command introduces the heading
            yield from _block(text, "heading", levels[heading], at, end)
            start = at = min(len(text), end + 1)
            kind = "paragraph"
        elif blank and kind != "item":
            yield from _block(text, kind, depth, start, found.start())
            start = at
        elif item and depth:
            yield from _block(text, kind, depth, start, found.start())
            kind, start = "item", found.start()
        elif edge == "begin" and name in _KINDS:
            end = text.find("\\end{" + name, at)
            end = len(text) if end < 0 else (text.find("}", end) + 1 or len(text))
            yield from _block(text, kind, depth, start, found.start())
            yield from _block(text, _KINDS[name], 0, found.start(), end)
            start = at = end
        elif formula and (end := text.find("\\]" if formula == "\\[" else "$$", at)) >= 0:
            yield from _block(text, kind, depth, start, found.start())
            yield from _block(text, "code", 0, found.start(), end + 2)
            start = at = end + 2
            kind = "paragraph" if kind != "item" else kind
        elif edge and name in _LISTS:
            yield from _block(text, kind, depth, start, found.start())
            depth = max(0, depth + (1 if edge == "begin" else -1))
            kind, start = "item" if edge == "end" and depth else "paragraph", found.start()
    yield from _block(text, kind, depth, start, len(text))


def _block(text: str, kind: str, level: int, start: int, end: int) -> Iterator[_Block]:
    """Yield a block without white space at its edges, if text is left."""
    part = text[start:end]
    if bare := part.strip():
        start += len(part) - len(part.lstrip())
        yield kind, level if kind in ("heading", "item", "code") else 0, start, start + len(bare)


def _closing(text: str, start: int) -> int:
    """Return the place of the brace that closes a group, or else the end of the line."""
    depth = 1
    for found in re.finditer(r"\\.|[{}]", text[start : start + _LONGEST]):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if not depth:
            return start + found.start()
    end = text.find("\n", start, start + _LONGEST)
    return end if end >= 0 else min(len(text), start + _LONGEST)
