"""What BM25 counts in a text: Unicode words, or character n-grams of them, stemmed if asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

# Letters, digits and marks that belong together; an apostrophe or hyphen parts words.
_WORD = re.compile(r"\w+")


class Analyzer:
    """Splits texts into terms.

    Args:
        unit: ``"words"``: maximal runs of letters, digits and underscores, case folded; ``"ngrams"``: the character
            n-grams of those words, which inflected and unspaced languages need.
        ngram: characters of an n-gram; a word is padded by one ``_`` on both sides, shorter ones stay whole.
        stemmer: a language of the Snowball stemmers, such as ``"english"``; ``None`` leaves words as they are.
        stop_words: words that are left out.

    Raises:
        ValueError: an unknown unit or language; ImportError: a stemmer without the extra ``index``.

    Example:
        >>> Analyzer().terms("The Cat's tail, 1984.")
        ['the', 'cat', 's', 'tail', '1984']
        >>> Analyzer(unit="ngrams", ngram=3).terms("Katze")
        ['_ka', 'kat', 'atz', 'tze', 'ze_']
    """

    def __init__(
        self, unit: str = "words", *, ngram: int = 3, stemmer: str | None = None, stop_words: Sequence[str] = ()
    ) -> None:
        if unit not in ("words", "ngrams"):
            raise ValueError(f"unit must be 'words' or 'ngrams'; got {unit!r}")
        if ngram < 1:
            raise ValueError(f"ngram must be at least 1; got {ngram}")
        self.unit, self.ngram, self.stemmer = unit, ngram, stemmer
        self.stop_words = frozenset(word.casefold() for word in stop_words)
        self._stem = _stemmer(stemmer) if stemmer else None

    def options(self) -> dict[str, Any]:
        """What makes an equal analyzer again."""
        return {
            "unit": self.unit,
            "ngram": self.ngram,
            "stemmer": self.stemmer,
            "stop_words": sorted(self.stop_words),
        }

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order, repeated ones too."""
        words = _WORD.findall(text.casefold())
        if self.stop_words:
            words = [word for word in words if word not in self.stop_words]
        if self._stem:
            words = self._stem(words)
        if self.unit == "words":
            return words
        return [gram for word in words for gram in self._grams(f"_{word}_")]

    def _grams(self, word: str) -> list[str]:
        return [word[i : i + self.ngram] for i in range(max(1, len(word) - self.ngram + 1))]


def _stemmer(language: str) -> Callable[[list[str]], list[str]]:
    try:
        import Stemmer
    except ImportError as error:
        raise ImportError('stemmers come with: pip install "pychunk[index]"') from error
    if language not in Stemmer.algorithms():
        raise ValueError(f"stemmer must be one of {', '.join(Stemmer.algorithms())}; got {language!r}")
    stem: Callable[[list[str]], list[str]] = Stemmer.Stemmer(language).stemWords
    return stem
