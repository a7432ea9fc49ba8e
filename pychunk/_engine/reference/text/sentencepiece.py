"""SentencePiece's unigram and BPE tokenizers, one character at a time.

The rules are those of :class:`PieceVocabulary`. ``tokenizers`` normalizes grapheme clusters and adds up scores in
double precision, word by word. ``sentencepiece`` normalizes the longest keys and adds up scores in single precision,
from the beginning of the text.
"""

from __future__ import annotations

import struct
import unicodedata
from functools import cache
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...data.pieces import NORMAL, RESERVED, UNUSED, USER_DEFINED
from .graphemes import extends

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...data.pieces import PieceVocabulary

MARK = "\u2581"


class Token(NamedTuple):
    """A token, and the bytes of the text from which it comes."""

    id: int
    begin: int
    end: int


class Char(NamedTuple):
    """A normalized character, and the bytes of the text from which it comes."""

    text: str
    begin: int
    end: int


class CharacterMap:
    """The strings that a ``precompiled_charsmap`` replaces: a double-array trie and the replacements."""

    def __init__(self, stored: bytes) -> None:
        size = struct.unpack("<I", stored[:4])[0] if stored else 0
        self.units = struct.unpack(f"<{size // 4}I", stored[4 : 4 + size])
        self.strings = stored[4 + size :]

    def keys(self, data: bytes) -> Iterator[tuple[int, str]]:
        """Yield the length and the replacement of each key with which the bytes begin, the shortest first."""
        if not self.units:
            return
        node = _offset(self.units[0])
        for at, byte in enumerate(data):
            unit = self.units[node ^ byte]
            if byte == 0 or unit & 0x800000FF != byte:
                return
            node ^= byte ^ _offset(unit)
            if unit >> 8 & 1:
                begin = self.units[node] & 0x7FFFFFFF
                yield at + 1, self.strings[begin : self.strings.index(0, begin)].decode()


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)


def encode(text: str, vocabulary: PieceVocabulary) -> list[Token]:
    """Return the tokens of a text, without special tokens."""
    return _encode_sentencepiece(text, vocabulary) if vocabulary.rules == "sentencepiece" else _words(text, vocabulary)


# ---- the rules of tokenizers ----


def _words(text: str, v: PieceVocabulary) -> list[Token]:
    chars = _normalized(text, CharacterMap(v.character_map))
    while v.strip_left and chars and _is_white(chars[0].text):
        del chars[0]
    while v.strip_right and chars and _is_white(chars[-1].text):
        del chars[-1]
    if v.join_spaces:  # the last space of a run stands for all
        chars = [c for c, after in zip_longest(chars, chars[1:]) if not (after and c.text == after.text == " ")]
    runs: list[list[Char]] = [[]]
    for c in chars:
        if v.split_at_white and _is_white(c.text):
            runs.append([])
        else:
            runs[-1].append(c._replace(text=MARK) if c.text == " " else c)
    found: list[Token] = []
    for run in filter(None, runs):
        first = v.prefix == "always" or (v.prefix == "first" and run[0].begin == 0)
        if first and run[0].text != MARK:
            run.insert(0, run[0]._replace(text=MARK))
        starts = [0, *(at for at, c in enumerate(run) if at and c.text == MARK), len(run)]
        for begin, end in pairwise(starts):
            found += _word(run[begin:end], v)
    return found


def _word(chars: list[Char], v: PieceVocabulary) -> list[Token]:
    """Return the tokens of one word. Unknown pieces in a row are one token."""
    ids = _ids(v)
    parts: list[tuple[int, int, int]] = []
    for own, begin, end in best_path([c.text for c in chars], v, np.float64):
        if parts and own == parts[-1][0] == v.unknown:
            parts[-1] = (own, parts[-1][1], end)
        else:
            parts.append((own, begin, end))
    found = []
    for own, begin, end in parts:
        word, span = "".join(c.text for c in chars[begin:end]), (chars[begin].begin, chars[end - 1].end)
        if own != v.unknown or word in ids:
            found.append(Token(ids.get(word, own), *span))
        elif v.byte_ids:
            found += [Token(v.byte_ids[byte], *span) for byte in word.encode()]
        else:
            found.append(Token(own, *span))
    return found


def _normalized(text: str, characters: CharacterMap) -> list[Char]:
    found: list[Char] = []
    inserted = False  # whether the last character came from a replacement with more characters than its key
    at = 0
    for cluster in clusters(text):
        keys = characters.keys(cluster.encode()) if len(cluster.encode()) < 6 else iter(())
        whole = next(keys, None)
        for part in [cluster] if whole else cluster:
            key = whole or next(
                (each for each in characters.keys(part.encode()) if each[0] == len(part.encode())), None
            )
            spans = []
            for c in part:
                spans.append((at, at + len(c.encode())))
                at = spans[-1][1]
            new = key[1] if key else part
            if not new and inserted and found:
                found[-1] = Char(found[-1].text, *spans[0])
            found += [Char(c, *spans[min(i, len(spans) - 1)]) for i, c in enumerate(new)]
            inserted = len(new) > len(spans)
    return found


def clusters(text: str) -> Iterator[str]:
    """Yield the grapheme clusters of a text. Clusters of six bytes or more may be divided where no mark follows."""
    at = 0
    while at < len(text):
        end = at + 1
        while end < len(text) and _joins(text[end - 1], text[end]):
            end += 1
        yield text[at:end]
        at = end


def _joins(before: str, after: str) -> bool:
    if _is_control(before) or _is_control(after):
        return before == "\r" and after == "\n"
    return extends(after) or _prepends(before)


def _is_control(c: str) -> bool:
    reserved = "\u2065" <= c <= "\u2069" or "\ufff0" <= c <= "\ufff8" or "\U000e0000" <= c <= "\U000e0fff"
    return (unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") or reserved) and not extends(c) and not _prepends(c)


def _prepends(c: str) -> bool:
    return any(first <= ord(c) <= last for first, last in _PREPENDED)


#: The characters with Grapheme_Cluster_Break=Prepend, as the first and the last of each run.
_PREPENDED: tuple[tuple[int, int], ...] = (
    (0x600, 0x605),
    (0x6DD, 0x6DD),
    (0x70F, 0x70F),
    (0x890, 0x891),
    (0x8E2, 0x8E2),
    (0xD4E, 0xD4E),
)
_PREPENDED += ((0x110BD, 0x110BD), (0x110CD, 0x110CD), (0x111C2, 0x111C3), (0x113D1, 0x113D1), (0x1193F, 0x1193F))
_PREPENDED += ((0x11941, 0x11941), (0x11A84, 0x11A89), (0x11D46, 0x11D46), (0x11F02, 0x11F02))


def _is_white(c: str) -> bool:
    return c.isspace() and not "\x1c" <= c <= "\x1f"


# ---- the rules of sentencepiece ----


def _encode_sentencepiece(text: str, v: PieceVocabulary) -> list[Token]:
    chars, end = _normalized_longest(text, v)
    begins = [*(c.begin for c in chars), end]
    letters = [c.text for c in chars]
    parts = merge(letters, v) if v.model == "bpe" else best_path(letters, v, np.float32)
    found: list[Token] = []
    for own, first, last in parts:
        begin, stop = begins[first], begins[last]
        if own != v.unknown:
            found.append(Token(own, begin, stop))
        elif v.byte_ids:
            data = "".join(c.text for c in chars[first:last]).encode()
            found += [Token(v.byte_ids[byte], begin, begin) for byte in data[:-1]]
            found.append(Token(v.byte_ids[data[-1]], begin, stop))
        elif found and found[-1].id == own:
            found[-1] = found[-1]._replace(end=stop)
        else:
            found.append(Token(own, begin, stop))
    return found


def _normalized_longest(text: str, v: PieceVocabulary) -> tuple[list[Char], int]:
    """Return the normalized characters, and where the last one ends in the text."""
    data, characters = text.encode(), CharacterMap(v.character_map)
    symbols = [p.encode() for p, kind in zip(v.pieces, v.kinds, strict=True) if kind == USER_DEFINED]

    def replaced(at: int) -> tuple[str, int]:
        """Return the replacement of the longest key at a byte, and the end of the key."""
        own = max((symbol for symbol in symbols if data.startswith(symbol, at)), key=len, default=b"")
        if own:
            return own.decode(), at + len(own)
        for length, new in reversed(list(characters.keys(data[at : at + 64]))):
            if data[at : at + length].decode(errors="ignore").encode() == data[at : at + length]:
                return new, at + length
        end = next(end for end in range(at + 1, len(data) + 1) if end == len(data) or data[end] & 0xC0 != 0x80)
        return data[at:end].decode(), end

    at = 0
    while v.join_spaces and at < len(data) and replaced(at)[0] == " ":
        at = replaced(at)[1]
    if at == len(data) and (v.join_spaces or not data):
        return [], at
    found = [Char(MARK, at, at)] if v.prefix != "never" else []
    after_space = v.join_spaces
    while at < len(data):
        new, end = replaced(at)
        if after_space:
            new = new.lstrip(" ")
        found += [Char(MARK if c == " " else c, at, end) for c in new]
        if new:
            after_space = v.join_spaces and new.endswith(" ")
        at = end
    while v.join_spaces and found and found[-1].text == MARK:
        at = found.pop().begin
    return found, at


# ---- models ----


@cache
def _ids(v: PieceVocabulary) -> dict[str, int]:
    unused = UNUSED if v.model == "unigram" else -1
    return {p: at for at, (p, kind) in enumerate(zip(v.pieces, v.kinds, strict=True)) if kind not in (RESERVED, unused)}


@cache
def _lowest(v: PieceVocabulary) -> float:
    """Return the score below which that of an unknown character is."""
    counted = [s for s, kind in zip(v.scores, v.kinds, strict=True) if v.rules == "tokenizers" or kind == NORMAL]
    return float(min(counted, default=0))


@cache
def _longest(v: PieceVocabulary) -> int:
    return max(map(len, _ids(v)), default=1)


def best_path(chars: list[str], v: PieceVocabulary, number: type[np.floating[Any]]) -> list[tuple[int, int, int]]:
    """Return the pieces with the highest sum of scores, as (id, first character, last + 1)."""
    ids = _ids(v)
    unknown = number(number(_lowest(v)) - number(10))
    sums: list[np.floating[Any] | None] = [number(0), *[None] * len(chars)]
    links = [(0, 0)] * (len(chars) + 1)
    for at in range(len(chars)):
        here = sums[at]
        assert here is not None
        if v.rules == "sentencepiece" and abs(here) > 100000:  # sentencepiece keeps sums small
            sums[at:] = [None if each is None else number(each - here) for each in sums[at:]]
            here = number(0)
        for end in range(at + 1, min(at + _longest(v), len(chars)) + 1):
            own = ids.get("".join(chars[at:end]))
            if own is None and end > at + 1:
                continue
            score = unknown if own is None else number(v.scores[own])
            if own is not None and v.rules == "sentencepiece" and v.kinds[own] == USER_DEFINED:
                score = number(0.1 * (len(v.pieces[own].encode()) - 1))
            total, other = number(score + here), sums[end]
            if other is None or total > other:
                sums[end], links[end] = total, (v.unknown if own is None else own, at)
    found, end = [], len(chars)
    while end > 0:
        own, begin = links[end]
        found.append((own, begin, end))
        end = begin
    return found[::-1]


def merge(chars: list[str], v: PieceVocabulary) -> list[tuple[int, int, int]]:
    """Merge the neighbours with the highest score, the first of equal ones, until no two of them are a piece.

    Returns:
        The pieces as (id, first character, last + 1).
    """
    ids = _ids(v)
    symbols = {p for p, kind in zip(v.pieces, v.kinds, strict=True) if kind == USER_DEFINED}
    runs: list[tuple[int, int, bool]] = []  # first character, last + 1, whether it is a user-defined symbol
    at = 0
    while at < len(chars):
        ends = [end for end in range(at + 1, len(chars) + 1) if "".join(chars[at:end]) in symbols]
        runs.append((at, ends[-1] if ends else at + 1, bool(ends)))
        at = runs[-1][1]
    halves: dict[str, tuple[int, int]] = {}

    def scored(left: int) -> float | None:
        (begin, middle, first), (_, end, second) = runs[left : left + 2]
        own = None if first or second else ids.get("".join(chars[begin:end]))
        if own is not None and v.kinds[own] == UNUSED:
            halves["".join(chars[begin:end])] = (middle - begin, end - begin)
        return None if own is None else float(np.float32(v.scores[own]))

    while True:
        scores = [(score, -left) for left in range(len(runs) - 1) if (score := scored(left)) is not None]
        if not scores:
            break
        left = -max(scores)[1]
        runs[left : left + 2] = [(runs[left][0], runs[left + 1][1], False)]

    found: list[tuple[int, int, int]] = []

    def add(begin: int, end: int) -> None:
        word = "".join(chars[begin:end])
        own = ids.get(word, v.unknown)
        if own != v.unknown and v.kinds[own] == UNUSED:
            if word in halves:
                add(begin, begin + halves[word][0])
                return add(begin + halves[word][0], end)
            own = v.unknown
        found.append((own, begin, end))

    for begin, end, _ in runs:
        add(begin, end)
    return found
