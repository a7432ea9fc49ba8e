"""The words of blocks, which the noise model reads, as in csrc/parsing/block_words.h."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ...data.html_tags import word_hash
from ..text.graphemes import words_of_run

I64 = npt.NDArray[np.int64]


def block_words(
    text: npt.NDArray[np.uint8], offsets: I64, stop_words: str, marks: str, *, first: int, last: int
) -> tuple[I64, I64, I64, npt.NDArray[np.uint8], npt.NDArray[np.uint32]]:
    """Return the result of :func:`pychunk._engine.native.block_words`."""
    stops = frozenset(stop_words.split("\n"))
    data = text.tobytes()
    hashes: list[int] = []
    counted: list[tuple[int, int, int, bool]] = []
    for start, end in pairwise(offsets.tolist()):
        body = data[start:end].decode()
        words = body.split()
        size = sum(map(words_of_run, words))
        known = sum(map(stops.__contains__, words))
        if len(words) > first + last:
            words = words[:first] + words[len(words) - last :]
        codes = [word_hash(bare) for word in words if (bare := _bare(word, marks))]
        hashes += codes
        counted.append((size, known, len(codes), body.rstrip()[-1:] in ".!?\u2026:;"))
    found = np.array(counted, np.int64).reshape(-1, 4).T
    return found[0], found[1], found[2], found[3].astype(np.uint8), np.array(hashes, np.uint32)


def _bare(word: str, marks: str) -> str:
    """Return a word without marks at its ends. In a number, each digit becomes a zero."""
    bare = word.strip(marks)
    return "0" * len(bare) if bare.isdigit() else bare
