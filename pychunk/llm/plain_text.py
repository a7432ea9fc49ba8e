"""What a model wrote, as plain text: on one line, without characters that nobody sees, cut to a size."""

from __future__ import annotations

import unicodedata

from .._util.truncation import whole_words

#: Of the kinds that are taken out (control, format, surrogate, private, unassigned) what words of some scripts need:
#: the joiner and the non-joiner.
_KEPT = "\u200c\u200d"
_OUT = frozenset(("Cc", "Cf", "Cs", "Co", "Cn"))


def plain(text: str, characters: int) -> str:
    """The first words of a text, single spaces between them, at most so many characters.

    Example:
        >>> plain("Cats\\x00  purr\\n\\u202eloudly.\\ud800", 12), plain(" \\x07 ", 9)
        ('Cats purr', '')
    """
    spaced = " ".join(text[: 8 * characters + 1024].split())  # an answer of a megabyte is not looked at to its end
    seen = "".join(each for each in spaced if each in _KEPT or unicodedata.category(each) not in _OUT)
    return whole_words(" ".join(seen.split()), characters).strip(_KEPT + " ")
