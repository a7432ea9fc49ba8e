"""The blocks of a converted document, for tests of converters."""

from __future__ import annotations

from pychunk._engine.data.blocks import BLOCK_KINDS
from pychunk.parsing.pdf.paged_text import Paged


def parts(found: Paged) -> list[tuple[str, int, str]]:
    """Return the kind, the level and the text of each block."""
    columns = (found.blocks.kind, found.blocks.level, found.blocks.start, found.blocks.end)
    return [(BLOCK_KINDS[kind], level, found.text[a:b]) for kind, level, a, b in zip(*map(list, columns))]


def between(found: Paged) -> str:
    """Return the text outside of the blocks without white space, and check the order and the edges of the blocks."""
    at, outside = 0, ""
    for start, end in zip(found.blocks.start.tolist(), found.blocks.end.tolist()):
        assert at <= start < end
        assert not found.text[start].isspace()
        outside += found.text[at:start]
        at = end
    return "".join((outside + found.text[at:]).split())
