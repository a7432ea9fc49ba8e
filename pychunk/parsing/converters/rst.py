"""The blocks of reStructuredText: headings by their underlines, lists, tables, code; the text stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ..._engine.data.blocks import Blocks
from ..pdf.paged_text import Paged
from .dispatch import decoded

_Block = tuple[str, int, int, int]
#: A line of one repeated mark, which is above or below a heading.
_RULE = re.compile(r"""([!-/:-@\[-`{-~])\1{2,}\s*""")
_ITEM = re.compile(r"(?:[-*+•‣⁃]|\(?(?:\d{1,4}|#|[A-Za-z])[.)])(?:\s+|$)")
#: The directives whose contents are code, any directive without arguments, and the first line of a directive, target or
#: comment.
_CODE = re.compile(r"\.\. +(?:code|code-block|sourcecode|parsed-literal|highlight|math|doctest|testcode)::")
_DIRECTIVE = re.compile(r"\.\. +(?:\|[^|]+\| +)?[\w:.+-]+::$")
_EXPLICIT = re.compile(r"\.\.(?:\s|$)")
#: The borders of tables: that of a grid, and that of a simple table.
_TABLE = re.compile(r"\+[-=+]{2,}\+\s*|={2,}(?: +={2,})+\s*")


def convert(data: bytes) -> Paged:
    r"""Convert reStructuredText to a document with the same text.

    Each pair of underline and overline is a level of headings, in the order in which they occur.

    Raises:
        ConversionError: The bytes are not text.

    Example:
        >>> blocks = convert(b"Cats\n====\n\nThey say::\n\n    Purr.\n").blocks
        >>> list(zip(blocks.kind.tolist(), blocks.start.tolist(), blocks.end.tolist()))
        [(1, 0, 4), (0, 11, 21), (4, 27, 32)]
    """
    text = decoded(data)
    blocks = list(_Lines(text).blocks())
    title = next((text[start:end] for kind, level, start, end in blocks if kind == "heading" and level == 1), "")
    return Paged(text, Blocks.of([blocks]), np.empty(0, np.int64), " ".join(title.split()), [], [])


class _Lines:
    """The lines of a text, each with the position of its first character and its indentation."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.depths = [len(line) - len(line.lstrip()) if line.strip() else -1 for line in self.lines]

    def blocks(self) -> Iterator[_Block]:
        """Yield the kind, the level, the start and the end of each block."""
        levels: dict[tuple[str, bool], int] = {}
        items: list[int] = []  # the indentation of the items that contain the line
        literal = -1  # the indentation of the paragraph that announces code
        at, count = 0, len(self.lines)
        while at < count:
            depth = self.depths[at]
            if depth < 0:
                at += 1
                continue
            line = self.lines[at].strip()
            if 0 <= literal < depth:
                end = self._indented(at, literal)
                yield self._block("code", 0, at, end)
                at, literal = end, -1
                continue
            literal = -1
            if over := self._heading(at):
                level = levels.setdefault((self.lines[at + 1].strip()[0], over > 1), min(6, len(levels) + 1))
                if over > 1:  # the line above introduces the heading
                    yield self._block("code", level, at, at + 1)
                yield self._block("heading", level, at + over - 1, at + over)
                at, items = at + over + 1, []
                continue
            while items and items[-1] >= depth:
                items.pop()
            if _CODE.match(line):
                end = self._indented(at + 1, depth)
                yield self._block("code", 0, at, end)
            elif _TABLE.fullmatch(line):
                end = self._table(at)
                yield self._block("table", 0, at, end)
            elif line.startswith(">>>"):
                end = self._run(at)
                yield self._block("code", 0, at, end)
            elif mark := _ITEM.match(line):
                items.append(depth)
                end = self._run(at, item=True)
                yield self._block("item", min(len(items), 100), at, end)
                literal = depth + mark.end() if self._announces(end) else -1
            else:
                end = self._run(at)
                term = end == at + 1 < count and self.depths[end] > depth and not _EXPLICIT.match(line)
                yield self._block("term" if term and not line.startswith(":") else "paragraph", 0, at, end)
                literal = depth if self._announces(end) else -1
            at = end

    def _block(self, kind: str, level: int, first: int, last: int) -> _Block:
        """Return the block of lines [first, last), without white space at its edges."""
        start, end = self.starts[first] + max(0, self.depths[first]), self.starts[last]
        text = "".join(self.lines[first:last])
        return kind, level, start, end - (len(text) - len(text.rstrip()))

    def _heading(self, at: int) -> int:
        """Return the number of lines up to the title of a heading that begins at a line; 0 if there is none."""
        lines = self.lines[at : at + 3]
        if _RULE.fullmatch(lines[0]):
            whole = len(lines) == 3 and lines[1].strip() and lines[2].strip() == lines[0].strip()
            return 2 if whole and len(lines[1].strip()) <= len(lines[0].strip()) else 0
        if len(lines) < 2 or self.depths[at] or not _RULE.fullmatch(lines[1]):
            return 0
        return 1 if len(lines[1].strip()) >= min(len(lines[0].strip()), 4) else 0

    def _indented(self, at: int, depth: int) -> int:
        """Return the line after the last one that is indented by more than ``depth``."""
        last = at
        while at < len(self.lines) and (self.depths[at] < 0 or self.depths[at] > depth):
            at += 1
            last = at if self.depths[at - 1] > depth else last
        return last

    def _run(self, at: int, item: bool = False) -> int:
        """Return the line after a paragraph: a blank one, one of another indentation, or an item."""
        depth, at = self.depths[at], at + 1
        inside = self.depths[at] if item and at < len(self.lines) and self.depths[at] > depth else depth
        while at < len(self.lines) and self.depths[at] == inside:
            line = self.lines[at].strip()
            if (item and inside == depth) or (item and _ITEM.match(line)) or self._heading(at) == 1:
                break
            at += 1
        return at

    def _table(self, at: int) -> int:
        """Return the line after a table.

        A grid ends at a blank line. A simple table, whose rows may be apart, ends with the second border after its
        first, or with one before a blank line.
        """
        end = at
        while end < len(self.lines) and self.depths[end] >= 0:
            end += 1
        if self.lines[at].strip().startswith("="):
            borders = 0
            for line in range(at + 1, len(self.lines)):
                if _TABLE.fullmatch(self.lines[line].strip()):
                    borders += 1
                    if borders == 2 or line + 1 == len(self.lines) or self.depths[line + 1] < 0:
                        return line + 1
        return end

    def _announces(self, end: int) -> bool:
        """Return whether the paragraph before a line announces code, which directives such as ``.. note::`` do not."""
        line = self.lines[end - 1].strip()
        return line.endswith("::") and not _DIRECTIVE.match(line)
