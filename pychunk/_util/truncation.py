"""Texts cut to a length without cutting words."""

from __future__ import annotations


def whole_words(text: str, characters: int) -> str:
    """The first words of a text, as many as fit; of one that fills more than half a part.

    >>> whole_words("Take it with food", 10), whole_words("Donaudampfschiff", 5), whole_words("ab", 5)
    ('Take it', 'Donau', 'ab')
    """
    if len(text) <= characters:
        return text
    cut = text.rfind(" ", 0, characters + 1)
    return text[:cut] if 2 * cut >= characters else text[:characters].rstrip()
