"""Byte-level BPE by its definition: the regular expression of the pattern, then one merge after the other.

The classes of characters come from the core's tables, because Python's ``re`` has no Unicode categories.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import pairwise

from ... import native
from ...data.patterns import PATTERNS

#: The flags of csrc/text/categories.h that a class of the patterns has.
_FLAGS = {"Lu": 1, "Lt": 1, "Ll": 2, "Lm": 4, "Lo": 4, "L": 7, "M": 8, "N": 16, "s": 32}


@cache
def _characters(name: str) -> str:
    """Return the ranges of a class, as they are written between square brackets."""
    runs, found = native.category_runs(), ""
    for first, last, flags in zip(runs[::3], runs[1::3], runs[2::3], strict=True):
        if flags & _FLAGS[name]:
            found += f"\\U{first:08x}-\\U{last:08x}"
    return found


@cache
def expression(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern, with its classes written as ranges of characters."""
    found, in_class = "", False
    for part in re.findall(r"\\p\{\w+\}|\\.|.", PATTERNS[pattern][0]):
        name = part[3:-1] if part.startswith(r"\p") else "s" if part == r"\s" else None
        if name is not None:
            found += _characters(name) if in_class else f"[{_characters(name)}]"
        elif part == r"\S":
            found += f"[^{_characters('s')}]"
        else:
            in_class = part == "[" or (in_class and part != "]")
            found += r"\Z" if part == "$" else part
    return re.compile(found)


def pretokens(text: str, pattern: str) -> list[str]:
    """Divide a text by a pattern."""
    return [match.group() for match in expression(pattern).finditer(text)]


def merged(word: bytes, rank_of: Callable[[bytes, bytes], int | None]) -> list[bytes]:
    """Merge the bytes of a word: always the pair of neighbours with the lowest rank, of equal pairs the first."""
    parts = [word[i : i + 1] for i in range(len(word))]
    while True:
        ranks = [(rank_of(left, right), i) for i, (left, right) in enumerate(pairwise(parts))]
        found = [(rank, i) for rank, i in ranks if rank is not None]
        if not found:
            return parts
        _, at = min(found)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


def encode(
    text: str,
    ids: Mapping[bytes, int],
    pattern: str,
    merges: Mapping[tuple[bytes, bytes], int] | None = None,
    whole_words: bool = True,
) -> list[tuple[int, int, int]]:
    """Return the tokens of a text: the id, and the byte at which the token begins and ends.

    Args:
        text: The text.
        ids: The id of each token.
        pattern: The name of the pattern.
        merges: The rank of each pair that merges. None: the rank of a pair is the id of the token that it becomes.
        whole_words: Whether a pre-token that equals a token is that token without merges.
    """

    def rank_of(left: bytes, right: bytes) -> int | None:
        return ids.get(left + right) if merges is None else merges.get((left, right))

    found, at = [], 0
    for pretoken in pretokens(text, pattern):
        word = pretoken.encode()
        for part in [word] if whole_words and word in ids else merged(word, rank_of):
            found.append((ids[part], at, at + len(part)))
            at += len(part)
    return found
