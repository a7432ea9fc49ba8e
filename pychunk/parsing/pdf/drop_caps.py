"""Drop caps: first letters that are as high as several lines of the text, or rise above its first line."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .pdf_words import PageWords

#: The greatest distance between a letter and the rest of its word, in sizes of the letter, if only one line is next to
#: the letter.
_RAISED = 0.2
#: The width of a space, in sizes of the text.
_BLANK = 0.4
#: Limits as multiples of the text's size: the minimum size of such a letter; the greatest distance from it to the lines
#: at its right; the greatest depth to which these lines reach into its box; the largest size of the lines' words; and
#: the smallest distance between two lines.
_HIGH, _AWAY, _WITHIN, _TEXT, _APART = 1.5, 1.5, 0.4, 1.4, 0.7
#: The maximum number of tall letters of a page that are checked. Each is compared with all words, and a page has one or
#: two.
_MOST = 100
#: The letters that can be words by themselves.
_WORDS = frozenset("aioyeàéавкосуиязіє")


def joined_drop_caps(page: PageWords, body: float, vocabulary: Callable[[], Container[str]]) -> PageWords:
    """Join each drop cap of a page with the rest of its word, and extend the lines next to it to its left edge.

    Args:
        page: The words of the page.
        body: The size of the text, in points.
        vocabulary: A function that returns known words in lower case. They decide whether a drop cap is a word by
            itself, or the first letter of the word next to it.
    """
    tall = np.flatnonzero((page.size >= _HIGH * body) & (page.lengths == 1) & (page.angle == 0))
    caps = [at for at in tall[:_MOST].tolist() if page.texts[at].isupper()]
    if not caps:
        return page
    texts, box, size = list(page.texts), page.box.copy(), page.size.copy()
    kept = np.ones(len(texts), bool)
    plain = (page.size <= _TEXT * body) & (page.angle == 0)
    for cap in caps:
        left, top, right, bottom = page.box[cap].tolist()
        middle = (page.box[:, 1] + page.box[:, 3]) / 2
        away = page.box[:, 0] - right
        near = plain & (away >= -_WITHIN * body) & (away <= _AWAY * body) & (middle > top) & (middle < bottom)
        firsts: list[int] = []  # the first word of each line, from the top
        for at in sorted(np.flatnonzero(near).tolist(), key=lambda at: (middle[at], away[at])):
            if not firsts or middle[at] - middle[firsts[-1]] > _APART * body:
                firsts.append(at)
            elif away[at] < away[firsts[-1]]:
                firsts[-1] = at
        # These words begin left of the letter's right edge. Their line is therefore below the letter, not next to it.
        below = plain & (away < -_WITHIN * body) & (page.box[:, 2] > left)
        firsts = [at for at in firsts if not (below & (abs(middle - middle[at]) <= _APART * body)).any()]
        if not firsts or (len(firsts) == 1 and away[firsts[0]] > _RAISED * page.size[cap]):
            continue
        first = firsts[0]
        letter, rest = texts[cap].casefold(), texts[first].casefold().strip(".,;:!?\"'”’)")
        if letter in _WORDS and rest in vocabulary() and letter + rest not in vocabulary():
            box[cap, 1:4:2], size[cap] = box[first, 1:4:2], size[first]
            box[cap, 2] = min(right, box[first, 0] - _BLANK * body)
            firsts = firsts[1:]
        else:
            texts[first] = texts[cap] + texts[first]
            kept[cap] = False
        box[firsts, 0] = left
    return replace(page, texts=texts, box=box, size=size).where(kept)
