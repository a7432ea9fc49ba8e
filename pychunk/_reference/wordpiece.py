"""BERT's normaliser, pre-tokeniser and WordPiece with `unicodedata`.

The Unicode version is Python's; Hugging Face's (which the engine follows) differs for a few code points that are
younger than either.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

CJK = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def _is_white(c: str) -> bool:
    """Unicode's White_Space, of which clean_text has removed the control characters."""
    return c.isspace() and c not in "\x1c\x1d\x1e\x1f"


def normalize(text: str, options: Mapping[str, Any]) -> str:
    lowercase = options.get("lowercase", True)
    if options.get("clean_text", True):
        kept = (c for c in text if c in "\t\n\r" or not (c == "\ufffd" or unicodedata.category(c)[0] == "C"))
        text = "".join(" " if _is_white(c) else c for c in kept)
    if options.get("handle_chinese_chars", True):
        text = "".join(f" {c} " if any(low <= ord(c) <= high for low, high in CJK) else c for c in text)
    if options.get("strip_accents", lowercase):
        text = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
    return "".join(c.lower() for c in text) if lowercase else text


def words(text: str) -> list[str]:
    """Split at white space; each punctuation character is a word."""
    found = [""]
    for c in text:
        ascii_mark = c.isascii() and not c.isalnum() and 0x20 < ord(c) < 0x7F
        if _is_white(c):
            found.append("")
        elif ascii_mark or unicodedata.category(c)[0] == "P":
            found += [c, ""]
        else:
            found[-1] += c
    return [word for word in found if word]


def pieces(word: str, ids: Mapping[str, int], options: Mapping[str, Any]) -> list[int]:
    """Greedy longest match first; the unknown token where there is none, or for more than 100 characters."""
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
    """Token ids, without special tokens."""
    return [piece for word in words(normalize(text, options)) for piece in pieces(word, ids, options)]


def count(text: str, ids: Mapping[str, int], options: Mapping[str, Any]) -> int:
    """Tokens as budgets count them: a word of more than 100 characters that is unknown has one for every four."""
    total = 0
    for word in words(normalize(text, options)):
        total += max(len(pieces(word, ids, options)), long_word_tokens(len(word), options))
    return total


def long_word_tokens(characters: int, options: Mapping[str, Any]) -> int:
    """What a word counts at least: nothing unless it is long."""
    return -(-characters // 4) if characters > max(100, options.get("max_word_characters", 100)) else 0
