"""The documents that are not English, by their scripts, the trigrams of their words, and their share of letters."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine.arrow import strings
from . import languages

U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]

#: The bytes that are examined at the start of a document.
BYTES = 4096
#: The fewest bytes of a document in Latin letters whose language is certain enough.
_FEWEST = 200
#: The share of letters and white space in prose, which is lower in code, logs and tables, and the share of bytes of
#: other letters from which on a text is not in Latin ones.
_PROSE, _OTHER_SCRIPT = 0.9, 0.4
_LETTERS = np.array([byte >= 0x80 or chr(byte).isalpha() or chr(byte).isspace() for byte in range(256)])


def foreign_languages(text: U8, offsets: I64, threads: int = 1) -> list[str | None]:
    """Return the language of each document that is certainly not English, and None for each other document.

    In Latin letters, a document must be prose, and it and both halves of it must be in the same language.

    Args:
        text: The text of all documents.
        offsets: The first byte of each of k documents in ``text``, and the end of the last one, int64[k + 1].
        threads: The number of threads.

    Example:
        >>> from pychunk._engine.arrow import flat_text
        >>> foreign_languages(*flat_text(pa.array(["Where is it?", "Где вокзал?", ""], pa.large_string())))
        [None, 'ru', None]
    """
    found = _codes(strings(text, offsets), threads)
    for row in (row for row, code in enumerate(found) if code is not None):
        own = text[offsets[row] : min(offsets[row + 1], offsets[row] + BYTES)]
        if np.mean(own >= 0x80) <= _OTHER_SCRIPT and not _is_prose(own, found[row]):
            found[row] = None
    return found


def _codes(texts: pa.LargeStringArray, threads: int = 1) -> list[str | None]:
    codes = languages.load().detect(texts, threads).to_pylist()
    return [None if code == "en" else code for code in codes]


def _is_prose(text: U8, language: str | None) -> bool:
    """Return whether a text in Latin letters is long enough and prose, and both its halves are in its language."""
    if len(text) < _FEWEST or np.mean(_LETTERS[text]) < _PROSE:
        return False
    half = len(text) // 2
    halves = [bytes(part).decode(errors="ignore") for part in (text[:half], text[half:])]
    return _codes(pa.array(halves, pa.large_string())) == [language] * 2
