"""Blocks of Markdown that show no words: badges, comments, tags alone."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..data.blocks import HEADING, PARAGRAPH

if TYPE_CHECKING:
    from ..data.blocks import Blocks

_TARGET = r"(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])"
_IMAGE = rf"!\[(?P<alt>[^\[\]]*)\]{_TARGET}"
#: What a block may consist of. No two begin alike, and none is tried again at another place, so that time is linear.
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
_BADGE = re.compile(r"badge|shields\.io", re.IGNORECASE)


def badges_of(text: str, blocks: Blocks) -> list[tuple[int, int, str, float]]:
    """Return (start, end, reason, score) of each run of blocks of one document that show no words.

    Reasons: ``badge`` (images that link to another site, images without an alternative text), ``hidden`` (comments),
    ``markup`` (tags alone, at the border of a section). An image of the page's own stays if it has an alternative text.

    Example:
        >>> from pychunk.parsing.markdown import blocks_of
        >>> text = "[![build](https://a.example/b.svg)](https://ci.example)\\n\\nText."
        >>> badges_of(text, blocks_of([text]))
        [(0, 55, 'badge', 1.0)]
    """
    rows = np.flatnonzero(blocks.kind == PARAGRAPH).tolist()
    starts, ends = blocks.start.tolist(), blocks.end.tolist()
    reasons = {
        row: reason for row in rows if text[starts[row]] in "<[!" and (reason := _reason(text[starts[row] : ends[row]]))
    }
    _keep_inside_sections(blocks, reasons)
    spans: list[tuple[int, int, str, float]] = []
    before = -2
    for row, reason in reasons.items():
        if row == before + 1 and spans[-1][2] == reason:
            spans[-1] = (spans[-1][0], ends[row], reason, 1.0)
        else:
            spans.append((starts[row], ends[row], reason, 1.0))
        before = row
    return spans


def _reason(source: str) -> str:
    """Return why a block is removed; "": it has words."""
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
                return ""  # what a component of MDX shows
    return "hidden" if only_comments else found


def _says(alternative: str, image: str, link: str) -> bool:
    """Whether an image says something: it has a text, is no badge, and if it is a link one of the page's own."""
    if not any(map(str.isalpha, alternative)) or _BADGE.search(image):
        return False
    return not (_is_elsewhere(link) and (_is_elsewhere(image) or not image))


def _is_elsewhere(target: str) -> bool:
    return target.startswith(("http://", "https://", "//"))


def _source(image: str) -> str:
    """Return the target of an image or link; of a reference "https://", as badges are written."""
    found = _SOURCE.search(image)
    return found[1] if found else "https://"


def _keep_inside_sections(blocks: Blocks, reasons: dict[int, str]) -> None:
    """Keep tags alone that stand between blocks of one section, which a removed span would part."""
    count = len(blocks.kind)
    edges = [-1, *(row for row in range(count) if blocks.kind[row] == HEADING or row not in reasons), count]
    for first, last in pairwise(edges):
        at_border = first < 0 or last >= count or blocks.kind[last] == HEADING or blocks.kind[first] == HEADING
        inside = [row for row in range(first + 1, last) if reasons[row] == "markup"]
        if not at_border:
            for row in inside:
                del reasons[row]
