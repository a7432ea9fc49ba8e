"""The Unicode tables of the running Python in the form of the native core, so that both use one version of Unicode."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

import numpy as np
import numpy.typing as npt

from ..._engine import native
from . import character_tables

U32 = npt.NDArray[np.uint32]

#: The characters that do not change a word and are removed after normalization: stress marks and other accents that do
#: not make another letter, Hebrew points, Arabic vowel signs and tatweel (which only stretches a word), soft hyphens,
#: joiners, direction marks and variation selectors.
IGNORED = (
    *((0x00AD, 0x00AD), (0x0300, 0x036F), (0x0483, 0x0487), (0x0591, 0x05BD), (0x05BF, 0x05BF), (0x05C1, 0x05C2)),
    *((0x05C4, 0x05C5), (0x05C7, 0x05C7), (0x0610, 0x061A), (0x061C, 0x061C), (0x0640, 0x0640), (0x064B, 0x0652)),
    *((0x0670, 0x0670), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x200C, 0x200F), (0x202A, 0x202E), (0x2060, 0x2064)),
    *((0x20D0, 0x20FF), (0xFE00, 0xFE0F), (0xFE20, 0xFE2F), (0xFEFF, 0xFEFF), (0xE0100, 0xE01EF)),
)
#: The letters of Chinese, Japanese and Korean, in which words are written without spaces, or with particles attached:
#: ideographs and their signs, Hiragana, Katakana, Bopomofo and Hangul syllables.
UNSPACED = (
    *((0x3005, 0x3007), (0x3021, 0x3029), (0x3031, 0x3035), (0x3038, 0x303C), (0x3041, 0x3096), (0x309D, 0x309F)),
    *((0x30A1, 0x30FA), (0x30FC, 0x30FF), (0x3105, 0x312F), (0x31A0, 0x31BF), (0x31F0, 0x31FF), (0x3400, 0x4DBF)),
    *((0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0x1AFF0, 0x1B16F), (0x20000, 0x3FFFF)),
)
#: The letters of Thai, Lao, Tibetan, Burmese, Khmer and related scripts, which have no space between words. They form
#: pairs and triples since version 4 (see :data:`pychunk.index.lexical.analyzer.VERSION`). A Thai word has about four
#: letters. Of XQuAD's Thai questions, 0.946 find their paragraph first with triples, and 0.931 without.
TRIPLED = (
    *((0x0E01, 0x0E30), (0x0E32, 0x0E33), (0x0E40, 0x0E46), (0x0E81, 0x0E82), (0x0E84, 0x0E84), (0x0E86, 0x0E8A)),
    *((0x0E8C, 0x0EA3), (0x0EA5, 0x0EA5), (0x0EA7, 0x0EB0), (0x0EB2, 0x0EB3), (0x0EBD, 0x0EBD), (0x0EC0, 0x0EC4)),
    *((0x0EC6, 0x0EC6), (0x0EDC, 0x0EDF), (0x0F00, 0x0F00), (0x0F40, 0x0F47), (0x0F49, 0x0F6C), (0x0F88, 0x0F8C)),
    *((0x1000, 0x102A), (0x103F, 0x103F), (0x1050, 0x1055), (0x105A, 0x105D), (0x1061, 0x1061), (0x1065, 0x1066)),
    *((0x106E, 0x1070), (0x1075, 0x1081), (0x108E, 0x108E), (0x1780, 0x17B3), (0x17D7, 0x17D7), (0x17DC, 0x17DC)),
    *((0x1950, 0x196D), (0x1970, 0x1974), (0x1980, 0x19AB), (0x19B0, 0x19C9), (0x1A20, 0x1A54), (0x1AA7, 0x1AA7)),
    *((0x1B05, 0x1B33), (0x1B45, 0x1B4C), (0xA984, 0xA9B2), (0xA9CF, 0xA9CF), (0xA9E0, 0xA9E4), (0xA9E6, 0xA9EF)),
    *((0xA9FA, 0xA9FE), (0xAA60, 0xAA76), (0xAA7A, 0xAA7A), (0xAA7E, 0xAAAF), (0xAAB1, 0xAAB1), (0xAAB5, 0xAAB6)),
    *((0xAAB9, 0xAABD), (0xAAC0, 0xAAC0), (0xAAC2, 0xAAC2), (0xAADB, 0xAADD)),
)
#: The characters that are removed if diacritics are folded. They include hamza and madda, which in Arabic make another
#: letter.
_DIACRITICS = (*IGNORED, (0x0653, 0x0655))
#: The usual spelling of letters on keyboards that lack them.
_WRITTEN = {"æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "ı": "i", "ŋ": "n"}
_WITH = re.compile(r"((?:LATIN|CYRILLIC) SMALL LETTER \w+) WITH ")
#: The pages of 256 characters with letters whose addition, such as a stroke, shows only in their Unicode name
#: (:func:`_without`).
_NAMED = {*range(0, 0x2000, 256), 0x2C00, 0xA700}


@cache
def _tables() -> dict[str, U32]:
    """Return the tables of :mod:`.character_tables` for this Python's version of Unicode.

    They are those of the extension if it was built with the same version, else new ones.
    """
    found = native.python_tables(unicodedata.unidata_version)
    if found is not None:
        return found
    return {name: np.array(table, np.uint32) for name, table in character_tables.made(_every()).items()}


@cache
def marks() -> tuple[tuple[int, int], ...]:
    """Return the ranges (first, last) of marks that belong to the word before them."""
    bounds = _tables()["marks"].tolist()
    return tuple(zip(bounds[::2], bounds[1::2], strict=True))


@cache
def plain_letters() -> dict[int, str]:
    """Return the table for ``str.translate`` that removes diacritics from folded text, by code point.

    Making it takes 0.1 s. A letter loses the marks that it is composed of if they are diacritics (é, й, أ). It also
    loses a stroke, a hook or another addition that its Unicode name states (ø, ł, қ). Some other letters are spelled as
    on a keyboard that lacks them (æ). Voicing marks of kana and the vowel signs of Indic scripts stay, because they
    make another letter.
    """
    dropped = {point: None for first, last in _DIACRITICS for point in range(first, last + 1)}
    found = {}
    every = _every(0x110000)  # All planes are needed, because the last ones have marks that are removed.
    for first in range(0, len(every), 256):  # Most pages of 256 characters have none that changes, and are skipped.
        page = every[first : first + 256]
        same = unicodedata.normalize("NFD", page).translate(dropped) == page
        if first in character_tables.HANGUL or (same and first not in _NAMED):
            continue
        for c in page:
            to = unicodedata.normalize("NFD", c).translate(dropped)
            to = unicodedata.normalize("NFC", "".join(map(_without, to)))
            if to != unicodedata.normalize("NFC", c):
                found[ord(c)] = to
    return found


def _without(c: str) -> str:
    """Return a letter without the addition that its Unicode name states after "WITH", or in its keyboard spelling."""
    if c in _WRITTEN:
        return _WRITTEN[c]
    named = _WITH.match(unicodedata.name(c, ""))
    try:
        return unicodedata.lookup(named[1]) if named else c
    except KeyError:  # There is no letter without the addition, so this letter stays.
        return c


def unspaced(version: int) -> tuple[tuple[int, int], ...]:
    """Return the ranges of letters whose singles and pairs are terms in a version of the analysis."""
    return UNSPACED if version < 4 else UNSPACED + TRIPLED


@cache
def word_characters(version: int, *, pairs: bool = False) -> native.WordCharacters:
    """Return the characters that form words in a version of the analysis. They are made once in a process.

    See :data:`pychunk.index.lexical.analyzer.VERSION`. With ``pairs``, the result also says which letters form pairs
    and triples.
    """
    tables, none = _tables(), np.empty(0, np.uint32)
    paired = np.array(UNSPACED, np.uint32).ravel() if pairs else none
    tripled = np.array(TRIPLED, np.uint32).ravel() if pairs and version > 3 else none
    return native.WordCharacters(tables["letters"], tables["marks"] if version > 1 else none, paired, tripled)


@cache
def canonical() -> native.Folding:
    """Return the tables with which the native core normalizes texts to NFC. They are made once in a process.

    Example:
        >>> text = np.frombuffer("A cafe\u0301".encode(), np.uint8)
        >>> bytes(canonical().fold(text, np.array([0, len(text)]))[0]).decode()
        'A café'
    """
    tables, decompositions, none = _tables(), list[int](), np.empty(0, np.uint32)
    rows = tables["decompositions"].tolist()
    at = 0
    while at < len(
        rows
    ):  # The characters that have a compatibility decomposition include all that have a canonical one.
        character = chr(rows[at])
        at += 2 + rows[at + 1]
        if (to := unicodedata.normalize("NFD", character)) != character:
            character_tables.add(decompositions, character, to)
    found = np.array(decompositions, np.uint32)
    return native.Folding(none, found, tables["classes"], tables["compositions"], none, none)


@cache
def folding(*, diacritics: bool = False) -> native.Folding:
    """Return the tables with which the native core does what :func:`pychunk.index.lexical.analyzer.folded` does.

    They are made once in a process, in 5 ms. With ``diacritics``, the core also does what
    :func:`pychunk.index.lexical.analyzer.without_diacritics` does.
    """
    ignored = np.array(_DIACRITICS if diacritics else IGNORED, np.uint32).ravel()
    plain: list[int] = []
    if diacritics:
        for point, to in plain_letters().items():
            if to:  # Characters that become nothing are already in ``ignored``.
                character_tables.add(plain, chr(point), to)
    cases, decompositions, classes, compositions = map(
        _tables().__getitem__, ("cases", "decompositions", "classes", "compositions")
    )
    return native.Folding(cases, decompositions, classes, compositions, ignored, np.array(plain, np.uint32))


@cache
def _every(last: int = character_tables.LAST) -> str:
    """Return a string of all code points below ``last`` in order.

    By default it includes all code points that are letters, or that folding changes, in any version of Unicode.
    """
    codes = np.arange(last, dtype="<u4")
    before, after = (part.tobytes().decode("utf-32-le") for part in (codes[:0xD800], codes[0xE000:]))
    # Surrogates are made by chr, because decoding them with an error handler would take most of the time.
    return before + "".join(map(chr, range(0xD800, 0xE000))) + after
