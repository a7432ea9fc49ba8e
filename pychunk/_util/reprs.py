"""The shortening of texts: one-line reprs of objects that hold a long text, and truncation at word boundaries."""

from __future__ import annotations

from typing import Any

#: The most characters of a repr.
WIDTH = 120


def one_line(name: str, facts: dict[str, Any], text: str) -> str:
    """Return ``name(fact=value, ..., text='...')`` with as much of the text as fits in ``WIDTH``.

    Facts that are None or "" are omitted.
    """
    said = [f"{key}={quoted(value, 32)}" for key, value in facts.items() if value is not None and value != ""]
    head = f"{name}({', '.join(said)}{', ' if said else ''}text="
    return f"{head}{quoted(text, max(WIDTH - len(head) - 1, 16))})"


def quoted(value: Any, room: int) -> str:
    """Return ``repr(value)``, cut to at most ``room`` characters; three dots mark the end of a value that was cut."""
    if not isinstance(value, str):
        shown = repr(value)
        return shown if len(shown) <= room else shown[: room - 3] + "..."
    shown = repr(value[:room])
    if len(value) <= room and len(shown) <= room:
        return shown
    kept = value[: room - 5]
    while len(repr(kept)) > room - 3:  # The escape of one character, such as \U0001f600, takes up to ten characters.
        kept = kept[: len(kept) - max(1, (len(repr(kept)) - room + 3) // 10)]
    return repr(kept + "...")


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
