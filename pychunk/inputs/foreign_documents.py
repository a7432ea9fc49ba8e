"""The documents that are not English, by their scripts and by the trigrams of their words."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine.arrow import strings
from . import languages

U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]

#: The bytes that are examined at the start of a document.
BYTES = 4096
#: The fewest letters from which the language of a text in Latin letters, or in other ones, is certain enough.
_LATIN, _OTHERS = 100, 4
#: The share of bytes beyond ASCII from which on a text may be in another script, although its words are English.
_BEYOND_ASCII = 0.1
#: Code, tags and addresses, whose words are of no language.
_MARKUP = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|<[^<>]*>|\w{2,8}://\S+", re.DOTALL)
#: The most punctuation in a text of sentences, digits aside: letters and recipes have 0.07 to 0.13, code 0.19.
_PUNCTUATION = 0.17
_NO_TEXT, _MARKS = re.compile(r"\d+|\s(?=\s)"), re.compile(r"[^\w\s]|_")
_NO_LETTERS = re.compile(r"[\W\d_]+")
#: Letters of the Latin script with their additions, and those of phonetic transcription.
_NOT_LATIN = re.compile("[^A-Za-z\u00aa\u00ba\u00c0-\u02b8\u1d00-\u1eff\ua720-\ua7ff]+")


def foreign_languages(text: U8, offsets: I64, threads: int = 1) -> list[str | None]:
    """Return the language of each document that is certainly not English, and None for each other document.

    Code, tags and addresses do not count. If most letters are of another script than the Latin one, four are enough.
    A document in Latin letters must have 100 and less punctuation than code, and it and both halves of its first 4 KiB
    must be in the same language.

    Args:
        text: The text of all documents.
        offsets: The first byte of each of k documents in ``text``, and the end of the last one, int64[k + 1].
        threads: The number of threads.

    Example:
        >>> from pychunk._engine.arrow import flat_text
        >>> foreign_languages(*flat_text(pa.array(["Where is it?", "Где вокзал?", ""], pa.large_string())))
        [None, 'ru', None]
    """
    out: list[str | None] = [None] * (len(offsets) - 1)
    if not (text[offsets[0] : offsets[-1]] >= 0x80).any() and np.diff(offsets).max(initial=0) < _LATIN:
        return out  # before Arrow makes its first array, for which it loads pandas
    found = languages.load().detect(strings(text, offsets), threads).to_pylist()
    rows, parts = [], []
    for row, language in enumerate(found):
        own = text[offsets[row] : min(offsets[row + 1], offsets[row] + BYTES)]
        if language != "en" or np.mean(own >= 0x80) > _BEYOND_ASCII:
            words = _MARKUP.sub(" ", bytes(own).decode(errors="ignore"))
            rows.append(row)
            parts += [words, words[: len(words) // 2], words[len(words) // 2 :]]
    codes = languages.load().detect(pa.array(parts, pa.large_string()), threads).to_pylist()
    for at, row in enumerate(rows):
        whole, *halves = codes[3 * at : 3 * at + 3]
        if whole not in (None, "en") and _is_certain(parts[3 * at], halves == [whole] * 2):
            out[row] = whole
    return out


def _is_certain(words: str, halves_agree: bool) -> bool:
    """Return whether a text without markup has letters enough to tell its language."""
    letters = _NO_LETTERS.sub("", words)
    latin = len(_NOT_LATIN.sub("", letters))
    others = len(letters) - latin
    if others > latin:
        return others >= _OTHERS
    text = _NO_TEXT.sub("", words)
    return latin >= _LATIN and halves_agree and len(_MARKS.findall(text)) <= _PUNCTUATION * len(text)


#: The share of letters and white space in prose, which is lower in code, logs and tables.
_PROSE = 0.9


def is_prose(text: U8) -> bool:
    """Return whether nine of ten bytes of a text are letters or white space, which are fewer in code and tables."""
    return float(np.mean(_LETTERS[text])) >= _PROSE


_LETTERS = np.array([byte >= 0x80 or chr(byte).isalpha() or chr(byte).isspace() for byte in range(256)])
