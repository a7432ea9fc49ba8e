"""The reduction of a model's text to one line of plain text without invisible characters, of limited length."""

from __future__ import annotations

import unicodedata

from .._util.reprs import whole_words

#: The zero-width non-joiner and joiner, which words of some scripts need. plain() removes all other characters of the
#: categories below (control, format, surrogate, private, unassigned).
_KEPT = "\u200c\u200d"
_OUT = frozenset(("Cc", "Cf", "Cs", "Co", "Cn"))


def plain(text: str, characters: int) -> str:
    r"""Return the first words of a text with single spaces between them, up to a number of characters.

    Example:
        >>> plain("Cats\x00  purr\n\u202eloudly.\ud800", 12), plain(" \x07 ", 9)
        ('Cats purr', '')
    """
    spaced = " ".join(text[: 8 * characters + 1024].split())  # bounds the work on an answer of a megabyte
    seen = "".join(each for each in spaced if each in _KEPT or unicodedata.category(each) not in _OUT)
    return whole_words(" ".join(seen.split()), characters).strip(_KEPT + " ")
