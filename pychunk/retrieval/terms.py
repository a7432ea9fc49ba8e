"""What BM25 counts in a text: Unicode words in one spelling, or character n-grams of them, stemmed if asked for."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from . import characters

#: How texts become words. 1: runs of letters, digits and underscores, case folded, as indexes of before 2 have it.
#: 2: marks belong to words, and spellings that mean the same are one. 3: what was written without spaces is counted by
#: single characters and pairs, and diacritics may be folded.
VERSION = 3

_WORD = re.compile(r"\w+")
#: ASCII in small letters, all but words as spaces: with ``split`` 3 times as fast as an expression.
_ASCII_WORDS = "".join(letter.lower() if letter.isalnum() or letter == "_" else " " for letter in map(chr, range(128)))


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


@cache
def _unspaced() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """An unspaced letter; such a letter with its marks; runs of these, and of others, in a word."""
    letter = f"[{_set(characters.UNSPACED)}]"
    others = f"[^{_set(characters.UNSPACED)}]+"
    return re.compile(letter), re.compile(rf"{letter}\W*"), re.compile(rf"(?:{letter}\W*)+|{others}")


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


def without_diacritics(text: str) -> str:
    """A text as :func:`folded` has it, in plain letters.

    Example:
        >>> without_diacritics(folded("Łódź, Đà Nẵng, Tromsø, Ещё, أحمد, が"))
        'lodz, da nang, tromso, еще, احمد, が'
    """
    return text if text.isascii() else text.translate(characters.plain_letters())


class Analyzer:
    """Splits texts into terms.

    Args:
        unit: ``"words"``: maximal runs of letters, digits, underscores and the marks that belong to them, as
            :func:`folded` spells them (an apostrophe or hyphen parts words); ``"ngrams"``: the character n-grams of
            those words, which inflected and unspaced languages need.
        ngram: characters of an n-gram; a word is padded by one ``_`` on both sides, shorter ones stay whole.
        stemmer: a language of the Snowball stemmers, such as ``"english"``; ``None`` leaves words as they are.
        stop_words: words that are left out.
        fold_diacritics: letters count without their diacritics (see :func:`without_diacritics`): what was typed on a
            keyboard without them is found, and words that they alone tell apart are one.
        cjk_bigrams: in Chinese, Japanese and Korean each character is a term, and each pair of neighbours, whatever the
            unit, so that a word is found within a sentence; ``False``: what stands between spaces or punctuation is a
            word there, too.
        version: which analysis; an index keeps the one that it was made with. Before 3 there were neither pairs nor
            folding of diacritics.

    Raises:
        ValueError: an unknown unit, language or version; ImportError: a stemmer without the extra ``index``.

    Example:
        >>> Analyzer().terms("The Cat's tail, 1984.")
        ['the', 'cat', 's', 'tail', '1984']
        >>> Analyzer().terms("हिन्दी विश्व")
        ['हिन्दी', 'विश्व']
        >>> Analyzer(unit="ngrams", ngram=3).terms("Katze")
        ['_ka', 'kat', 'atz', 'tze', 'ze_']
        >>> Analyzer().terms("在北京3天")
        ['在', '在北', '北', '北京', '京', '3', '天']
        >>> Analyzer(fold_diacritics=True).terms("Crème brûlée")
        ['creme', 'brulee']
    """

    def __init__(
        self,
        unit: str = "words",
        *,
        ngram: int = 4,
        stemmer: str | None = None,
        stop_words: Sequence[str] = (),
        fold_diacritics: bool = False,
        cjk_bigrams: bool = True,
        version: int = VERSION,
    ) -> None:
        if unit not in ("words", "ngrams"):
            raise ValueError(f"unit must be 'words' or 'ngrams'; got {unit!r}")
        if ngram < 1:
            raise ValueError(f"ngram must be at least 1; got {ngram}")
        for name, value in (("fold_diacritics", fold_diacritics), ("cjk_bigrams", cjk_bigrams)):
            if not isinstance(value, bool):
                raise ValueError(f"{name} must be True or False; got {value!r}")
        if version not in range(1, VERSION + 1):
            raise ValueError(f"version must be from 1 to {VERSION}; got {version!r}")
        self.unit, self.ngram, self.stemmer, self.version = unit, ngram, stemmer, version
        self.fold_diacritics, self.cjk_bigrams = fold_diacritics and version > 2, cjk_bigrams and version > 2
        self.stop_words = frozenset(map(self.folded, stop_words))
        self.stem = _stemmer(stemmer) if stemmer else None

    def options(self) -> dict[str, Any]:
        """What makes an equal analyzer again."""
        return {
            "unit": self.unit,
            "ngram": self.ngram,
            "stemmer": self.stemmer,
            "stop_words": sorted(self.stop_words),
            "fold_diacritics": self.fold_diacritics,
            "cjk_bigrams": self.cjk_bigrams,
            "version": self.version,
        }

    def folded(self, text: str) -> str:
        """A text as its words are compared."""
        if self.version == 1:
            return text.casefold()
        return without_diacritics(folded(text)) if self.fold_diacritics else folded(text)

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order, repeated ones too."""
        if self.version == 1:
            words = _WORD.findall(text.casefold())
        elif text.isascii():
            words = text.translate(_ASCII_WORDS).split()
        else:
            text = self.folded(text)
            _, rare, pattern = _patterns()
            words = (pattern if rare.search(text) else _WORD).findall(text)  # which takes 0.4 of the time
            if self.cjk_bigrams and _unspaced()[0].search(text):
                return [term for word in words for term in self._mixed(word)]
        return self._terms_of(words)

    def _terms_of(self, words: list[str]) -> list[str]:
        if self.stop_words:
            words = [word for word in words if word not in self.stop_words]
        if self.stem:
            words = self.stem(words)
        if self.unit == "words":
            return words
        return [gram for word in words for gram in self._grams(f"_{word}_")]

    def _mixed(self, word: str) -> Iterator[str]:
        """The terms of a word that may hold unspaced letters: of these single ones and pairs, as they are."""
        letter, single, runs = _unspaced()
        for run in runs.findall(word):
            if not letter.match(run):
                yield from self._terms_of([run])
                continue
            singles = single.findall(run)
            for first, second in itertools.zip_longest(singles, singles[1:], fillvalue=""):
                yield from (term for term in (first, second and first + second) if term and term not in self.stop_words)

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
