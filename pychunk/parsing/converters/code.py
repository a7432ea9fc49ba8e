"""The conversion of source code: the text stays as it is, and definitions become headings with the code below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..._engine.data.blocks import CODE, Blocks
from ..pdf.paged_text import Paged
from .definitions import Mark, marks
from .dispatch import decoded


def convert(data: bytes, ending: str) -> Paged:
    r"""Convert source code to a document with the same text.

    A definition is a section: its signature is a heading, after the comments and decorators that introduce it. The
    statements that follow a definition are a section, too, whose heading is their first line. Imports are one block. A
    file that cannot be parsed, or whose grammar is not installed, is one block, which is cut at blank lines and
    indentation.

    Args:
        data: The bytes of the file.
        ending: The ending of its name, with the dot.

    Raises:
        ConversionError: The bytes are not text.

    Example:
        >>> found = convert(b"import os\n\n\ndef one():\n    return 1\n", ".py")
        >>> [found.text[start:end] for start, end in zip(found.blocks.start, found.blocks.end)]
        ['import os', 'def one():', 'return 1']
    """
    text = decoded(data)
    source = text.encode()
    blocks = list(_blocks(source, marks(source, ending)))
    table = np.array(blocks, np.int64).reshape(-1, 4)
    if not text.isascii():  # the positions become characters: each byte that continues one does not count
        firsts = np.concatenate([[0], np.cumsum((np.frombuffer(source, np.uint8) & 0xC0) != 0x80)])
        table[:, 2:] = firsts[table[:, 2:]]
    found = Blocks(
        np.array([0, len(table)], np.int64),
        table[:, 0].astype(np.int8),
        table[:, 1].astype(np.int16),
        table[:, 2].copy(),
        table[:, 3].copy(),
    )
    return Paged(text, found, np.empty(0, np.int64), "", [], [])


def _blocks(source: bytes, found: Sequence[Mark]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the kind, the level, the start and the end of each block, without white space at its edges."""
    ends = [*(mark.start for mark in found), len(source)]
    parts = [(CODE, 0, 0, ends[0])]
    for mark, end in zip(found, ends[1:], strict=True):
        if mark.end:
            close = min(mark.end, end)  # on one line, what the heading opens may begin within it
            parts += [(mark.kind, mark.level, mark.start, close), (CODE, 0, close, end)]
        else:
            parts.append((CODE, mark.level, mark.start, end))
    for kind, level, start, end in parts:
        part = source[start:end]
        if bare := part.strip():
            start += len(part) - len(part.lstrip())
            yield kind, level, start, start + len(bare)
