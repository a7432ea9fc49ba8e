"""The analyzer, which returns the terms that BM25 counts: normalized words, their character n-grams, or both."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from ...inputs import english_words
from . import characters

#: The version of the analysis that turns texts into words. In version 1, which the oldest indexes have, words are
#: case-folded runs of letters, digits and underscores. Since version 2, combining marks belong to words, and equivalent
#: spellings are the same word. Since version 3, in text that is written without spaces, the terms are single characters
#: and pairs, and diacritics may be folded. Since version 4, Thai, Lao, Tibetan, Burmese and Khmer are treated so, too,
#: and unit "auto" decides for each text separately whether it needs n-grams.
VERSION = 4
#: The first character of an n-gram that is counted in addition to its word.
GRAM_MARK = "~"

_WORD = re.compile(r"\w+")
#: The weight of a word as evidence of a text's language. A single, pair or triple of unspaced letters (of scripts that
#: are written without spaces) has the weight 1.
_WORD_SAYS = 4
#: A translation table for ASCII: lower case for letters, and a space for each character that is in no word. Together
#: with ``str.split`` it is 3 times as fast as a regular expression.
_ASCII_WORDS = "".join(letter.lower() if letter.isalnum() or letter == "_" else " " for letter in map(chr, range(128)))


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return three patterns: ignored characters; characters that are ignored or may be marks; words with their marks.

    Making them takes 20 ms, once in a process.
    """
    marks = characters.marks()
    # All characters beyond the basic plane form one range in this set. For characters in the basic plane, re has a
    # table, but it would try ranges beyond it one by one.
    rare = [*(each for each in (*characters.IGNORED, *marks) if each[1] < 0x10000), (0x10000, 0x10FFFF)]
    return (
        re.compile(f"[{_set(characters.IGNORED)}]+"),
        re.compile(f"[{_set(rare)}]"),
        re.compile(rf"\w+(?:[{_set(marks)}]+\w*)*"),
    )


@cache
def _unspaced(version: int) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return three patterns of unspaced letters, which are the letters of scripts that are written without spaces.

    They match an unspaced letter; an unspaced letter with its marks; and a run of letters all or none of which are
    unspaced.
    """
    every = _set(characters.unspaced(version))
    letter = f"[{every}]"
    return re.compile(letter), re.compile(rf"{letter}\W*"), re.compile(rf"(?:{letter}\W*)+|[^{every}]+")


@cache
def _tripled() -> re.Pattern[str]:
    """Return the pattern of an unspaced letter of a script in which triples are terms, too."""
    return re.compile(f"[{_set(characters.TRIPLED)}]")


def _set(ranges: Iterable[tuple[int, int]]) -> str:
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


def folded(text: str) -> str:
    """Return a text in one case and spelling, so that words that look the same to a reader are the same string.

    It applies case folding, then Unicode's compatibility composition (NFKC). Composed and decomposed letters, letters
    of full and half width, and ligatures and their letters become the same. Characters that do not change a word, such
    as soft hyphens, are removed.

    Example:
        >>> folded("İstanbul"), folded("Украї́на"), folded("ﬁnal Cafe\u0301") == "final café"
        ('istanbul', 'україна', True)
    """
    if text.isascii():
        return text.lower()
    case = text.casefold()
    found = unicodedata.normalize("NFKC", case)
    if found is not case:  # The normalization may have added letters, even capitals, as for a trademark sign.
        found = unicodedata.normalize("NFC", found.casefold())
    ignored, rare, _ = _patterns()
    return ignored.sub("", found) if rare.search(found) else found


def without_diacritics(text: str) -> str:
    """Return a folded text (see :func:`folded`) with plain letters in place of letters with diacritics.

    Example:
        >>> without_diacritics(folded("Łódź, Đà Nẵng, Tromsø, Ещё, أحمد, が"))
        'lodz, da nang, tromso, еще, احمد, が'
    """
    return text if text.isascii() else text.translate(characters.plain_letters())


class Analyzer:
    """An analyzer that splits texts into terms.

    Args:
        unit: ``"words"``: maximal runs of letters, digits, underscores and the marks that belong to them, as
            :func:`folded` spells them. An apostrophe or hyphen separates words. ``"ngrams"``: the character n-grams of
            those words, which inflected languages need. ``"auto"``: words, and in addition n-grams of words in texts
            that are not English (:mod:`pychunk.inputs.english_words`) or in other scripts.
        ngram: The length of an n-gram in characters. A word is first padded with one ``_`` on both sides. A padded word
            of at most this length stays whole.
        stemmer: A language of the Snowball stemmers, such as ``"english"``. ``None`` leaves words unchanged.
        stop_words: The words that are left out.
        fold_diacritics: Whether diacritics are ignored (see :func:`without_diacritics`). A query that was typed without
            them then finds words that have them, but words that differ only in diacritics become the same.
        cjk_bigrams: Whether in Chinese, Japanese and Korean each character and each pair of adjacent characters is a
            term, whatever the unit, so that a word is found within a sentence. In Thai, Lao, Tibetan, Burmese and Khmer
            each triple is a term, too. If ``False``, the text between spaces or punctuation is one word in these
            scripts.
        version: The version of the analysis, which an index keeps. Versions before 3 have neither pairs nor folding of
            diacritics. Versions before 4 have neither unit ``"auto"`` nor pairs in Thai, Lao, Tibetan, Burmese and
            Khmer.

    Raises:
        ValueError: The unit, language or version is unknown.
        ImportError: A stemmer is requested without the extra ``index``.

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
        >>> Analyzer("auto").terms("Она спит"), Analyzer("auto").terms("She is asleep")
        (['она', 'спит', '~_она', '~она_', '~_спи', '~спит', '~пит_'], ['she', 'is', 'asleep'])
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
        if unit not in ("words", "ngrams", "auto"):
            raise ValueError(f"unit must be 'words', 'ngrams' or 'auto'; got {unit!r:.80}")
        if ngram < 1:
            raise ValueError(f"ngram must be at least 1; got {ngram}")
        for name, value in (("fold_diacritics", fold_diacritics), ("cjk_bigrams", cjk_bigrams)):
            if not isinstance(value, bool):
                raise ValueError(f"{name} must be True or False; got {value!r:.80}")
        if version not in range(1, VERSION + 1):
            raise ValueError(f"version must be from 1 to {VERSION}; got {version!r:.80}")
        if unit == "auto" and version < 4:
            raise ValueError(f"unit 'auto' needs version 4; got version {version}")
        self.unit, self.ngram, self.stemmer, self.version = unit, ngram, stemmer, version
        self.fold_diacritics, self.cjk_bigrams = fold_diacritics and version > 2, cjk_bigrams and version > 2
        self.stop_words = frozenset(map(self.folded, stop_words))
        #: The frequent words (:func:`pychunk.inputs.english_words.frequent_words`), folded like a text's words.
        self.frequent = (
            english_words.plain_words(self.folded) if self.fold_diacritics else english_words.frequent_words()
        )
        self.stem = _stemmer(stemmer) if stemmer else None

    def options(self) -> dict[str, Any]:
        """Return the options that make an equal analyzer."""
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
        """Return a text in the form in which its words are compared."""
        if self.version == 1:
            return text.casefold()
        return without_diacritics(folded(text)) if self.fold_diacritics else folded(text)

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text in order, including repeated terms, followed by n-grams that unit "auto" adds."""
        words, mixed = self._split(text)
        return self._with_grams(words, mixed, False) if self.unit == "auto" else self._plain(words, mixed)

    def query_terms(self, text: str) -> list[str]:
        """Return the terms to search for: those of :meth:`terms`, and n-grams of words unless the query looks English.

        The n-grams are added with unit "auto" if the query has no frequent English word, because a short query may not
        show its language. N-grams that no chunk has do not change scores.

        Example:
            >>> Analyzer("auto").terms("Pumpwerk"), Analyzer("auto").query_terms("Werk")
            (['pumpwerk'], ['werk', '~_wer', '~werk', '~erk_'])
        """
        words, mixed = self._split(text)
        return self._with_grams(words, mixed, True) if self.unit == "auto" else self._plain(words, mixed)

    def _split(self, text: str) -> tuple[list[str], bool]:
        """Return (the folded words of a text; whether they may contain unspaced letters, which form pairs)."""
        if self.version == 1:
            return _WORD.findall(text.casefold()), False
        if text.isascii():
            return text.translate(_ASCII_WORDS).split(), False
        text = self.folded(text)
        _, rare, pattern = _patterns()
        words = (pattern if rare.search(text) else _WORD).findall(text)  # _WORD takes 0.4 of the time of ``pattern``.
        return words, self.cjk_bigrams and bool(_unspaced(self.version)[0].search(text))

    def _plain(self, words: list[str], mixed: bool) -> list[str]:
        if mixed:
            return [term for word in words for term in self._mixed(word)]
        return self._terms_of(words)

    def _with_grams(self, words: list[str], mixed: bool, query: bool) -> list[str]:
        """Return the terms of words, followed by n-grams.

        N-grams are made of all words if the text is not English, else only of words in letters that are not Latin.
        """
        found = list(self._plain(words, mixed))
        unspaced: set[str] = set()
        if mixed:
            letter, _, runs = _unspaced(self.version)
            unspaced = {term for term in found if letter.match(term)}
            words = [run for word in words for run in runs.findall(word) if not letter.match(run)]
        own, others = english_words.evidence(words, self.frequent)
        foreign = _WORD_SAYS * (others - own) + len(unspaced) > 0 or (query and not own)
        for word in words:
            if (foreign or english_words.script(word) == "other") and len(word) + 2 > self.ngram:
                grams = self._grams(f"_{word}_") if word not in self.stop_words else []
                found += [GRAM_MARK + gram for gram in grams]
        return found

    def _terms_of(self, words: list[str]) -> list[str]:
        if self.stop_words:
            words = [word for word in words if word not in self.stop_words]
        if self.stem:
            words = self.stem(words)
        if self.unit != "ngrams":
            return words
        return [gram for word in words for gram in self._grams(f"_{word}_")]

    def _mixed(self, word: str) -> Iterator[str]:
        """Yield the terms of a word that may contain unspaced letters.

        These become singles, pairs and triples, which are neither stemmed nor split into n-grams.
        """
        letter, single, runs = _unspaced(self.version)
        for run in runs.findall(word):
            if not letter.match(run):
                yield from self._terms_of([run])
                continue
            singles = single.findall(run)
            for at, first in enumerate(singles):
                many = 3 if self.version > 3 and _tripled().match(first) else 2
                terms = ["".join(singles[at : at + size]) for size in range(1, min(many, len(singles) - at) + 1)]
                yield from (term for term in terms if term not in self.stop_words)

    def _grams(self, word: str) -> list[str]:
        return [word[i : i + self.ngram] for i in range(max(1, len(word) - self.ngram + 1))]


def _stemmer(language: str) -> Callable[[list[str]], list[str]]:
    try:
        import Stemmer
    except ImportError as error:
        raise ImportError(f'the stemmer {language!r} needs PyStemmer: pip install "pychunk-native[index]"') from error
    if language not in Stemmer.algorithms():
        raise ValueError(f"stemmer must be one of {', '.join(Stemmer.algorithms())}; got {language!r:.80}")
    stem: Callable[[list[str]], list[str]] = Stemmer.Stemmer(language).stemWords
    return stem
