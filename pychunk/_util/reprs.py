"""What fits a line: reprs of things that hold a long text."""

from __future__ import annotations

from typing import Any

#: Characters of a repr at most.
WIDTH = 100


def one_line(name: str, facts: dict[str, Any], text: str) -> str:
    """``name(fact=value, ..., text='...')`` with as much of the text as fits in ``WIDTH``; None and "" are left out."""
    said = [f"{key}={quoted(value, 32)}" for key, value in facts.items() if value is not None and value != ""]
    head = f"{name}({', '.join(said)}{', ' if said else ''}text="
    return f"{head}{quoted(text, max(WIDTH - len(head) - 1, 16))})"


def quoted(value: Any, room: int) -> str:
    """``repr(value)`` in at most ``room`` characters, with dots for what is left out of its end."""
    if not isinstance(value, str):
        shown = repr(value)
        return shown if len(shown) <= room else shown[: room - 3] + "..."
    shown = repr(value[:room])
    if len(value) <= room and len(shown) <= room:
        return shown
    kept = value[: room - 5]
    while len(repr(kept)) > room - 3:  # a character that is escaped takes up to ten
        kept = kept[: len(kept) - max(1, (len(repr(kept)) - room + 3) // 10)]
    return repr(kept + "...")
