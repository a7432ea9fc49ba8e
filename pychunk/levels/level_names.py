"""The names of levels, and the rules for which of them can be nested."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: The names of levels, from fine to coarse.
NAMES = ("sentence", "group", "paragraph", "subsection", "section", "page", "document")
#: The levels that can be combined because they are nested. BY_PAGE has those that can be combined with pages, BY_TOKENS
#: those with windows of tokens, and BY_STRUCTURE all that can be combined without either. A page may begin in the
#: middle of a paragraph. A window of tokens begins wherever the last one is full.
BY_STRUCTURE = ("sentence", "group", "paragraph", "subsection", "section", "document")
BY_PAGE = ("sentence", "group", "page", "document")
BY_TOKENS = ("sentence", "document")

Level = str | int
#: The column of a chunk table that lists the levels of a row.
LEVELS = "levels"


def check_levels(levels: Sequence[Any]) -> tuple[Level, ...]:
    """Return the requested levels from fine to coarse, with ``"sentence"`` as the finest even if not requested.

    Raises:
        ValueError: There are no levels, or some are unknown, out of order, named twice or not nested.

    Example:
        >>> check_levels(["paragraph", "document"]), check_levels(["128", 256])
        (('sentence', 'paragraph', 'document'), ('sentence', 128, 256))
    """
    if isinstance(levels, (str, bytes)) or not isinstance(levels, Sequence):
        raise ValueError(f"levels must be a list of {_known()}; got {levels!r:.80}")
    if not levels:
        raise ValueError(f"levels must name at least one of {_known()}; got none")
    found = tuple(map(_level, levels))
    if found[0] != "sentence":
        found = ("sentence", *found)
    windows = [level for level in found if isinstance(level, int)]
    named = [level for level in found if isinstance(level, str)]
    places = [len(NAMES) - 1.5 if isinstance(level, int) else NAMES.index(level) for level in found]
    if windows:
        _check_nested(named, BY_TOKENS, "windows of tokens can be combined")
    elif "page" in named:
        _check_nested(named, BY_PAGE, "level 'page' can be combined")
    if places != sorted(places) or windows != sorted(set(windows)) or len(named) > len(set(named)):
        order = f"{', '.join(NAMES[:-1])}, numbers of tokens from small to large, {NAMES[-1]}"
        raise ValueError(f"levels must go from fine to coarse, each once: {order}; got {_told(levels)}")
    return found


def rank_of(name: str) -> tuple[int, int]:
    """Return the sort key of a level's name, from fine to coarse.

    Trees come after the levels up to ``"section"``, then numbers of tokens. Both are sorted by their number.

    Example:
        >>> sorted(["document", "256", "tree 2", "128", "sentence"], key=rank_of)
        ['sentence', 'tree 2', '128', '256', 'document']
    """
    if name in NAMES:
        return (NAMES.index(name) if name not in ("page", "document") else len(NAMES) + NAMES.index(name)), 0
    digits = "".join(filter(str.isdigit, name))
    return len(NAMES) + (0 if name.startswith("tree") else 1), int(digits or 0)


def _check_nested(named: list[str], fit: tuple[str, ...], which: str) -> None:
    others = [level for level in named if level not in fit]
    if others:
        own = ", ".join(level for level in fit if level != "page")
        raise ValueError(
            f"levels must be nested: {which} only with {own}; got {', '.join(others)} in addition: leave "
            f"{'it' if len(others) == 1 else 'them'} out"
        )


def _level(level: Any) -> Level:
    if isinstance(level, str) and level.isascii() and level.isdigit():
        level = int(level)
    if isinstance(level, int) and not isinstance(level, bool) and 0 < level < 2**62:
        return level
    if isinstance(level, str) and level in NAMES:
        return level
    raise ValueError(f"unknown level {level!r:.80}; the levels are {_known()}: choose from these")


def _known() -> str:
    return f"{', '.join(NAMES)}, or numbers of tokens, such as 128, 256, 512"


def _told(levels: Sequence[Level]) -> str:
    return ", ".join(map(str, levels))
