"""Tokenizers in ``tokenizer.json``, the format of Hugging Face."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._engine.data.patterns import pattern_name
from . import NotNativeError
from .byte_pair import BytePairTokenizer, Vocabulary

#: What to do with a file that the native core does not implement.
REMEDY = "pass the file as tokenizer=, and the package tokenizers runs it"
#: The largest file that is read, in bytes.
MOST_BYTES = 1 << 29


@dataclass(frozen=True)
class TokenizerFile:
    """The parts of a ``tokenizer.json`` that determine the tokens of a text.

    Attributes:
        path: The file.
        model: The object ``model``; its ``type`` names the algorithm.
        normalizer: The object ``normalizer``, or None.
        pre_tokenizer: The object ``pre_tokenizer``, or None.
        added_tokens: The objects of the list ``added_tokens``.
        data: The whole content.
    """

    path: Path
    model: dict[str, Any]
    normalizer: dict[str, Any] | None
    pre_tokenizer: dict[str, Any] | None
    added_tokens: list[dict[str, Any]]
    data: dict[str, Any]

    def damaged(self, field: str, message: str) -> ValueError:
        """Return the error of a damaged field."""
        return ValueError(f"{self.path}: {field} {message}. Get the file again")

    def not_native(self, field: str, message: str) -> NotNativeError:
        """Return the error of a field whose value the native core does not implement."""
        return NotNativeError(f"{self.path}: {field} {message}, which the native core does not implement: {REMEDY}")


def read(path: Path) -> TokenizerFile:
    """Read the parts of a ``tokenizer.json``, whatever its model, and check their types.

    Raises:
        ValueError: The file is damaged.
    """
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(
            f"{path}: a tokenizer must have at most {MOST_BYTES} bytes; got {path.stat().st_size}. Pass a tokenizer"
        )
    try:
        data = json.loads(path.read_bytes())
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{path} must be a tokenizer in JSON ({error}). Get the file again") from None
    return parse(data, path)


def read_merges(path: Path) -> TokenizerFile:
    """Read the ``vocab.bpe`` of GPT-2: a line that names the version, then the merges, each of two tokens.

    Token 0 to 255 are the bytes, in the order of their characters, and each merge makes the next token.

    Raises:
        ValueError: The file is damaged.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} must be merges in UTF-8 ({error}). Get the file again") from None
    merges = [line.split(" ") for line in lines if line and not line.startswith("#version")]
    if not merges:
        raise ValueError(f"{path} must hold merges, one pair of tokens on each line; got none. Get the file again")
    tokens = [*sorted(_alphabet()), *map("".join, merges)]
    vocab = {token: number for number, token in enumerate(tokens)}
    end = {"id": len(vocab), "content": "<|endoftext|>", "special": True}
    data = {
        "model": {"type": "BPE", "vocab": vocab, "merges": merges},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
        "added_tokens": [end],
    }
    return parse(data, path)


def parse(data: Any, path: Path) -> TokenizerFile:
    """Return the parts of the content of a ``tokenizer.json``, and check their types.

    Args:
        data: The content.
        path: The file, for messages.

    Raises:
        ValueError: The content is damaged.
    """
    if not isinstance(data, dict):
        raise ValueError(f"{path} must hold a JSON object; got {type(data).__name__}. Get the file again")
    for field, kinds in _KINDS.items():
        if not isinstance(data.get(field), kinds):
            wanted = " or ".join(_JSON_NAMES[kind] for kind in kinds)
            raise ValueError(f"{path}: {field} must be {wanted}; got {str(data.get(field))[:60]!r}. Get the file again")
    added = data.get("added_tokens") or []
    for each in added:
        if not (isinstance(each, dict) and isinstance(each.get("content"), str) and _is_id(each.get("id"))):
            raise ValueError(
                f"{path}: added_tokens must be objects with an id and a content; got {str(each)[:60]!r}. "
                "Get the file again"
            )
    return TokenizerFile(path, data["model"], data.get("normalizer"), data.get("pre_tokenizer"), added, data)


_KINDS: dict[str, tuple[type, ...]] = {
    "model": (dict,),
    "normalizer": (dict, type(None)),
    "pre_tokenizer": (dict, type(None)),
    "added_tokens": (list, type(None)),
}
_JSON_NAMES = {dict: "an object", list: "a list", type(None): "null"}


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31


def load_byte_pair(source: Path | TokenizerFile, *, name: str | None = None) -> BytePairTokenizer:
    """Return the byte-level BPE tokenizer of a ``tokenizer.json``.

    Its special tokens are text, and its other added tokens are found in texts, as in ``tokenizers`` with
    ``encode_special_tokens = True``.

    Args:
        source: The file, or its content. If its normalizer is NFC, :meth:`BytePairTokenizer.encode` expects text in
            NFC, unless it has a ``source``. ASCII text is in NFC, and so are all characters below U+0300.
        name: The name of the tokenizer. None means the name of the file's folder.

    Raises:
        ValueError: The file is damaged.
        NotNativeError: The file needs something that the native core does not implement.
    """
    file = source if isinstance(source, TokenizerFile) else read(source)
    path, pattern = file.path, _check_byte_level(file)
    vocabulary = _byte_vocabulary(file)
    added: dict[str, int] = {}
    normalized: dict[str, int] = {}
    special: dict[str, int] = {}
    for token in file.added_tokens:
        if token.get("special"):
            special[token["content"]] = token["id"]
            continue
        for option in ("single_word", "lstrip", "rstrip"):
            if token.get(option):
                raise file.not_native(f"added_tokens: {token['content']!r:.60}", f"has {option}")
        if not token["content"]:
            raise file.damaged("added_tokens", f"must not be empty texts; got one with the id {token['id']}")
        content = token["content"]
        if token.get("normalized", True):
            normalized[unicodedata.normalize("NFC", content) if file.normalizer else content] = token["id"]
        else:
            added[content] = token["id"]
    for text in special:  # The package finds it first, and nothing in its place, even if it then counts as text.
        if other := next((each for each in (*added, *normalized) if _overlap(text, each)), None):
            raise file.not_native(f"added_tokens: the special {text!r:.60}", f"overlaps {other!r:.60}")
    try:
        return BytePairTokenizer(
            vocabulary,
            pattern,
            name or path.resolve().parent.name,
            added,
            special,
            normalized_tokens=normalized,
            nfc=file.normalizer is not None,
        )
    except ValueError as error:
        said = str(error).rpartition(": ")[2] if "vocabulary: " in str(error) else str(error)
        raise ValueError(f"{path}: model.vocab: {said}. Get the file again") from None


def _overlap(one: str, other: str) -> bool:
    """Return whether two tokens may have a character of a text in common."""
    return (
        one in other
        or other in one
        or any(a.endswith(b[:size]) for a, b in ((one, other), (other, one)) for size in range(1, len(b)))
    )


def _check_byte_level(file: TokenizerFile) -> str:
    """Return the name of the file's pattern, if the native core implements all that the file asks for."""
    kind = file.model.get("type", "BPE" if "merges" in file.model else None)
    if kind != "BPE":
        raise file.not_native("model.type", f"is {kind!r:.60}")
    if file.normalizer is not None and file.normalizer.get("type") != "NFC":
        raise file.not_native("normalizer.type", f"is {file.normalizer.get('type')!r:.60}")
    for option in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if file.model.get(option):
            raise file.not_native(f"model.{option}", f"is {file.model[option]!r:.60}")
    given: Any = [file.pre_tokenizer or {}]
    if given[0].get("type") == "Sequence":
        given = given[0].get("pretokenizers")
        if not isinstance(given, list) or not all(isinstance(step, dict) for step in given):
            raise file.damaged("pre_tokenizer.pretokenizers", f"must be a list of objects; got {given!s:.60}")
    if not given or given[-1].get("type") != "ByteLevel":
        raise file.not_native("pre_tokenizer", f"does not end with ByteLevel ({file.pre_tokenizer!s:.60})")
    *steps, last = given
    if last.get("add_prefix_space", True):
        raise file.not_native("pre_tokenizer", "has add_prefix_space")
    if last.get("use_regex", True) and not steps:
        return "gpt2"
    if len(steps) != 1 or last.get("use_regex", True) or steps[0].get("type") != "Split":
        raise file.not_native("pre_tokenizer", f"has other steps than one Split ({file.pre_tokenizer!s:.60})")
    split = steps[0]
    text = split.get("pattern")
    regex = text.get("Regex") if isinstance(text, dict) else None
    found = pattern_name(regex) if isinstance(regex, str) else None
    if found is None:
        raise file.not_native("pre_tokenizer.pattern", f"is {regex if regex else text!r:.120}")
    # Every character is in a match, so what happens to the text between matches makes no difference.
    if (split.get("behavior"), bool(split.get("invert"))) not in {("Isolated", False), ("Removed", True)}:
        raise file.not_native("pre_tokenizer.behavior", f"is {split.get('behavior')!r:.60}")
    return found


def _alphabet() -> dict[str, int]:
    """Return the byte that each character of a byte-level vocabulary stands for.

    Printable bytes stand for themselves as Latin-1. The others follow from U+0100 on, in their order.
    """
    printable = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    found = {chr(byte): byte for byte in printable}
    return found | {chr(256 + i): byte for i, byte in enumerate(sorted(set(range(256)) - printable))}


def _byte_vocabulary(file: TokenizerFile) -> Vocabulary:
    """Return the vocabulary of a byte-level model. Tokens with other characters match no text, and are left out."""
    vocab, merges = file.model.get("vocab"), file.model.get("merges")
    if not isinstance(vocab, dict) or not all(map(_is_id, vocab.values())):
        wrong = vocab if not isinstance(vocab, dict) else next(each for each in vocab.items() if not _is_id(each[1]))
        raise file.damaged("model.vocab", f"must map tokens to ids from 0 to {(1 << 31) - 1}; got {wrong!s:.60}")
    if not isinstance(merges, list):
        raise file.damaged("model.merges", f"must be a list; got {type(merges).__name__}")
    alphabet = _alphabet()
    table = {ord(c): byte for c, byte in alphabet.items()}
    known = set(alphabet)
    tokens: list[bytes] = []
    places: dict[str, int] = {}
    for token in vocab:
        if token and known.issuperset(token):
            places[token] = len(tokens)
            tokens.append(token.translate(table).encode("latin-1"))
    ids = np.fromiter((vocab[token] for token in places), np.int32, len(places))
    rows: list[int] = []
    for row, merge in enumerate(merges):
        parts = merge.split(" ") if isinstance(merge, str) else merge
        if not isinstance(parts, list) or len(parts) != 2 or not all(isinstance(part, str) for part in parts):
            raise file.damaged("model.merges", f"must be pairs of tokens; got {str(merge)[:60]!r} at {row}")
        left, right = parts
        for token in (left, right, left + right):
            if token not in vocab:
                raise file.damaged("model.merges", f"must name tokens of model.vocab; got {token[:60]!r} at {row}")
        if left + right in places:
            rows += (places[left], places[right], places[left + right])
    return Vocabulary(tokens, ids, np.array(rows, np.int32).reshape(-1, 3), bool(file.model.get("ignore_merges")))
