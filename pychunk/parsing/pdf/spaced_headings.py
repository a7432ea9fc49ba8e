"""Headings of a PDF that neither bookmarks nor a line's font show: by the white around them, or run into their text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from .paragraphs import Draft

#: White above what begins a section, in heights of a line: so much of what usually parts blocks, and so much more.
_SET_OFF, _MORE = 1.6, 0.4
#: White below a heading is at most so much of what usually parts blocks.
_NEAR = 1.25
#: Words of a heading in a line of its own, and of one that runs into its text.
_WORDS, _RUN_IN_WORDS = 14, 8
#: A document with fewer headings of a kind does not mark its headings so.
_FEWEST = 3
_WORD = re.compile(r"\w+(?:[-’'‐]\w+)*")
#: It begins with a letter, which may be behind a number.
_BEGINS = re.compile(r"[\"«„“(\[]?(?:\d+(?:\.\d+)*\.?\s+)?[^\W\d_]")
#: The first sentence of a block, before another: "Contraindications. Do not take ..."
_RUN_IN = re.compile(r"(?P<head>[^.:;?!]{3,100}[.:])\s+(?=\S)")


def spaced_headings(drafts: list[Draft], known: int) -> tuple[list[Draft], list[Draft]]:
    """Headings that are found by space or that run in, if they are more than the ``known`` ones, and those below them.

    Sections are the blocks from one that is set off, by more white than blocks usually have between them, to the next.
    One begins with a heading where its first block is one short line, which is nearer to what is below and shorter than
    it, or begins with a short sentence; half of all sections do. What blocks begin with in bold print, up to a full
    stop, are headings below those, or by themselves if there are less than three such lines, and thrice as many of the
    others as ``known``. What runs into its text is made a block of its own.
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
    """Lines that are headings, and blocks that begin with one, with its characters."""
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
    """Above them is no white to be seen: short lines that end as other headings do, behind a page's last sentence."""
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
    """Blocks that begin with a heading in bold print, with its characters."""
    found = []
    for draft in drafts:
        line = draft.lines[0]
        head = line.text[: line.opening]
        if draft.kind == "paragraph" and not line.removed and head.endswith(".") and _runs_in(head):
            found.append((draft, line.opening))
    return found


def _white(before: Draft, own: Draft) -> float | None:
    """White between two blocks that stand under each other, in heights of a line."""
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
    """Letters, of which the first is none in lower case, with few of anything else."""
    begin = _BEGINS.match(text)
    letters = sum(map(str.isalpha, text))
    return (
        begin is not None and not text[begin.end() - 1].islower() and 3 <= letters >= 0.7 * len("".join(text.split()))
    )


def _is_shorter(draft: Draft, rest: Sequence[Draft]) -> bool:
    return sum(len(each.text) for each in rest) > len(draft.text)


def _cut_off(drafts: list[Draft], openings: Sequence[tuple[Draft, int]]) -> list[Draft]:
    """What these blocks begin with, each a block before the rest of its own in ``drafts``."""
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
