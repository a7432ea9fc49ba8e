"""The blocks of plain text that should not be cut: paragraphs, lists with their introduction, code, tables."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]

_ITEM = re.compile(r"\s*(?:[-*+•‣◦▪–—·]|\(?\d{1,3}[.)]|\(?[a-zа-яіїє]\))\s+\S")
_ENDS = tuple(".!?:;…。！？")


def find_blocks(text: str, headings: npt.ArrayLike = (), page_starts: npt.ArrayLike = ()) -> I64:
    r"""Return the blocks that should not be cut, int64[blocks, 2] in characters, without white space at their edges.

    Each line that is not blank is in one of these blocks:

    - Fenced code from the opening fence to the closing one, or a table of lines that begin with ``|``.
    - A list of consecutive items, with the paragraph before it if that ends with a colon.
    - A paragraph. If the document has blank lines, a paragraph extends to the next blank line. Otherwise it is one
      line, and it continues on the next line if lines seem filled to a width. This means that the line ends without a
      stop, that both lines have at most 120 characters, and that the first has at least 60.
    - A heading, or several in a row, with the block that follows.

    No block extends over the first character of a page.

    Args:
        text: The text of the document.
        headings: The spans of the lines that are headings, int[h, 2], which the caller must know.
        page_starts: The first character of each page, int[pages].

    Example:
        >>> text = "Tools\nYou need:\n- a saw\n- a nail\nBegin early."
        >>> [text[a:b] for a, b in find_blocks(text, headings=[[0, 5]])]
        ['Tools\nYou need:\n- a saw\n- a nail', 'Begin early.']
    """
    starts = {int(start) for start, _ in np.asarray(headings, np.int64).reshape(-1, 2)}
    pages = np.asarray(page_starts, np.int64)
    lines = _lines(text, starts)
    spaced = any(kind == "blank" for kind, _, _ in lines)
    blocks: list[tuple[str, int, int]] = []
    blank = True  # whether the line before was blank
    for kind, begin, end in lines:
        if kind == "blank":
            blank = True
            continue
        previous = blocks[-1] if blocks else ("", 0, 0)
        if (
            blocks
            and not _page_between(pages, previous[1], begin)
            and _goes_on(text, previous, kind, end, blank, spaced)
        ):
            merged = "list" if kind == "item" else previous[0]
            blocks[-1] = (merged, previous[1], end)
        else:
            blocks.append((kind, begin, end))
        blank = False
    return _with_headings(text, blocks, pages)


def _lines(text: str, headings: set[int]) -> list[tuple[str, int, int]]:
    """Return (kind, start, end) of each line, trimmed: "blank", "heading", "code", "table", "item" or "text"."""
    found, at, fenced = [], 0, False
    for line in text.split("\n"):
        begin = at + len(line) - len(line.lstrip())
        end = at + len(line.rstrip())
        fence = line.lstrip().startswith("```")
        if fenced or fence:
            # An opening fence begins a new block.
            kind = "code" if fenced else "fence"
            fenced ^= fence
        elif end <= begin:
            kind, begin, end = "blank", at, at
        elif begin in headings:
            kind = "heading"
        else:
            kind = "table" if line.lstrip().startswith("|") else "item" if _ITEM.match(line) else "text"
        if kind == "blank" or end > begin:
            found.append((kind, begin, end))
        at += len(line) + 1
    return found


def _goes_on(text: str, block: tuple[str, int, int], kind: str, end: int, blank: bool, spaced: bool) -> bool:
    """Return whether a line belongs to the block before it."""
    before, begin, stop = block
    if kind == "code":
        return before in ("fence", "code")
    if kind == "table":
        return before == "table" and not blank
    if kind == "item":
        return before in ("item", "list") or (before == "text" and text[stop - 1] == ":")
    if kind != "text" or blank or before not in ("text", "item", "list"):
        return False
    if spaced:
        return before == "text"
    last = stop - max(begin, text.rfind("\n", begin, stop) + 1)
    return not text[:stop].endswith(_ENDS) and 60 <= last <= 120 and end - stop <= 121


def _page_between(pages: I64, begin: int, end: int) -> bool:
    return bool(np.searchsorted(pages, begin, side="right") != np.searchsorted(pages, end, side="right"))


def _with_headings(text: str, blocks: list[tuple[str, int, int]], pages: I64) -> I64:
    """Return the blocks, each heading joined with what follows it on its page."""
    joined: list[tuple[int, int]] = []
    leads = False
    for kind, begin, end in blocks:
        if leads and not _page_between(pages, joined[-1][0], begin):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((begin, end))
        leads = kind == "heading"
    return np.array(joined, np.int64).reshape(-1, 2)
