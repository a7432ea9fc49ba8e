"""The headings of a PDF and their levels, found by bookmarks, by the size and weight of fonts, or by white space."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from .paragraphs import CONTENTS, Draft
from .pdf_words import SLANTED
from .spaced_headings import spaced_headings

#: The minimum factor by which a heading that is not bold is larger than the text.
_LARGER = 1.12
#: The maximum number of characters and lines of a heading.
_LONG, _LINES = 250, 4
#: The minimum share of the running text that a font size must have to count as the size of the running text.
_MOST = 0.2
#: The share of bold characters in a document from which bold print is no sign of a heading.
_BOLD = 0.4
#: The largest white space between lines of one heading, in line heights.
_UNDER = 0.5
_MAX_LEVEL = 6
_LETTER = re.compile(r"[^\W\d_]")
_NUMBERING = re.compile(r"^\W*(?:(?:\d+|[ivxlc]+|[a-z])[.)]\s*|\d+(?:\.\d+)+\.?\s+|\d+\s+)*")
_COUNT = (
    r"\d{1,3}|[ivxlc]{2,7}|(?:(?:twenty|thirty|forty|fifty)[ -]?)?(?:one|two|three|four|five|six|seven|eight|nine)"
    r"|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty"
)
_COUNTED = re.compile(rf"(?:{_COUNT})[.:]?", re.IGNORECASE)
_CHAPTER = re.compile(
    r"(?:chapter|part|appendix|kapitel|teil|anhang|chapitre|partie|annexe|capítulo|parte|capitolo|розділ|частина"
    rf"|додаток|глава|часть|приложение|раздел)(?:\s+(?:{_COUNT}|\w)[.:]?)?",
    re.IGNORECASE,
)
_BULLET = re.compile(r"[^\w(\[«\"„“'’]")
#: The heading of a clause that is printed like the text: a number, or "ARTICLE 5", and a name in capitals.
_CLAUSE = re.compile(
    r"(?:(?:ARTICLE|SECTION|CLAUSE|ARTIKEL|ARTÍCULO|СТАТТЯ|РОЗДІЛ|СТАТЬЯ|РАЗДЕЛ)\s+|§\s*)?"
    r"(?:\d{1,3}|[IVXL]{1,6})(?:\.\s+|\)\s+|\s+|\s*[:–—-]\s*)(?P<name>[^\W\d_].{2,80})"
)
#: The minimum number of headings of clauses in a document that has such headings.
_CLAUSES = 2


class Bookmark(NamedTuple):
    """An entry of the document's outline: level from 1, page from 1."""

    title: str
    level: int
    page: int


def mark_headings(drafts: list[Draft], bookmarks: Sequence[Bookmark], body: float) -> None:
    """Turn blocks into headings with levels from 1 to 6; ``body`` is the size of the document's text, in points.

    A block that a bookmark of its page names is a heading of the bookmark's level. Another block is a heading if it is
    short, and larger than the text, or bold while the text is not. A number with a name in capitals is a heading, too.
    The level of a heading without a bookmark is the one that bookmarks give to headings of the same style, else the
    rank of the style (size, then weight). If white space shows more headings than bookmarks and fonts do, those that
    only white space shows are added, with the lowest levels.
    """
    running = max(body, _running_size(drafts))
    named: dict[int, dict[str, int]] = {}
    for bookmark in bookmarks:
        named.setdefault(bookmark.page, {}).setdefault(_key(bookmark.title), bookmark.level)
    letters = sum(len(line.text) for draft in drafts for line in draft.lines)
    bold = sum(len(line.text) for draft in drafts for line in draft.lines if line.bold)
    by_weight = bold < _BOLD * letters
    levels: dict[tuple[float, bool], Counter[int]] = {}
    found: list[Draft] = []
    for draft in drafts:
        if draft.kind in ("table", "code", "term") or draft.lines[0].removed or draft.lines[0].angle >= SLANTED:
            continue
        text = draft.text
        if len(text) > _LONG or len(draft.lines) > _LINES or not _LETTER.search(text):
            continue
        key = _key(text)
        level = named.get(draft.page, {}).get(key, 0) if key else 0
        if level:
            draft.kind, draft.level = "heading", min(level, _MAX_LEVEL)
            levels.setdefault(_style(draft), Counter())[draft.level] += 1
        elif _stands_out(draft, text, body, running, by_weight):
            found.append(draft)
    taken = set(map(id, found))
    found += [draft for draft in _clauses(drafts) if id(draft) not in taken]
    known = {id(draft) for draft in drafts if draft.kind == "heading"} | set(map(id, found))
    spaced, below = spaced_headings(drafts, len(known))
    found += [draft for draft in (*spaced, *below) if id(draft) not in known]
    # White space is a better sign of the level than weight. Therefore all headings found by white space with one size
    # have one level, whether they are bold or not.
    styles = {id(draft): _style(draft) for draft in found}
    styles |= {id(draft): (_style(draft)[0], False) for draft in spaced}
    styles |= {id(draft): (_style(draft)[0] - 0.25, False) for draft in below}
    ranks = _ranks(set(styles.values()), levels)
    for draft in found:
        draft.kind, draft.level = "heading", ranks[styles[id(draft)]]
    _join_lines(drafts, named)
    _join_numbers(drafts)


def _clauses(drafts: Sequence[Draft]) -> list[Draft]:
    """Return the lines that consist of a number and a name in capitals, if most of them are followed by text.

    If several such lines follow each other, they are a list, and there are no headings of clauses.
    """
    kept = [draft for draft in drafts if not draft.lines[0].removed]
    found = [
        (draft, after) for draft, after in pairwise(kept) if draft.kind in ("paragraph", "item") and _is_clause(draft)
    ]
    headed = [draft for draft, after in found if not _is_clause(after)]
    return headed if len(headed) >= max(_CLAUSES, len(found)) else []


def _is_clause(draft: Draft) -> bool:
    match = _CLAUSE.fullmatch(draft.text) if len(draft.lines) == 1 else None
    if match is None:
        return False
    name = match["name"]
    letters = sum(map(str.isalpha, name))
    return name.isupper() and not name.endswith((".", ",", ";")) and 4 <= letters >= 0.7 * len(name)


def _join_numbers(drafts: list[Draft]) -> None:
    """Join the number of a chapter, which is on lines of its own above the title, and the title to one heading."""
    kept: list[Draft] = []
    for draft in drafts:
        while (
            kept
            and draft.kind == "heading"
            and (last := kept[-1]).page == draft.page
            and len(last.lines) <= 2
            and not last.removed
            and (_CHAPTER.fullmatch(last.text) or (last.kind == "heading" and _COUNTED.fullmatch(last.text)))
            and draft.lines[0].top > last.lines[0].top
        ):
            kept.pop()
            draft.lines = last.lines + draft.lines
            draft.level = min(draft.level, last.level or draft.level)
        kept.append(draft)
    drafts[:] = kept


def _join_lines(drafts: list[Draft], named: dict[int, dict[str, int]]) -> None:
    """Join headings of one style that are right under each other, unless a number or a bookmark shows a new heading."""
    kept: list[Draft] = []
    for draft in drafts:
        last = kept[-1] if kept else None
        if (
            last is not None
            and draft.kind == last.kind == "heading"
            and (last.page, last.level, _style(last)) == (draft.page, draft.level, _style(draft))
            and last.lines[-1].flow == draft.lines[0].flow
            and -0.5 < (draft.lines[0].top - last.lines[-1].bottom) / (draft.lines[0].height or 1.0) < _UNDER
            and _NUMBERING.sub("", draft.text, count=1) == draft.text
            and _key(draft.text) not in named.get(draft.page, {})
        ):
            last.lines += draft.lines
        else:
            kept.append(draft)
    drafts[:] = kept


def _running_size(drafts: Sequence[Draft]) -> float:
    """Return the largest font size in which at least a fifth of the running text is set; 0 without running text.

    Listings may have most of the characters, so the most frequent size is not reliable.
    """
    letters: Counter[float] = Counter()
    for draft in drafts:
        if draft.kind in ("paragraph", "item") and (length := len(draft.text)) > _LONG:
            letters[draft.size] += length
    most = _MOST * sum(letters.values())
    return max((size for size, count in letters.items() if count >= most), default=0.0)


def _stands_out(draft: Draft, text: str, body: float, running: float, by_weight: bool) -> bool:
    if draft.kind == "caption" or text.rstrip().endswith((",", ";")) or CONTENTS.search(text):
        return False
    if draft.kind == "item" and _BULLET.match(text):
        return False
    return draft.size > _LARGER * running or (by_weight and draft.bold and draft.size >= 0.95 * body)


def _style(draft: Draft) -> tuple[float, bool]:
    return round(draft.size * 2) / 2, draft.bold


def _ranks(
    styles: set[tuple[float, bool]], known: dict[tuple[float, bool], Counter[int]]
) -> dict[tuple[float, bool], int]:
    """Return each style's level, from the largest style on: the bookmarks' level, else one below the style before."""
    ranks: dict[tuple[float, bool], int] = {}
    level = 0
    for style in sorted(styles | set(known), reverse=True):
        said = known.get(style)
        level = said.most_common(1)[0][0] if said else min(level + 1, _MAX_LEVEL)
        ranks[style] = level
    return ranks


def _key(text: str) -> str:
    """Return the letters and digits of a text in lower case, without a leading number."""
    text = " ".join(text.casefold().split())
    bare = re.sub(r"\W+", "", _NUMBERING.sub("", text))
    return bare or re.sub(r"\W+", "", text)
