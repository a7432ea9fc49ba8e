"""BERT's normalizer, pre-tokenizer and WordPiece, one character at a time.

The class of each character comes from the core's tables, which follow Hugging Face. Python's `unicodedata` has another
Unicode version in every version of Python.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from ... import native

OTHER, WHITE, CHINESE, MARK, PUNCTUATION = 1, 2, 4, 8, 16


@cache
def _flags() -> bytes:
    """Return the flags of every code point."""
    return _by_code_point("flags")


@cache
def _classes() -> bytes:
    """Return the rank of the canonical combining class of every code point, or 0 for class 0."""
    return _by_code_point("classes")


def _by_code_point(name: str) -> bytes:
    cells, runs = bytearray(0x110000), native.unicode_tables()[name]
    for first, last, value in zip(runs[::3], runs[1::3], runs[2::3], strict=True):
        cells[first : last + 1] = bytes([value]) * (last + 1 - first)
    return bytes(cells)


def _rows(cells: list[int]) -> dict[str, str]:
    """Return a table by character. Its rows are a code point, a count, and that many code points to map it to."""
    found, at = {}, 0
    while at < len(cells):
        end = at + 2 + cells[at + 1]
        found[chr(cells[at])] = "".join(map(chr, cells[at + 2 : end]))
        at = end
    return found


@cache
def _lower() -> dict[str, str]:
    tables = native.unicode_tables()
    runs, found = tables["lower"], _rows(tables["lower_long"])
    for first, last, step, target in zip(runs[::4], runs[1::4], runs[2::4], runs[3::4], strict=True):
        found |= {chr(c): chr(c + target - last) for c in range(first, last + 1, step)}
    return found


@cache
def _decompositions() -> dict[str, str]:
    return _rows(native.unicode_tables()["decompositions"])


def _decomposed(text: str) -> str:
    """Return the canonical decomposition of a text (NFD)."""
    found: list[str] = []
    for c in text:
        index = ord(c) - 0xAC00
        if 0 <= index < 11172:
            found += [chr(0x1100 + index // 588), chr(0x1161 + index % 588 // 28)]
            found += [chr(0x11A7 + index % 28)] * (index % 28 > 0)
        else:
            found += _decompositions().get(c, c)
    classes, at = _classes(), 0
    while at < len(found):
        end = at
        while end < len(found) and classes[ord(found[end])]:
            end += 1
        found[at:end] = sorted(found[at:end], key=lambda c: classes[ord(c)])
        at = end + 1
    return "".join(found)


def normalize(text: str, options: Mapping[str, Any]) -> str:
    lowercase, flags = options.get("lowercase", True), _flags()
    if options.get("clean_text", True):
        kept = (c for c in text if not flags[ord(c)] & OTHER)
        text = "".join(" " if flags[ord(c)] & WHITE else c for c in kept)
    if options.get("handle_chinese_chars", True):
        text = "".join(f" {c} " if flags[ord(c)] & CHINESE else c for c in text)
    if options.get("strip_accents", lowercase):
        text = "".join(c for c in _decomposed(text) if not flags[ord(c)] & MARK)
    return "".join(_lower().get(c, c) for c in text) if lowercase else text


def words(text: str) -> list[str]:
    """Split a text into words at white space. Each punctuation character is a word by itself."""
    found, flags = [""], _flags()
    for c in text:
        if flags[ord(c)] & WHITE:
            found.append("")
        elif flags[ord(c)] & PUNCTUATION:
            found += [c, ""]
        else:
            found[-1] += c
    return [word for word in found if word]


def pieces(word: str, ids: Mapping[str, int], options: Mapping[str, Any]) -> list[int]:
    """Return the token ids of a word: the longest matches in the vocabulary, from left to right.

    A word that cannot be matched, or has more than 100 characters, is the unknown token.
    """
    unknown = ids[options.get("unknown", "[UNK]")]
    if len(word) > options.get("max_word_characters", 100):
        return [unknown]
    found: list[int] = []
    start = 0
    while start < len(word):
        prefix = options.get("prefix", "##") if start else ""
        end = next((e for e in range(len(word), start, -1) if prefix + word[start:e] in ids), None)
        if end is None:
            return [unknown]
        found.append(ids[prefix + word[start:end]])
        start = end
    return found


def encode(text: str, ids: Mapping[str, int], options: Mapping[str, Any]) -> list[int]:
    """Return the token ids of a text, without special tokens such as [CLS]."""
    return [piece for word in words(normalize(text, options)) for piece in pieces(word, ids, options)]


def count(text: str, ids: Mapping[str, int], options: Mapping[str, Any]) -> int:
    """Return the number of tokens that budgets count for a text. An unknown word counts one for four characters."""
    unknown, total = ids[options.get("unknown", "[UNK]")], 0
    for word in words(normalize(text, options)):
        found = pieces(word, ids, options)
        total += tokens_of_unknown(len(word)) if found == [unknown] else len(found)
    return total


def tokens_of_unknown(characters: int) -> int:
    """Return the number of tokens that budgets count for an unknown word: one for every four characters, rounded up."""
    return -(-characters // 4)
