"""The share of text that two hits have in common, and the removal of hits that nearly repeat a better one.

The share counts shingles, which are three consecutive words. Each occurrence counts. The share is the number of common
shingles divided by the number of shingles of the longer text. One changed word changes up to three shingles, so in a
chunk of 110 words it leaves a share of 0.97, and a changed line of ten words one of 0.89. Jaccard similarity would be
lower, 0.95 and 0.8. A share of the shorter text would count a sentence as a copy of the page that quotes it. The search
would then lose a page because a sentence of it ranks higher.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from .hits import Hit

#: The number of words in a shingle.
WORDS = 3
#: Blocks of scripts without spaces between words: Thai, Lao, Myanmar, Khmer, Kana to CJK ideographs, and the ideographs
#: that were added later.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_Shingles = Counter[tuple[str, ...]]
_WORD = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")


def words_of(text: str) -> list[str]:
    """Return the words of a text: its parts between white space, and each character of scripts without spaces.

    Example:
        >>> words_of("Cats  purr. 猫が")
        ['Cats', 'purr.', '猫', 'が']
    """
    return _WORD.findall(text)


def share(one: Sequence[str], other: Sequence[str]) -> float:
    """Return the share of common shingles of two texts, given by their words, from 0 to 1.

    The share is 1 only if the words are equal. Other texts with the same shingles, in another order, are counted as if
    one shingle were different. A text of fewer than three words has no shingles, so its share is 0 or 1.

    Example:
        >>> share("a b c d e f".split(), "a b c d e g".split())
        0.75
    """
    return 1.0 if list(one) == list(other) else _share(_shingles(one), _shingles(other))


def without(hits: Sequence[Hit], least: float) -> list[Hit]:
    """Return the hits whose text has a share below ``least`` with that of each better hit that is returned.

    ``hits`` are best first. They keep their order. The result for the first hits does not depend on later ones.

    Example:
        >>> texts = ["Cats purr at night.", "Dogs bark.", "Cats  purr at night."]
        >>> hits = [Hit(i, i, None, 0, "", 0, len(text), text, 1.0, {}) for i, text in enumerate(texts)]
        >>> [hit.text for hit in without(hits, 0.9)]
        ['Cats purr at night.', 'Dogs bark.']
    """
    kept: list[Hit] = []
    known: list[_Shingles] = []
    equal: set[tuple[str, ...]] = set()
    for hit in hits:
        words = tuple(words_of(hit.text))
        if words in equal:
            continue
        shingles = _shingles(words)
        if least < 1 and any(_reaches(shingles, other, least) for other in known):
            continue
        kept.append(hit)
        known.append(shingles)
        equal.add(words)
    return kept


def _shingles(words: Sequence[str]) -> _Shingles:
    return Counter(zip(*(words[place:] for place in range(WORDS)), strict=False))


def _share(mine: _Shingles, others: _Shingles) -> float:
    """Return the share of two texts whose words differ, given by their shingles."""
    most = max(mine.total(), others.total())
    return min((mine & others).total(), most - 1) / most if mine and others else 0.0


def _reaches(mine: _Shingles, others: _Shingles, least: float) -> bool:
    """Return whether two texts have a share of at least ``least``, without counting if their lengths exclude it."""
    shorter, longer = sorted((mine.total(), others.total()))
    return shorter > 0 and shorter / longer >= least and _share(mine, others) >= least
