"""The documents that are not English, by their scripts and by the trigrams of their words."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._engine.arrow import strings
from . import languages

U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]

#: The bytes of a document that are examined, and those of each end of them whose language is.
BYTES, _END = 4096, 512
#: The fewest letters from which the language of a text in Latin letters, or in other ones, is certain enough.
_LATIN, _OTHERS = 100, 4
#: The share of bytes beyond ASCII from which on a text may be in another script, although its words are English.
_BEYOND_ASCII = 0.1
#: The most punctuation for each letter: sentences, letters and recipes have 0.05 to 0.2, code 0.3.
_PUNCTUATION = 0.25
#: Code, tags and addresses, whose words are of no language, and what a text that has some has.
_MARKUP, _SIGN = re.compile(rb"```.*?(?:```|\Z)|`[^`\n]*`|<[^<>]*>|\w{2,8}://\S+", re.DOTALL), re.compile(rb"[`<]|://")


def foreign_languages(text: U8, offsets: I64, threads: int = 1) -> list[str | None]:
    """Return the language of each document that is certainly not English, and None for each other document.

    Code, tags and addresses do not count. If most letters are of another script than the Latin one, four are enough.
    A document in Latin letters must have 100, and less punctuation than code, and both ends of its first 4 KiB must be
    in the same language.

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
    rows, texts = [], []
    for row, language in enumerate(languages.load().detect(strings(text, offsets), threads).to_pylist()):
        own = text[offsets[row] : min(offsets[row + 1], offsets[row] + BYTES)]
        if language != "en" or np.count_nonzero(own >= 0x80) > _BEYOND_ASCII * len(own):
            rows.append(row)
            texts.append(_without_markup(own.tobytes()))
    latin, others, marks = _counts(texts)
    is_latin = latin >= others
    is_certain = np.where(is_latin, (latin >= _LATIN) & (marks <= _PUNCTUATION * latin), others >= _OTHERS)
    ends = [end for each in texts for end in (each[: min(_END, len(each) // 2)], each[len(each) // 2 :][-_END:])]
    shown = pa.array([end.decode(errors="ignore") for end in ends], pa.large_string())
    found = languages.load().detect(shown, threads).to_pylist()
    for row, first, last, alike, certain in zip(rows, found[::2], found[1::2], is_latin, is_certain, strict=True):
        language = (first if first == last else None) if alike else first or last
        if certain and language != "en":
            out[row] = language
    return out


def _without_markup(text: bytes) -> bytes:
    return _MARKUP.sub(b" ", text) if _SIGN.search(text) else text


def _counts(texts: Sequence[bytes]) -> list[I64]:
    """Return the numbers of Latin letters, of other letters, and of punctuation and symbols in each text."""
    data = np.frombuffer(b"".join(texts), np.uint8)
    kinds = _KINDS[data]
    if len(data) > 1:  # Vietnamese letters, U+1E00 to U+1EFF, have a first byte that Indic ones have, too
        kinds[:-1][(data[:-1] == 0xE1) & (data[1:] >= 0xB8) & (data[1:] <= 0xBB)] = 1
    at = np.cumsum([0, *map(len, texts)])
    return [np.diff(np.concatenate([[0], np.cumsum(kinds == kind)])[at]) for kind in (1, 2, 3)]


def _kinds() -> U8:
    """Return the kind of a character by its first byte, uint8[256]: 1 Latin letter, 2 other letter, 3 mark, 0 none."""
    kinds = np.zeros(256, np.uint8)
    kinds[[byte for byte in range(128) if chr(byte).isalpha()]] = 1
    kinds[0xC3:0xCC] = 1  # U+00C0 to U+02FF: additions to the Latin script, and phonetic letters
    kinds[0xCE:0xE2] = kinds[0xE3:0xEE] = 2  # from Greek on, and East Asia
    kinds[[byte for byte in range(0x21, 0x7F) if not chr(byte).isalnum()]] = 3
    kinds[[0xC2, 0xE2, 0xEE, 0xEF, 0xF0]] = 3  # signs, dashes, arrows, boxes, private characters, emoji
    return kinds


_KINDS = _kinds()
#: The share of letters and white space in prose, which is lower in code, logs and tables.
_PROSE = 0.9


def is_prose(text: U8) -> bool:
    """Return whether nine of ten bytes of a text are letters or white space, which are fewer in code and tables."""
    return float(np.mean(_LETTERS[text])) >= _PROSE


_LETTERS = np.array([byte >= 0x80 or chr(byte).isalpha() or chr(byte).isspace() for byte in range(256)])
