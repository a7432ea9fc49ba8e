"""Letters at the beginning of a text that are as high as several of its lines, or stand above its first."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .pdf_words import PageWords

#: From a letter that stands above one line to the rest of its word at most, in sizes of the letter.
_RAISED = 0.2
#: A blank, in sizes of the text.
_BLANK = 0.4
#: Sizes of the text: of such a letter at least; from it to the lines on its right at most, and how far they reach into
#: its box; of the words of these lines at most; between two lines at least.
_HIGH, _AWAY, _WITHIN, _TEXT, _APART = 1.5, 1.5, 0.4, 1.4, 0.7
#: Tall letters of a page that are looked at: each is compared with all words, and a page has one or two.
_MOST = 100
#: Letters that are words by themselves.
_WORDS = frozenset("aioyeàéавкосуиязіє")


def joined_drop_caps(page: PageWords, body: float, vocabulary: Callable[[], Container[str]]) -> PageWords:
    """Return a page on which such a letter is one word with the rest of its word, and all its lines begin at its left.

    Args:
        page: its words.
        body: size of the text, in points.
        vocabulary: gives words in small letters, by which a letter that is a word is told from one that begins a word.
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
        below = plain & (away < -_WITHIN * body) & (page.box[:, 2] > left)  # of lines that begin below the letter
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
