"""The one-line reprs of objects that hold a long text."""

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
