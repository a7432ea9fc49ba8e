"""The tail of a sentence, which the next chunk repeats if the whole sentence is longer than the overlap."""

from __future__ import annotations

from collections.abc import Callable

from .document import Document, trim

_WIDE = "、，；："
_CLAUSE = ",;:–—،؛" + _WIDE


def tail_of(text: str, begin: int, end: int, most: int, measure: Callable[[str], int]) -> tuple[int, int] | None:
    """Return (begin, length) of the tail of a sentence, at most ``most`` long, or None if no word fits.

    The tail consists of whole words. It begins with a clause, if a clause begins in the first half of the words that
    fit.
    """
    begin, end = trim(text, begin, end)
    starts = [
        at
        for at in range(begin + 1, end)
        if not text[at].isspace() and (text[at - 1].isspace() or text[at - 1] in _WIDE)
    ]
    starts = starts[::-1][:most]
    low, high = 0, len(starts)
    while low < high:  # bisection, because a tail that begins with a later word is shorter
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
    """Return a function that measures the tail of the sentence before a sentence, with 0 for no tail."""

    def tail(s: int) -> int:
        plan = d.plan
        found = tail_of(d.text, d.starts[s - 1], d.ends[s - 1], plan.overlap, lambda text: d.measure(text, plan.unit))
        return 0 if found is None else found[1]

    return tail
