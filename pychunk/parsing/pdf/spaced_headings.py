"""The headings of a PDF that neither bookmarks nor fonts show.

They are found by the white space around them, or at the beginning of a block of text (run-in headings).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from .paragraphs import Draft

#: The smallest white space above a section's beginning. It is ``_SET_OFF`` times the usual white space between blocks,
#: and at least ``_MORE`` line heights more than the usual.
_SET_OFF, _MORE = 1.6, 0.4
#: The largest white space below a heading, as a multiple of the usual white space between blocks.
_NEAR = 1.25
#: The maximum number of words of a heading in a line of its own, and of a run-in heading.
_WORDS, _RUN_IN_WORDS = 14, 8
#: The minimum number of headings in lines of their own, or in bold print, for that kind to count in a document.
_FEWEST = 3
_WORD = re.compile(r"\w+(?:[-’'‐]\w+)*")
#: The beginning of a heading is a letter, which may follow a number.
_BEGINS = re.compile(r"[\"«„“(\[]?(?:\d+(?:\.\d+)*\.?\s+)?[^\W\d_]")
#: The first sentence of a block, before another: "Contraindications. Do not take ..."
_RUN_IN = re.compile(r"(?P<head>[^.:;?!]{3,100}[.:])\s+(?=\S)")


def spaced_headings(drafts: list[Draft], known: int) -> tuple[list[Draft], list[Draft]]:
    """Return the headings of sections, and the bold run-in headings one level below them.

    Both lists are empty unless there are more headings of sections than ``known``, the number already found by other
    means. A section extends from a block with more white space above it than usual to the next such block. Its heading
    is its first block, if that is one short line, close to the text below and shorter than that text. Otherwise, its
    heading is a short sentence at its beginning. At least half of all sections must have a heading.

    A bold run-in heading is the bold print at the beginning of a block, up to a full stop. If fewer than three sections
    have a heading in a line of its own, bold run-in headings alone are returned, in the first list. There must then be
    at least three of them, and at least three times ``known``. Every run-in heading becomes a block of its own in
    ``drafts``.
    """
    lines, openings = _by_space(drafts)
    bold = _in_bold(drafts)
    if len(lines) < _FEWEST:
        if len(bold) < max(_FEWEST, 3 * known):
            return [], []
        return _cut_off(drafts, bold), []
    if len(lines) + len(openings) <= known:
        return [], []
    set_off = {id(draft) for draft, _ in openings}
    bold = [(draft, length) for draft, length in bold if id(draft) not in set_off]
    return lines + _cut_off(drafts, openings), _cut_off(drafts, bold)


def _by_space(drafts: Sequence[Draft]) -> tuple[list[Draft], list[tuple[Draft, int]]]:
    """Return the lines that are headings, and the blocks that begin with a heading, each with the heading's length."""
    drafts = [draft for draft in drafts if not draft.lines[0].removed]
    below = [_white(own, after) for own, after in pairwise(drafts)]
    known = [white for white in below if white is not None]
    if not known:
        return [], []
    usual = max(median(known), 0.0)
    far = max(_SET_OFF * usual, usual + _MORE)
    begins = [0, *(i for i, white in enumerate(below, 1) if white is not None and white >= far), len(drafts)]
    lines: list[Draft] = []
    openings: list[tuple[Draft, int]] = []
    for first, end in pairwise(begins):
        draft, rest = drafts[first], drafts[first + 1 : end]
        white = below[first] if rest else None
        if draft.kind != "paragraph":
            continue
        if white is not None and white <= _NEAR * usual and _is_line(draft) and _is_shorter(draft, rest):
            lines.append(draft)
        elif first > 0 and (match := _RUN_IN.match(draft.lines[0].text)) and _runs_in(match["head"]):
            openings.append((draft, len(match["head"])))
    if 2 * (len(lines) + len(openings)) < len(begins) - 2:
        return [], []
    if len(lines) >= _FEWEST:
        lines += _at_page_tops(drafts, below, usual, lines)
    return lines, openings


def _at_page_tops(
    drafts: Sequence[Draft], below: Sequence[float | None], usual: float, lines: Sequence[Draft]
) -> list[Draft]:
    """Return headings at the tops of pages, where the white space above is unknown.

    They are short lines that end like most other headings, with or without a full stop. The page before must end with
    a complete sentence.
    """
    stopped = 2 * sum(draft.text.endswith(".") for draft in lines) > len(lines)
    found = []
    for before, (draft, after), white in zip(drafts, pairwise(drafts[1:]), below[1:], strict=False):
        if before.page == draft.page or draft.kind != "paragraph" or white is None or white > _NEAR * usual:
            continue
        alike = draft.text.endswith(".") == stopped and _runs_in(draft.text)
        if alike and before.text.endswith((".", "!", "?", ":")) and _is_line(draft) and _is_shorter(draft, [after]):
            found.append(draft)
    return found


def _in_bold(drafts: Sequence[Draft]) -> list[tuple[Draft, int]]:
    """Return the blocks that begin with a heading in bold print, each with the heading's length in characters."""
    found = []
    for draft in drafts:
        line = draft.lines[0]
        head = line.text[: line.opening]
        if draft.kind == "paragraph" and not line.removed and head.endswith(".") and _runs_in(head):
            found.append((draft, line.opening))
    return found


def _white(before: Draft, own: Draft) -> float | None:
    """Return the white space, in line heights, between a block and the block under it.

    It is None if the blocks are not in one column of one page, or are turned or removed.
    """
    last, first = before.lines[-1], own.lines[0]
    if before.page != own.page or last.flow != first.flow or last.removed or first.removed or first.angle or last.angle:
        return None
    white = first.top - last.bottom
    return white / first.height if first.height > 0 and white > -0.5 * first.height else None


def _is_line(draft: Draft) -> bool:
    text = draft.text
    return (
        len(draft.lines) == 1
        and len(_WORD.findall(text)) <= _WORDS
        and _is_named(text)
        and not text.endswith((",", ";", "?", "!"))
        and _RUN_IN.match(text) is None
    )


def _runs_in(head: str) -> bool:
    return _is_named(head) and len(_WORD.findall(head)) <= _RUN_IN_WORDS


def _is_named(text: str) -> bool:
    """Return whether a text consists mostly of letters, and its first letter is not in lower case."""
    begin = _BEGINS.match(text)
    letters = sum(map(str.isalpha, text))
    return (
        begin is not None and not text[begin.end() - 1].islower() and 3 <= letters >= 0.7 * len("".join(text.split()))
    )


def _is_shorter(draft: Draft, rest: Sequence[Draft]) -> bool:
    return sum(len(each.text) for each in rest) > len(draft.text)


def _cut_off(drafts: list[Draft], openings: Sequence[tuple[Draft, int]]) -> list[Draft]:
    """Cut the headings off the beginnings of these blocks, and insert each into ``drafts`` as a block of its own."""
    found: list[Draft] = []
    at = 0
    for draft, length in openings:
        line = draft.lines[0]
        head = Draft("paragraph", [replace(line, text=line.text[:length])], draft.page)
        draft.lines[0] = replace(line, text=line.text[length:].lstrip())
        at = next(i for i in range(at, len(drafts)) if drafts[i] is draft)
        drafts.insert(at, head)
        at += 1
        found.append(head)
    return found
