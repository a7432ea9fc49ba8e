"""The tables of contents of a PDF: entries that end with ascending page numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from .paged_text import CONTENTS
from .paragraphs import Draft

_TITLE = re.compile(
    r"(?:table of |list of )?(?:contents|figures|tables)|index|inhalt(?:sverzeichnis)?|sommaire|table des matières"
    r"|índice|indice|зміст|содержание|оглавление|spis treści",
    re.IGNORECASE,
)
_LED = re.compile(r"(.*?\S)\s*(?:\|\s*)?(?:(?:\.\s?){4,}|\u2026[.\u2026\s]*)\s*(?:\|\s*)?([\divxlcIVXLC-]{1,7})$")
_PLAIN = re.compile(r"(.*?[^\W\d_].*?)\s(?:\|\s*)?(\d{1,4}|[ivxlc]{1,7})$")
#: The minimum number of entries of a table of contents, and the minimum share of ascending page numbers among them.
_FEWEST, _RISING = 4, 0.9
#: The maximum number of characters of an entry.
_LONGEST = 400
#: The minimum share of entries that name a heading of the document.
_NAMED = 0.5


def remove_contents(drafts: Sequence[Draft]) -> None:
    """Remove tables of contents, with their title, by marking their lines as removed.

    A table of contents is a run of blocks whose lines end with ascending page numbers. Two of three signs must be
    present: a title names it, dots lead to the numbers, half of the entries are headings of the document.
    """
    headings = {_key(draft.text) for draft in drafts if draft.kind == "heading"}
    title: Draft | None = None
    run: list[Draft] = []
    for draft in (*drafts, None):
        if draft is not None and draft.removed:
            continue
        if draft is not None and _entries(draft, title is not None):
            run.append(draft)
            continue
        if len(run) and _is_contents(run, title, headings):
            for each in (*([title] if title else []), *run):
                each.lines[0].removed, each.lines[0].score = CONTENTS, 1.0
        run = []
        title = draft if draft is not None and _TITLE.fullmatch(draft.text.strip(" :.")) else None


def _entries(draft: Draft, titled: bool) -> list[tuple[str, str]]:
    """Return (label, page number) of each entry in a block; none if the block is not part of a table of contents."""
    patterns = (_LED, _PLAIN) if titled or draft.kind in ("table", "heading") else (_LED,)
    short = [line.text if len(line.text) <= _LONGEST and _may_end(line.text[-1:]) else "" for line in draft.lines]
    matches = [next(filter(None, (each.fullmatch(text) for each in patterns)), None) for text in short]
    found = [(match.group(1), match.group(2)) for match in matches if match]
    ends = matches[-1] is not None and 2 * len(found) >= len(matches)
    return found if ends else []


def _may_end(letter: str) -> bool:
    """Return whether an entry may end with this letter.

    This check saves time, because the patterns try every position in a line: without it, they took 6 % of the time for
    a file.
    """
    return letter in "ivxlcIVXLC-" or letter.isdecimal()


def _is_contents(run: Sequence[Draft], title: Draft | None, headings: set[str]) -> bool:
    entries = [entry for draft in run for entry in _entries(draft, title is not None)]
    pages = [int(number) for _, number in entries if number.isdigit()]
    if len(entries) < _FEWEST or 2 * len(pages) < len(entries):
        return False
    if sum(a <= b for a, b in pairwise(pages)) < _RISING * (len(pages) - 1):
        return False
    led = sum(bool(_LED.fullmatch(line.text[-_LONGEST:])) for draft in run for line in draft.lines)
    named = sum(_key(label) in headings for label, _ in entries)
    signs = (title is not None, 2 * led >= len(entries), named >= _NAMED * len(entries))
    return sum(signs) >= 2


def _key(text: str) -> str:
    return re.sub(r"[\W\d_]+", "", text.casefold())
