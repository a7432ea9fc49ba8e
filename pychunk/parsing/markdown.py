"""The conversion of Markdown to blocks and titles; the text itself is unchanged."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .._engine import native
from .._engine.arrow import flat_text
from .._engine.data.blocks import FRONT_MATTER, HEADING, Blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The title in front matter: at the beginning of a line in YAML or TOML, or a key of the object in JSON.
_TITLE = re.compile(
    r"""^(?:title[ \t]*[:=][ \t]*(?P<quote>["']?)(?P<title>[^\r\n]*?)(?P=quote)"""
    r"""|[ \t{]*"title"[ \t]*:[ \t]*"(?P<said>[^"\r\n]*)"[ \t]*[,}]?)[ \t]*\r?$""",
    re.MULTILINE,
)


def blocks_of(texts: Sequence[str] | pa.Array, *, threads: int | None = None) -> Blocks:
    r"""Return the blocks of documents in Markdown: CommonMark with tables and front matter.

    One native call handles all documents, in time proportional to their length, whatever they contain. Blocks do not
    contain other blocks. A block extends from the first mark of its first line to the end of its last line:

    - ``heading``, level 1 to 6, also ``<h1>`` to ``<h6>``;
    - ``item``, the first paragraph of a list item (level: the number of lists around it), or an item without text;
      further paragraphs, code and tables of the item are blocks of their own;
    - ``quote``, a paragraph in a quote (level: the number of quotes around it);
    - ``code``: fenced, indented, ``<pre>``, a formula in lines of its own (``$$``, ``\[``, ``\begin{align}``),
      imports and exports of MDX;
    - ``table``, with bars and one or two header rows, or ``<table>``;
    - ``term``, a line before its definitions, which begin with ``:``;
    - ``front_matter``: YAML between ``---``, TOML between ``+++``, JSON between ``;;;`` or in braces;
    - ``paragraph``, also for footnotes and other HTML.

    A heading in a quote or an item is text of the quote or item, because it is not the heading of anything after it.
    Thematic breaks and definitions of link references are in no block, so chunks count them as part of the block
    before. A byte order mark belongs to the first block.

    Args:
        texts: Strings, or an Arrow array of strings without nulls.
        threads: The number of threads. Default: the number of CPUs.

    Raises:
        ValueError: A text is null or not valid UTF-8.
        TypeError: A text is not a string.

    Example:
        >>> from pychunk._engine.data.blocks import BLOCK_KINDS
        >>> blocks = blocks_of(["# One\n\n- two\n  three\n\n| a |\n|---|\n"])
        >>> [BLOCK_KINDS[kind] for kind in blocks.kind], blocks.start.tolist(), blocks.end.tolist()
        (['heading', 'item', 'table'], [0, 7, 22], [5, 20, 33])
    """
    array = _strings(texts)
    text, offsets = flat_text(array)
    return native.markdown_blocks(text, offsets, threads=threads or native.default_threads())


def titles_of(texts: Sequence[str], blocks: Blocks) -> list[str | None]:
    r"""Return the title of each document: its first heading of level 1, else the title in its front matter, else None.

    Example:
        >>> text = "---\ntitle: A\n---\nB\n=\n"
        >>> titles_of([text, "- c"], blocks_of([text, "- c"]))
        ['B', None]
    """
    named = ((blocks.kind == HEADING) & (blocks.level == 1)) | (blocks.kind == FRONT_MATTER)
    rows = np.flatnonzero(named)
    borders = np.searchsorted(rows, blocks.offsets)
    return [_title(text, blocks, rows[borders[i] : borders[i + 1]]) for i, text in enumerate(texts)]


def heading_text(source: str, document: str = "") -> str:
    r"""Return the text of a heading without its marks and without inline markup.

    Args:
        source: The heading in Markdown, as in its block.
        document: The text in which reference links of the heading are defined.

    Example:
        >>> heading_text("## Two ##"), heading_text("Two\n---"), heading_text("> # `f(x)` &amp; [more](url)")
        ('Two', 'Two', 'f(x) & more')
    """
    return native.heading_texts([source], document)[0]


def _title(text: str, blocks: Blocks, rows: Any) -> str | None:
    said = None
    headings = []
    for row in rows.tolist():
        source = text[int(blocks.start[row]) : int(blocks.end[row])]
        if blocks.kind[row] == HEADING:
            headings.append(source)
        elif found := _TITLE.search(source):
            said = (found["title"] or found["said"] or "").strip() or None
    return next(filter(None, native.heading_texts(headings, text)), said) if headings else said


def _strings(texts: Any) -> pa.LargeStringArray:
    if isinstance(texts, str):
        raise TypeError("texts must be a list of strings, one for each document; got one string: pass [text]")
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    given = isinstance(texts, pa.Array)
    try:
        array = texts if given else pa.array(texts, pa.large_string())
    except (pa.ArrowException, TypeError) as error:
        raise TypeError(f"texts must be a list of strings, one for each document; got {texts!r:.80}") from error
    if array.null_count:
        row = int(np.flatnonzero(array.is_null())[0])
        raise ValueError(f"texts must not be null; document {row} is: pass an empty string for it")
    if given:
        try:
            array = array.cast(pa.large_string())
            array.validate(full=True)  # this also checks that the text is valid UTF-8
        except pa.ArrowException as error:
            raise ValueError(f"texts must be strings in UTF-8 ({error}): decode or remove the others") from error
    return array
