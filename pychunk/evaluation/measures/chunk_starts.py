"""Measures of the beginnings of one document's chunks: short chunks, starts that refer back, positions of headings.

Spans are int[n, 2], start and end in characters. Chunks are in order and do not overlap.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...defaults import CHUNKS

I64 = npt.NDArray[np.int64]

_FIRST_WORDS = re.compile(r"[^\w]*(\w+(?:['’]\w+)?)(?:\s+(\w+))?(?:\s+(\w+))?(?:\s+(\w+))?")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Personal, possessive and demonstrative words that refer to something said before, in English and Ukrainian.
_PRONOUNS = _words(
    """he she it they him her them his hers its their theirs himself herself itself themselves this that these those
    such він вона воно вони його її їх їхній їхня їхнє їхні цей ця це ці цього цієї цих той те ті такий
    така таке такі"""
)
#: Words that connect a sentence with the one before it.
_CONNECTIVES = _words(
    """and but or nor so yet also then thus hence therefore however moreover furthermore nevertheless nonetheless
    otherwise instead besides meanwhile similarly likewise consequently accordingly additionally conversely
    subsequently afterwards thereafter still
    але проте однак тому отже також тоді натомість крім зокрема наприклад а і й або та втім"""
)
_PHRASES = frozenset(
    {"for example", "for instance", "in addition", "as a result", "in contrast", "by contrast", "after that"}
    | {"in other words", "on the other hand", "in this case", "at the same time", "the former", "the latter"}
    | {"because of this", "as such", "таким чином", "при цьому", "у цьому", "в цьому", "у зв'язку з цим"}
)


def refers_back(text: str) -> bool:
    """Return whether a text begins with a pronoun or a connective, so that it needs what was said before.

    The function looks up the first word in short lists, English and Ukrainian, and the first two to four words in a
    list of phrases. It skips marks and quotes before the first word. It uses no parser: "It rains" counts, "The ship"
    does not.

    Example:
        >>> [refers_back(text) for text in ("However, it sank.", "“They” sank.", "The ship sank.", "It's late.")]
        [True, True, False, True]
    """
    found = _FIRST_WORDS.match(text)
    if found is None:
        return False
    words = [word.lower().replace("’", "'") for word in found.groups() if word]
    if {words[0], words[0].split("'")[0]} & (_PRONOUNS | _CONNECTIVES):
        return True
    return any(" ".join(words[:count]) in _PHRASES for count in (2, 3, 4))


class HeadingPositions(NamedTuple):
    """The numbers of headings that begin their chunk, are all of it, end it, or are inside it.

    ``begin`` counts headings that are followed by text. ``behind`` counts headings inside a chunk that follow so little
    text that a cut before the heading would leave a short chunk.
    """

    begin: int
    alone: int
    end: int
    inside: int
    behind: int


def heading_places(text: str, headings: npt.ArrayLike, chunks: npt.ArrayLike) -> HeadingPositions:
    """Return the positions of headings in the chunks that hold their first characters.

    Headings outside all chunks are not counted. Headings with only white space between them are one run, which begins a
    chunk as a whole. If a title and a subtitle are at the top of a chunk, both begin it. Marks and digits before a run,
    such as a number on a line of its own, are part of it.

    A heading is alone if its chunk contains only headings of its run. It ends its chunk if other text comes first and
    only its run follows. A heading with text on both sides counts as ``behind`` if fewer than :data:`CHUNKS.short`
    characters of its chunk come before its run, else as ``inside``.

    Example:
        >>> text = "Life. Ada lived. Work. She wrote."
        >>> heading_places(text, [[0, 5], [17, 22]], chunks=[[0, 22], [23, 33]])
        HeadingPositions(begin=1, alone=0, end=1, inside=0, behind=0)
    """
    wanted, held = _spans(headings, "headings"), _spans(chunks, "chunks")
    counts = [0] * len(HeadingPositions._fields)
    own = holders(wanted[:, 0], held)
    first = 0
    while first < len(wanted):
        last = first
        while last + 1 < len(wanted) and not text[wanted[last, 1] : wanted[last + 1, 0]].strip():
            last += 1
        begin, end = wanted[first, 0], wanted[last, 1]
        for row in own[first : last + 1]:
            if row >= 0:
                above, closes = text[held[row, 0] : begin].strip(), held[row, 1] <= end
                if any(map(str.isalpha, above)):
                    counts[2 if closes else 4 if len(above) < CHUNKS.short else 3] += 1
                else:
                    counts[1 if closes else 0] += 1
        first = last + 1
    return HeadingPositions(*counts)


def holders(positions: npt.ArrayLike, chunks: npt.ArrayLike) -> I64:
    """Return the row of the chunk that holds each position, int64[positions], -1 for none.

    Example:
        >>> holders([0, 9, 10, 25], [[0, 10], [10, 20]])
        array([ 0,  0,  1, -1])
    """
    held, at = _spans(chunks, "chunks"), np.asarray(positions, np.int64)
    if not len(held):
        return np.full(at.shape, -1, np.int64)
    rows = np.searchsorted(held[:, 0], at, side="right") - 1
    return np.asarray(np.where((rows >= 0) & (at < held[rows, 1]), rows, -1), np.int64)


def _spans(spans: npt.ArrayLike, name: str) -> I64:
    found = np.asarray(spans, np.int64)
    if found.size == 0:
        return found.reshape(0, 2)
    if found.ndim != 2 or found.shape[1] != 2:
        raise ValueError(f"{name} must be an array [n, 2] with the start and end of each span; got shape {found.shape}")
    if (found[1:, 0] < found[:-1, 1]).any() or (found[:, 1] < found[:, 0]).any():
        before = np.append(found[0, 0], found[:-1, 1])
        row = int(np.flatnonzero((found[:, 0] < before) | (found[:, 1] < found[:, 0]))[0])
        after = f", after an end of {before[row]}" if found[row, 0] < before[row] else ""
        raise ValueError(
            f"{name} must be in order, not overlap, and have start <= end; got {found[row].tolist()} in row {row}"
            f"{after}"
        )
    return found
