"""Vocabularies of byte-level tokenizers: a small one made here, and published ones from installed packages."""

from __future__ import annotations

import base64
import gzip
import importlib.util
import struct
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from pychunk._engine.reference.text import byte_pair as reference

#: The patterns as tiktoken writes them, by their names here.
TIKTOKEN = {
    "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    "cl100k": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$"
    r"|\s*[\r\n]|\s+(?!\S)|\s",
    "o200k": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "llama3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
    "qwen2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
}
#: The published vocabulary that tests use with each pattern. No package has GPT-2's, whose pattern serves for any.
PUBLISHED = {"gpt2": "cl100k", "cl100k": "cl100k", "o200k": "o200k", "llama3": "llama3", "qwen2": "qwen3"}

_SAMPLE = (
    "The cat's whiskers weren't as long as the dog's. She'll say: \"Naïve café!\" in 1999, or 20,000 leagues ago.\n\n"
    "    def encode(self, text):\n        return [self.ids[word] for word in self.words(text)]\n"
    "Слово, слова, словами. 中文文本分词。日本語のテキスト。ภาษาไทย हिन्दी العربية ελληνικά 😀👍🏽\n"
) * 2


@cache
def small_ranks() -> dict[bytes, int]:
    """Return a vocabulary of some 430 tokens, trained on a few lines in many scripts."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    words = [[bytes([b]) for b in word.encode()] for word in reference.pretokens(_SAMPLE, "llama3")]
    while len(ranks) < 430:
        pairs = Counter(pair for word in words for pair in zip(word, word[1:], strict=False))
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        ranks[best[0] + best[1]] = len(ranks)
        for word in words:
            at = 0
            while at + 1 < len(word):
                if (word[at], word[at + 1]) == best:
                    word[at : at + 2] = [best[0] + best[1]]
                at += 1
    # Tokens that merges never make: "zq" cannot be a part of the first.
    return ranks | {b"zqzq": 500, b" unreachable token": 501}


def _folder(package: str) -> Path:
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        pytest.skip(f"the package {package} is not installed, which has the vocabulary")
    return Path(found.origin).parent


@cache
def published_ranks(name: str) -> dict[bytes, int]:
    """Return a published vocabulary from the package quicktok-v1, or skip the test."""
    data, at, found = (_folder("quicktok") / "data" / f"{name}.vocab").read_bytes(), 4, {}
    while at < len(data):
        (length,) = struct.unpack_from("<H", data, at)
        (rank,) = struct.unpack_from("<I", data, at + 2 + length)
        found[data[at + 2 : at + 2 + length]] = rank
        at += 6 + length
    return found


def published_file(name: str) -> Path:
    """Return the ``.tiktoken.gz`` of the package bpe-openai, or skip the test."""
    return _folder("bpe_openai") / "data" / f"{name}.tiktoken.gz"


def write_ranks(path: Path, ranks: dict[bytes, int]) -> Path:
    """Write a ``.tiktoken`` file, compressed if its name ends in .gz."""
    text = b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path
