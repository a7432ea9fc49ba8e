"""The language of a text, step by step; see csrc/text/languages.h."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_PARTS, _PART = 4, 512
_MASK = 0xFFFFFFFF


def class_of(a: int, b: int, c: int, bits: int) -> int:
    """Return the class of a trigram of code points, of ``2 ** bits``."""
    value = (a * 0x9E3779B1 & _MASK) ^ (b * 0x85EBCA77 & _MASK) ^ (c * 0xC2B2AE3D & _MASK)
    value = (value ^ value >> 15) * 0x2C1B3C6D & _MASK
    return value >> (32 - bits)


def parts(text: bytes) -> list[bytes]:
    """Return the parts of a text that are read."""
    if len(text) <= _PARTS * _PART:
        return [text]
    found = []
    for part in range(_PARTS):
        begin = (len(text) - _PART) // (_PARTS - 1) * part
        end = begin + _PART
        while begin > 0 and text[begin] & 0xC0 == 0x80:
            begin -= 1
        while end < len(text) and text[end] & 0xC0 == 0x80:
            end += 1
        found.append(text[begin:end])
    return found


def detect(
    text: str,
    letters: npt.NDArray[np.uint32],
    lower: npt.NDArray[np.uint32],
    alone: npt.NDArray[np.uint8],
    written_in: npt.NDArray[np.uint8],
    weights: npt.NDArray[np.int8],
) -> int:
    """Return the number of a text's language, or -1 if it has no letters."""
    script_of = {c: script for first, last, script in letters.tolist() for c in range(first, last + 1)}
    small = dict(lower.tolist())
    counts = [0] * len(written_in)
    words: list[tuple[int, list[int]]] = []
    for part in parts(text.encode()):
        before = None
        for c in map(ord, part.decode()):
            script = script_of.get(c)
            if script is not None:
                counts[script] += 1
                if script != before or alone[script]:
                    words.append((script, []))
                words[-1][1].append(small.get(c, c))
            before = script
    if not any(counts):
        return -1
    best = max(range(len(counts)), key=lambda script: (counts[script] * (1 if script == 0 else 2), -script))
    sums = weights[:0].astype(int).sum(axis=0)
    if written_in[best].sum() > 1:
        for script, word in words:
            if script == best:
                padded = [ord(" "), *word, ord(" ")]
                for trigram in zip(padded, padded[1:], padded[2:], strict=False):
                    sums += weights[class_of(*trigram, len(weights).bit_length() - 1)]
    possible = [at for at, flag in enumerate(written_in[best]) if flag]
    return max(possible, key=lambda at: (int(sums[at]), -at)) if possible else -1
