"""The tail of a sentence that the next chunk repeats if the whole sentence is longer than the overlap."""

from __future__ import annotations

from collections.abc import Callable

from .document import Document, trim

_WIDE = "、，；："
_CLAUSE = ",;:–—،؛" + _WIDE


def tail_of(text: str, begin: int, end: int, most: int, measure: Callable[[str], int]) -> tuple[int, int] | None:
    """Return (begin, length) of the tail: whole words, from a clause on if one begins in its first half."""
    begin, end = trim(text, begin, end)
    starts = [
        at
        for at in range(begin + 1, end)
        if not text[at].isspace() and (text[at - 1].isspace() or text[at - 1] in _WIDE)
    ]
    starts = starts[::-1][:most]
    low, high = 0, len(starts)
    while low < high:  # the text after a word is shorter than the text that begins with it
        middle = (low + high) // 2
        if measure(text[starts[middle] : end]) <= most:
            low = middle + 1
        else:
            high = middle
    fitting = starts[:low][::-1]
    for at in fitting:
        if text[:at].rstrip()[-1] in _CLAUSE:
            if 2 * measure(text[at:end]) >= most:
                return at, measure(text[at:end])
            break
    return (fitting[0], measure(text[fitting[0] : end])) if fitting else None


def tails(d: Document) -> Callable[[int], int]:
    """Return a function that measures the tail before a sentence, 0 if there is none."""

    def tail(s: int) -> int:
        plan = d.plan
        found = tail_of(d.text, d.starts[s - 1], d.ends[s - 1], plan.overlap, lambda text: d.measure(text, plan.unit))
        return 0 if found is None else found[1]

    return tail
