"""The truncation of texts at word boundaries."""

from __future__ import annotations


def whole_words(text: str, characters: int) -> str:
    """Return the first words of a text, as many as fit into a number of characters.

    If whole words would fill less than half of ``characters``, the next word is cut to fill the rest.

    >>> whole_words("Take it with food", 10), whole_words("Donaudampfschiff", 5), whole_words("ab", 5)
    ('Take it', 'Donau', 'ab')
    """
    if len(text) <= characters:
        return text
    cut = text.rfind(" ", 0, characters + 1)
    return text[:cut] if 2 * cut >= characters else text[:characters].rstrip()
