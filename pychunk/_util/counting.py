"""Numbers with their nouns, in messages."""

from __future__ import annotations


def counted(number: int, noun: str, several: str = "") -> str:
    """Return a number with its noun; ``several`` is an irregular plural.

    >>> counted(1, "shard"), counted(1200, "shard"), counted(2, "query", "queries")
    ('1 shard', '1,200 shards', '2 queries')
    """
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"
