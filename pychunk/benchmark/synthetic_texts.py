"""English-like documents made from a seed and the shipped vocabulary, the same on every platform."""

from __future__ import annotations

import bisect
import itertools
import random
from pathlib import Path

VOCABULARY = Path(__file__).resolve().parent.parent / "models" / "vocab.txt"

#: Words that are difficult for rules about sentence ends and tokenization.
_ODDITIES = [
    "Dr. Allen",
    "e.g.",
    "3.5",
    "1,024",
    "(1901-1980)",
    "U.S.",
    "café",
    "Zürich",
    "naïve",
    "señor",
    "“quoted”",
    "—",
    "Ελλάδα",
    "東京",
    "x86-64",
    "don't",
]
_ENDS = [".", ".", ".", ".", ".", ".", ".", "!", "?", ".”"]


class Author:
    """A writer of documents; the same seed and vocabulary give the same documents.

    It draws only from ``Random.random``, whose sequence Python guarantees, and rounds only products with whole numbers.
    It therefore depends on no platform's mathematical functions.

    Example:
        >>> Author(seed=1).document(sections=2) == Author(seed=1).document(sections=2)
        True
    """

    def __init__(self, seed: int, vocabulary: Path = VOCABULARY) -> None:
        self._random = random.Random(seed).random
        tokens = vocabulary.read_text(encoding="utf-8").splitlines()
        # The vocabulary is sorted from frequent to rare, so weights by rank give Zipf's law.
        self._words = [token for token in tokens if token.isascii() and token.isalpha() and len(token) > 1]
        weights = (1_000_000 // (rank + 8) for rank in range(len(self._words)))
        self._cumulated = list(itertools.accumulate(weights))
        self._topic: list[str] = []

    def document(self, sections: int) -> str:
        """Return a document; each of its sections has a heading, paragraphs, and words that it repeats often."""
        return "\n\n".join(self._section() for _ in range(sections)) + "\n"

    def sentence(self) -> str:
        """Return a sentence, from its capital letter to its final punctuation, mostly of 8 to 30 words."""
        count = 4 + self._below(14) + self._below(14)
        words = [self._word() for _ in range(count)]
        for at in range(2, count - 2):
            if self._below(9) == 0:
                words[at] += ","
        if self._below(3) == 0:
            words[1 + self._below(count - 2)] = self._one_of(_ODDITIES)
        words[0] = words[0].capitalize()
        return " ".join(words) + self._one_of(_ENDS)

    def _section(self) -> str:
        self._topic = [self._one_of(self._words) for _ in range(24)]
        heading = " ".join(self._word().capitalize() for _ in range(2 + self._below(4)))
        return "\n\n".join([heading, *(self._paragraph() for _ in range(2 + self._below(4)))])

    def _paragraph(self) -> str:
        gap = "\n" if self._below(8) == 0 else " "  # a few paragraphs have a line for each sentence
        return gap.join(self.sentence() for _ in range(2 + self._below(7)))

    def _word(self) -> str:
        if self._topic and self._below(5) == 0:
            return self._one_of(self._topic)
        return self._words[bisect.bisect_right(self._cumulated, self._below(self._cumulated[-1]))]

    def _one_of(self, choices: list[str]) -> str:
        return choices[self._below(len(choices))]

    def _below(self, stop: int) -> int:
        return int(self._random() * stop)


def corpora() -> dict[str, list[str]]:
    """Return the documents of every workload, by the name of the corpus.

    ``articles`` is 0.2 MB in documents of 1 to 15 kB, ``few`` a quarter of these documents, and ``large`` all of them
    as one document. ``tiny`` is 1,000 documents of one sentence, ``small`` one document of about 6 kB, and ``leaflet``
    one document of three sentences.
    """
    author = Author(seed=20240229)
    articles = [author.document(sections=1 + number % 6) for number in range(32)]
    tiny = [author.sentence() for _ in range(1000)]
    large = "\n\n".join(articles)
    return {
        "articles": articles,
        "few": articles[:8],
        "large": [large],
        "tiny": tiny,
        "small": [author.document(sections=3)],
        "leaflet": [" ".join(author.sentence() for _ in range(3))],
    }
