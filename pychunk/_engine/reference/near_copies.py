"""The near-copies among documents, as csrc/duplicates finds them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15
_SKETCH, _WORDS = 128, 3
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")


def near_copies(texts: Sequence[str], share: float, band: int) -> list[tuple[int, int, float]]:
    """Return (row, row of the earlier document, share) for each near-copy. Every document is compared with every one.

    Two documents are compared only if their words are equal, or all values of one band of their sketches.
    """
    words = [_WORD.findall(text) for text in texts]
    shingles = [list(zip(*(own[place:] for place in range(_WORDS)), strict=False)) for own in words]
    bands = [_bands(own, band) if share < 1 else [] for own in shingles]
    leaders: list[int] = []
    found: list[tuple[int, int, float]] = []
    for row in range(len(texts)):
        for other in leaders:
            if words[row] == words[other]:
                found.append((row, other, 1.0))
                break
            if any(mine == theirs for mine, theirs in zip(bands[row], bands[other], strict=False)):
                common = (Counter(shingles[row]) & Counter(shingles[other])).total()
                longer = max(len(shingles[row]), len(shingles[other]))
                if min(common, longer - 1) / longer >= share:
                    found.append((row, other, min(common, longer - 1) / longer))
                    break
        else:
            leaders.append(row)
    return found


def _bands(shingles: Sequence[tuple[str, ...]], band: int) -> list[list[int]]:
    """Return the values of each band of a document's sketch. A document without shingles has none."""
    if not shingles:
        return []
    sketch = _sketch([_hash(shingle) for shingle in shingles])
    return [sketch[begin : begin + band] for begin in range(0, _SKETCH // band * band, band)]


def _sketch(hashes: Sequence[int]) -> list[int]:
    """Return the least hash in each bin. Later rounds, with other hashes, fill the bins that are still empty."""
    sketch: dict[int, int] = {}
    for number in range(2 * _SKETCH):
        added: dict[int, int] = {}
        for shingle in hashes:
            value = shingle if number == 0 else _mixed(shingle + number * _STEP) & ~1
            place = value >> 57 if number < _SKETCH else number - _SKETCH
            if place not in sketch:
                added[place] = min(value, added.get(place, _MASK))
        sketch |= added
        if len(sketch) == _SKETCH:
            break
    return [sketch[place] for place in range(_SKETCH)]


def _hash(shingle: Sequence[str]) -> int:
    first, second, third = map(_hash_of_word, shingle)
    turned = second * 0xC2B2AE3D27D4EB4F & _MASK
    turned = (turned << 31 | turned >> 33) & _MASK
    return _mixed(first * _STEP + turned + third)


def _hash_of_word(word: str) -> int:
    """Return FNV-1a of the word's bytes in UTF-8."""
    value = 0xCBF29CE484222325
    for byte in word.encode():
        value = (value ^ byte) * 0x100000001B3 & _MASK
    return value


def _mixed(value: int) -> int:
    value &= _MASK
    value = (value ^ value >> 33) * 0xFF51AFD7ED558CCD & _MASK
    value = (value ^ value >> 33) * 0xC4CEB9FE1A85EC53 & _MASK
    return value ^ value >> 33
