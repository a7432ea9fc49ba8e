"""What BM25 counts in a text: Unicode words in one spelling, or character n-grams of them, stemmed if asked for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from . import characters

#: How texts become words. 1: runs of letters, digits and underscores, case folded, as indexes of before 2 have it.
#: 2: marks belong to words, and spellings that mean the same are one.
VERSION = 2

_WORD = re.compile(r"\w+")
_ASCII_WORD = re.compile(r"\w+", re.ASCII)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """What is ignored; that or a mark; words with the marks that belong to them. 20 ms, once a process."""
    marks = characters.marks()
    # Beyond the basic plane one range for all: re looks the others up in a table, and would try these one by one.
    rare = [*(each for each in (*characters.IGNORED, *marks) if each[1] < 0x10000), (0x10000, 0x10FFFF)]
    return (
        re.compile(f"[{_set(characters.IGNORED)}]+"),
        re.compile(f"[{_set(rare)}]"),
        re.compile(rf"\w+(?:[{_set(marks)}]+\w*)*"),
    )


def _set(ranges: Iterable[tuple[int, int]]) -> str:
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


def folded(text: str) -> str:
    """A text in one case and spelling: what a reader takes for the same letters is the same string.

    Case folding, then the compatibility composition of Unicode, so that composed and decomposed letters, full and half
    widths and ligatures are one, and without what a word is the same without.

    Example:
        >>> folded("İstanbul"), folded("Украї́на"), folded("ﬁnal Cafe\u0301") == "final café"
        ('istanbul', 'україна', True)
    """
    if text.isascii():
        return text.lower()
    case = text.casefold()
    found = unicodedata.normalize("NFKC", case)
    if found is not case:  # new letters may have come, capitals among them, as of a trademark sign
        found = unicodedata.normalize("NFC", found.casefold())
    ignored, rare, _ = _patterns()
    return ignored.sub("", found) if rare.search(found) else found


class Analyzer:
    """Splits texts into terms.

    Args:
        unit: ``"words"``: maximal runs of letters, digits, underscores and the marks that belong to them, as
            :func:`folded` spells them (an apostrophe or hyphen parts words); ``"ngrams"``: the character n-grams of
            those words, which inflected and unspaced languages need.
        ngram: characters of an n-gram; a word is padded by one ``_`` on both sides, shorter ones stay whole.
        stemmer: a language of the Snowball stemmers, such as ``"english"``; ``None`` leaves words as they are.
        stop_words: words that are left out.
        version: which analysis; an index keeps the one that it was made with.

    Raises:
        ValueError: an unknown unit, language or version; ImportError: a stemmer without the extra ``index``.

    Example:
        >>> Analyzer().terms("The Cat's tail, 1984.")
        ['the', 'cat', 's', 'tail', '1984']
        >>> Analyzer().terms("हिन्दी विश्व")
        ['हिन्दी', 'विश्व']
        >>> Analyzer(unit="ngrams", ngram=3).terms("Katze")
        ['_ka', 'kat', 'atz', 'tze', 'ze_']
    """

    def __init__(
        self,
        unit: str = "words",
        *,
        ngram: int = 4,
        stemmer: str | None = None,
        stop_words: Sequence[str] = (),
        version: int = VERSION,
    ) -> None:
        if unit not in ("words", "ngrams"):
            raise ValueError(f"unit must be 'words' or 'ngrams'; got {unit!r}")
        if ngram < 1:
            raise ValueError(f"ngram must be at least 1; got {ngram}")
        if version not in (1, VERSION):
            raise ValueError(f"version must be 1 or {VERSION}; got {version!r}")
        self.unit, self.ngram, self.stemmer, self.version = unit, ngram, stemmer, version
        self.folded: Callable[[str], str] = folded if version > 1 else str.casefold
        self.stop_words = frozenset(map(self.folded, stop_words))
        self.stem = _stemmer(stemmer) if stemmer else None

    def options(self) -> dict[str, Any]:
        """What makes an equal analyzer again."""
        return {
            "unit": self.unit,
            "ngram": self.ngram,
            "stemmer": self.stemmer,
            "stop_words": sorted(self.stop_words),
            "version": self.version,
        }

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order, repeated ones too."""
        if self.version == 1:
            words = _WORD.findall(text.casefold())
        elif text.isascii():  # 1.2 times as fast
            words = _ASCII_WORD.findall(text.lower())
        else:
            text = folded(text)
            _, rare, pattern = _patterns()
            words = (pattern if rare.search(text) else _WORD).findall(text)  # which takes 0.4 of the time
        if self.stop_words:
            words = [word for word in words if word not in self.stop_words]
        if self.stem:
            words = self.stem(words)
        if self.unit == "words":
            return words
        return [gram for word in words for gram in self._grams(f"_{word}_")]

    def _grams(self, word: str) -> list[str]:
        return [word[i : i + self.ngram] for i in range(max(1, len(word) - self.ngram + 1))]


def _stemmer(language: str) -> Callable[[list[str]], list[str]]:
    try:
        import Stemmer
    except ImportError as error:
        raise ImportError('stemmers come with: pip install "pychunk-native[index]"') from error
    if language not in Stemmer.algorithms():
        raise ValueError(f"stemmer must be one of {', '.join(Stemmer.algorithms())}; got {language!r}")
    stem: Callable[[list[str]], list[str]] = Stemmer.Stemmer(language).stemWords
    return stem
