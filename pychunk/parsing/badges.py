"""The detection of Markdown blocks that show no words: badges, comments, and blocks that consist of tags."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from .._engine.data.blocks import HEADING, PARAGRAPH
from .html.hidden_text import ENDS, PROSE

if TYPE_CHECKING:
    from .._engine.data.blocks import Blocks

_TARGET = r"(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])"
_IMAGE = rf"!\[(?P<alt>[^\[\]]*)\]{_TARGET}"
#: The parts of such a block. No two kinds of parts begin alike, and no match is tried twice, so the time is linear.
_PIECE = re.compile(
    rf"""(?P<comment><!--.*?-->)
    |\[\s*{_IMAGE.replace("alt", "linked_alt")}\s*\](?P<link>{_TARGET})
    |(?P<image>{_IMAGE})
    |<(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9.-]*)(?P<attributes>(?:[^<>"']|"[^"]*"|'[^']*')*)>
    |\s+|&nbsp;|[|·•]""",
    re.DOTALL | re.VERBOSE,
)
_ATTRIBUTE = re.compile(r"""(?<![\w-])(alt|href|src|label|title|description|summary|caption)=(?:"([^"]*)"|'([^']*)')""")
_SOURCE = re.compile(r"\]\(\s*<?([^\s)>]*)")
#: The maximum number of a file's paragraphs that are checked, and the first characters of paragraphs that are checked.
_MOST = 100_000
_MARKS = "<[!"
_BADGE = re.compile(r"badge|shields\.io", re.IGNORECASE)


def badges_of(text: str, blocks: Blocks) -> list[tuple[int, int, str, float]]:
    r"""Return (start, end, reason, score) of each run of blocks of one document that show no words.

    The reasons are:

    - ``badge``: images that link to another site, or images without an alternative text. An image from the page's own
      site stays if it has an alternative text.
    - ``hidden``: comments of whole sentences.
    - ``markup``: tags and other comments at the beginning or end of a section. Inside a section they stay, because a
      removed span would separate a line from the code that it introduces.

    Example:
        >>> from pychunk.parsing.markdown import blocks_of
        >>> text = "[![build](https://a.example/b.svg)](https://ci.example)\n\nText."
        >>> badges_of(text, blocks_of([text]))
        [(0, 55, 'badge', 1.0)]
    """
    reasons: dict[int, str] = {}
    for row in _candidates(text, blocks):
        if reason := _reason(text[blocks.start[row] : blocks.end[row]]):
            reasons[row] = reason
    _keep_inside_sections(blocks, reasons)
    spans: list[tuple[int, int, str, float]] = []
    before = -2
    for row, reason in reasons.items():
        start, end = int(blocks.start[row]), int(blocks.end[row])
        if row == before + 1 and spans[-1][2] == reason:
            spans[-1] = (spans[-1][0], end, reason, 1.0)
        else:
            spans.append((start, end, reason, 1.0))
        before = row
    return spans


def _candidates(text: str, blocks: Blocks) -> list[int]:
    """Return the paragraphs that begin with one of ``_MARKS``.

    The function makes Python objects only of these, because a file may have ten million paragraphs.
    """
    if not any(mark in text for mark in _MARKS):
        return []
    rows = np.flatnonzero(blocks.kind == PARAGRAPH)
    wide = not text.isascii()
    letters = np.frombuffer(text.encode("utf-32-le" if wide else "ascii"), np.uint32 if wide else np.uint8)
    found: list[int] = rows[np.isin(letters[blocks.start[rows]], [ord(mark) for mark in _MARKS])][:_MOST].tolist()
    return found


def _reason(source: str) -> str:
    """Return why a block is removed; "" if it has words."""
    at, links, found = 0, 0, "markup"
    only_comments = True
    while at < len(source):
        piece = _PIECE.match(source, at)
        if piece is None:
            return ""
        at = piece.end()
        if piece["comment"] or not piece[0].strip():
            continue
        only_comments = False
        if piece["link"]:
            if _says(piece["linked_alt"], _source(piece[0]), _source(f"]{piece['link']}")):
                return ""
            found = "badge"
        elif piece["image"]:
            if _says(piece["alt"], _source(piece["image"]), "" if not links else "https://"):
                return ""
            found = "badge"
        elif piece["name"]:
            said = {name: double or single for name, double, single in _ATTRIBUTE.findall(piece["attributes"])}
            if piece["name"] == "a":
                links = 0 if piece["close"] else int(_is_elsewhere(said.get("href", "")))
            elif piece["name"] == "img":
                if _says(said.get("alt", ""), said.get("src", ""), "https://" if links else ""):
                    return ""
                found = "badge"
            elif piece["name"][0].isupper() and said.keys() - {"href", "src"}:
                return ""  # a component of MDX shows such an attribute
    return "hidden" if only_comments and _is_prose(source) else found


def _is_prose(comments: str) -> bool:
    """Return whether comments hold a sentence, by the limits of :mod:`pychunk.parsing.html.hidden_text`."""
    words = comments.removeprefix("<!--").removesuffix("-->").split()
    return len(words) >= PROSE and words[-1][-1] in ENDS


def _says(alternative: str, image: str, link: str) -> bool:
    """Return whether an image shows words, so that it stays.

    Its alternative text must have letters, and its address must not be a badge's. An image from another site must not
    link to another site, either.
    """
    if not any(map(str.isalpha, alternative)) or _BADGE.search(image):
        return False
    return not (_is_elsewhere(link) and (_is_elsewhere(image) or not image))


def _is_elsewhere(target: str) -> bool:
    return target.startswith(("http://", "https://", "//"))


def _source(image: str) -> str:
    """Return the target of an image or link; "https://" if it is a reference, as in most badges."""
    found = _SOURCE.search(image)
    return found[1] if found else "https://"


def _keep_inside_sections(blocks: Blocks, reasons: dict[int, str]) -> None:
    """Keep blocks of tags between other blocks of one section, which a removed span would separate."""
    rows = np.array(list(reasons), np.int64)
    for run in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1) if len(rows) else ():
        first, last = int(run[0]) - 1, int(run[-1]) + 1
        at_border = first < 0 or last >= len(blocks.kind) or HEADING in (blocks.kind[first], blocks.kind[last])
        for row in run.tolist() if not at_border else ():
            if reasons[row] == "markup":
                del reasons[row]
