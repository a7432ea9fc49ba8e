"""Byte-level ``tokenizer.json``: equal to the package ``tokenizers``, and errors that name file and field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from test_byte_pair import TEXTS, utf8, whole
from vocabularies import TIKTOKEN, published_ranks, small_ranks

from pychunk._engine.data.patterns import PATTERNS
from pychunk.tokenizers import NotNativeError, sources, tokenizer_json
from pychunk.tokenizers.byte_pair import BytePairTokenizer


def alphabet() -> dict[int, str]:
    return {byte: c for c, byte in tokenizer_json._alphabet().items()}


def spelled(token: bytes) -> str:
    return "".join(alphabet()[byte] for byte in token)


def merges_of(ranks: dict[bytes, int]) -> list[list[str]]:
    """Return all splits of each token into two tokens, in the order of ranks, as converters of ranks write them."""
    found = []
    for token in sorted(ranks, key=ranks.__getitem__):
        splits = [(token[:i], token[i:]) for i in range(1, len(token)) if token[:i] in ranks and token[i:] in ranks]
        found += [[spelled(a), spelled(b)] for a, b in sorted(splits, key=lambda s: (ranks[s[0]], ranks[s[1]]))]
    return found


def content(ranks: dict[bytes, int], pattern: str, **model: Any) -> dict[str, Any]:
    """Return the content of a ``tokenizer.json``."""
    split = {"type": "Split", "pattern": {"Regex": PATTERNS[pattern][0]}, "behavior": "Isolated", "invert": False}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": pattern == "gpt2"}
    steps = level if pattern == "gpt2" else {"type": "Sequence", "pretokenizers": [split, level]}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": len(ranks), "content": "<|end|>", "special": True, **flags},
            {"id": len(ranks) + 1, "content": "<tool>", "special": False, **flags},
        ],
        "normalizer": None,
        "pre_tokenizer": steps,
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {spelled(token): rank for token, rank in ranks.items()},
            "merges": merges_of(ranks),
            **model,
        },
    }


def write(folder: Path, data: object) -> Path:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def oracle(path: Path) -> Any:
    tokenizers = pytest.importorskip("tokenizers", reason="Hugging Face tokenizers is the oracle")
    found = tokenizers.Tokenizer.from_file(str(path))
    found.encode_special_tokens = True
    return found


def check_equal(mine: BytePairTokenizer, theirs: Any, text: str) -> None:
    data = utf8(text)
    tokens, spans = mine.encode(data, whole(data))
    encoding = theirs.encode(text, add_special_tokens=False)
    assert tokens.ids.tolist() == encoding.ids
    assert mine.count(data, whole(data)).tolist() == [len(encoding.ids)]
    # The package's offsets cover all characters of which a token has a byte, and count characters.
    starts = np.flatnonzero((np.append(data, 0) & 0xC0) != 0x80)
    first = np.searchsorted(starts, spans[:, 0], side="right") - 1
    last = np.searchsorted(starts, spans[:, 1], side="left")
    assert list(zip(first.tolist(), last.tolist(), strict=True)) == [*encoding.offsets]


@pytest.fixture(scope="module", params=[*PATTERNS])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[BytePairTokenizer, Any]:
    ignore = request.param in ("llama3", "o200k")
    data = content(small_ranks(), request.param, ignore_merges=ignore)
    path = write(tmp_path_factory.mktemp(request.param), data)
    return tokenizer_json.load_byte_pair(path), oracle(path)


@settings(max_examples=150)
@given(text=TEXTS)
def test_any_text_equals_tokenizers(pair: tuple[BytePairTokenizer, Any], text: str) -> None:
    check_equal(*pair, text)


def test_added_tokens_equal_tokenizers(pair: tuple[BytePairTokenizer, Any]) -> None:
    for text in ("<tool>", "a <tool><tool>  <|end|> the<tool", "zqzq <tool> zqzq", " unreachable token", "  <tool>  x"):
        check_equal(*pair, text)


def test_tokens_that_merges_cannot_make_need_ignore_merges(tmp_path: Path) -> None:
    for ignore, expected in ((True, [500]), (False, [*b"zqzq"])):
        data = content(small_ranks(), "llama3", ignore_merges=ignore, merges=[])
        assert tokenizer_json.load_byte_pair(write(tmp_path, data)).encode_text("zqzq") == expected


def test_merges_in_another_order_than_ids(tmp_path: Path) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 259, b"bc": 256, b"abc": 258, b"cab": 257}
    merges = [["b", "c"], ["a", "bc"], ["a", "b"], ["ab", "c"], ["c", "ab"]]
    path = write(tmp_path, content(ranks, "llama3", merges=merges))
    mine, theirs = tokenizer_json.load_byte_pair(path), oracle(path)
    for text in ("abc", "cab", "abcabc", "ababcb", "cabcab", "aabbcc"):
        check_equal(mine, theirs, text)


def test_merges_may_be_texts(tmp_path: Path) -> None:
    merges = [" ".join(merge) for merge in merges_of(small_ranks())]
    data = content(small_ranks(), "qwen2", merges=merges)
    mine = tokenizer_json.load_byte_pair(write(tmp_path, data), name="mine")
    lists = tokenizer_json.load_byte_pair(write(tmp_path, content(small_ranks(), "qwen2")))
    assert (mine.name, mine.fingerprint) == ("mine", lists.fingerprint)
    assert lists.name == tmp_path.name


def changed(data: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    *parents, last = path.split(".")
    inner: Any = data
    for key in parents:
        inner = inner[int(key) if key.isdigit() else key]
    inner[int(last) if last.isdigit() else last] = value
    return data


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("normalizer", {"type": "Lowercase"}, "normalizer.type is 'Lowercase'"),
        ("model.type", "Unigram", "model.type is 'Unigram'"),
        ("model.dropout", 0.1, "model.dropout is 0.1"),
        ("model.end_of_word_suffix", "</w>", "model.end_of_word_suffix is '</w>'"),
        ("pre_tokenizer", None, "pre_tokenizer does not end with ByteLevel"),
        ("pre_tokenizer", {"type": "Whitespace"}, "pre_tokenizer does not end with ByteLevel"),
        ("pre_tokenizer.pretokenizers.0.pattern", {"Regex": r"\w+"}, r"pre_tokenizer.pattern is '\\\\w\+'"),
        ("pre_tokenizer.pretokenizers.0.pattern", {"String": " "}, "pre_tokenizer.pattern is"),
        ("pre_tokenizer.pretokenizers.0.behavior", "Removed", "pre_tokenizer.behavior is 'Removed'"),
        ("pre_tokenizer.pretokenizers.1.add_prefix_space", True, "pre_tokenizer has add_prefix_space"),
        ("pre_tokenizer.pretokenizers.1.use_regex", True, "pre_tokenizer has other steps"),
        ("added_tokens.1.lstrip", True, "added_tokens: '<tool>' has lstrip"),
    ],
)
def test_what_is_not_native_is_named(tmp_path: Path, field: str, value: object, message: str) -> None:
    path = write(tmp_path, changed(content(small_ranks(), "llama3"), field, value))
    with pytest.raises(NotNativeError, match=message) as error:
        tokenizer_json.load_byte_pair(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(("special", "other"), [("<|end|>", "<|"), ("<|end|>", "|> x"), ("<a>", "<a>"), ("a<", "<b")])
def test_a_special_token_that_overlaps_another_is_not_native(tmp_path: Path, special: str, other: str) -> None:
    data = content(small_ranks(), "llama3")
    data["added_tokens"] = [
        {"id": 900, "content": special, "special": True},
        {"id": 901, "content": other, "special": False, "normalized": False},
    ]
    with pytest.raises(NotNativeError, match=r"added_tokens: the special .* overlaps"):
        tokenizer_json.load_byte_pair(write(tmp_path, data))
    data["added_tokens"][1]["content"] = "<tool>"
    data["added_tokens"][0]["content"] = "<|end|>"
    assert tokenizer_json.load_byte_pair(write(tmp_path, data)).added_tokens == {"<tool>": 901}


def test_a_vocab_bpe_is_the_tokenizer_of_its_merges(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    first: dict[str, tuple[str, str]] = {}  # of the splits of each token
    for left, right in merges_of(small_ranks()):
        first.setdefault(left + right, (left, right))
    merges = list(first.values())
    path = tmp_path / "vocab.bpe"
    path.write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in merges), encoding="utf-8")
    found = sources.load(path)
    vocab = {token: n for n, token in enumerate([*sorted(alphabet().values()), *first])}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab, merges))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    for text in ("Don't split naïve words: 12345  \n\n 中文 👍🏽", "the cat on the mat's", ""):
        check_equal(found, made, text)
    assert found.special_tokens == {"<|endoftext|>": len(vocab)}
    path.write_text("#version: 0.2\na b\na bc\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"vocab\.bpe: model\.merges must name tokens of model\.vocab; got 'bc' at 1"):
        sources.load(path)
    path.write_text("#version: 0.2\n")
    with pytest.raises(ValueError, match=r"vocab\.bpe must hold merges, one pair of tokens on each line; got none"):
        sources.load(path)
    path.write_bytes(b"#version: 0.2\n\xff")
    with pytest.raises(ValueError, match=r"vocab\.bpe must be merges in UTF-8"):
        sources.load(path)


def test_nfc_is_native_for_texts_that_are_in_nfc(tmp_path: Path) -> None:
    path = write(tmp_path, changed(content(small_ranks(), "qwen2"), "normalizer", {"type": "NFC"}))
    check_equal(tokenizer_json.load_byte_pair(path), oracle(path), "naïve café, déjà vu")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("model", None, "model must be an object; got 'None'"),
        ("model.vocab", ["a"], "model.vocab must map tokens to ids"),
        ("model.vocab.a", -1, "model.vocab must map tokens to ids"),
        ("model.vocab.a", 98, "model.vocab: .*two tokens have the id 98"),
        ("model.merges", None, "model.merges must be a list"),
        ("model.merges.3", "abc", "model.merges must be pairs of tokens; got 'abc' at 3"),
        ("model.merges.3", ["a", "qqq"], "model.merges must name tokens of model.vocab; got 'qqq' at 3"),
        ("added_tokens", [{"id": 1}], "added_tokens must be objects with an id and a content"),
        ("pre_tokenizer.pretokenizers", 5, "pre_tokenizer.pretokenizers must be a list"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, field: str, value: object, message: str) -> None:
    path = write(tmp_path, changed(content(small_ranks(), "llama3"), field, value))
    with pytest.raises(ValueError, match=message) as error:
        tokenizer_json.load_byte_pair(path)
    assert not isinstance(error.value, NotNativeError)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"model": ', "\xff", "[" * 100_000])
def test_a_file_that_is_no_object(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=r"tokenizer\.json(:| must)"):
        tokenizer_json.read(path)


@pytest.mark.slow
@pytest.mark.long  # each vocabulary takes a minute to write and to load
@pytest.mark.parametrize(("name", "pattern"), [("llama3", "llama3"), ("qwen3", "qwen2")])
def test_published_vocabularies(tmp_path: Path, data: Path, name: str, pattern: str) -> None:
    path = write(tmp_path, content(published_ranks(name), pattern, ignore_merges=name == "llama3"))
    mine, theirs = tokenizer_json.load_byte_pair(path), oracle(path)
    for file in sorted((data / "xquad").glob("*.json")):
        for article in json.loads(file.read_text(encoding="utf-8"))["data"][::10]:
            check_equal(mine, theirs, "\n".join(part["context"] for part in article["paragraphs"]))
    assert TIKTOKEN[pattern] == PATTERNS[pattern][0]
