"""Added tokens and NFC: the native counts of any span equal those of its own text, step by step."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_tokenizer_json import changed, content, write
from vocabularies import small_ranks

import pychunk
from pychunk._engine import native
from pychunk.index.lexical.characters import canonical
from pychunk.tokenizers import tokenizer_json
from pychunk.tokenizers.byte_pair import BytePairTokenizer, ranks_vocabulary

#: They overlap, begin or end alike, contain one another, and some are white space.
ADDED = ["<a>", "<a><b", "<", "b<a", "   ", "\n", "\u00e9"]
#: These are found after the others, in normalized text.
NORMALIZED = ["  ", "x", "x<a>", "\u00e9t", "12"]
PIECES = ["<a>", "<a><b", "<", "b", "a", " ", "  ", "\n", "é", "e\u0301", "x", "It's", " 12", ">", "中", "\u0301", "ｶﾞ"]


@pytest.fixture(scope="module", params=[False, True], ids=["as written", "NFC"])
def tokenizer(request: pytest.FixtureRequest) -> BytePairTokenizer:
    added = {token: 1000 + i for i, token in enumerate(ADDED)}
    normalized = {token: 2000 + i for i, token in enumerate(NORMALIZED)}
    vocabulary = ranks_vocabulary(small_ranks().items())
    return BytePairTokenizer(vocabulary, "o200k", "small", added, normalized_tokens=normalized, nfc=request.param)


PLAIN = BytePairTokenizer(ranks_vocabulary(small_ranks().items()), "o200k", "small")


def between(text: str, tokens: list[str]) -> tuple[list[str], int]:
    """Return the texts between added tokens, of several at one place the longest, and the number of tokens."""
    found, at, begin = [], 0, 0
    while at < len(text):
        token = max((each for each in tokens if text.startswith(each, at)), key=len, default="")
        if token:
            found.append(text[begin:at])
            begin = at = at + len(token)
        else:
            at += 1
    return [*found, text[begin:]], len(found)


def slow_count(text: str, nfc: bool) -> int:
    """Return the number of tokens of a text, by the definition of its steps."""
    outer, count = between(text, ADDED)
    for each in outer:
        inner, more = between(unicodedata.normalize("NFC", each) if nfc else each, NORMALIZED)
        count += more + sum(len(PLAIN.encode_text(words)) for words in inner)
    return count


@settings(deadline=None, max_examples=200)
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=30), data=st.data())
def test_the_count_of_any_span_is_that_of_its_own_text(
    tokenizer: BytePairTokenizer, pieces: list[str], data: st.DataObject
) -> None:
    text = "".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    places = [0, *cuts, len(text)]
    bounds = np.array([len(text[:place].encode()) for place in places], np.int64)
    found = native.count_tokens(tokenizer, np.frombuffer(text.encode(), np.uint8), bounds).tolist()
    spans = [text[a:b] for a, b in zip(places, places[1:], strict=False)]
    assert found == [slow_count(span.strip(), tokenizer.nfc) for span in spans]
    encoded = np.frombuffer(text.encode(), np.uint8)
    assert tokenizer.count(encoded, bounds).tolist() == [slow_count(span, tokenizer.nfc) for span in spans]


@settings(deadline=None, max_examples=60)
@given(pieces=st.lists(st.sampled_from([*PIECES, "Cats purr. ", "Dogs bark at night! "]), max_size=60))
@pytest.mark.parametrize("method", ["recursive", "fixed", "structure", "topic", "sentence"])
def test_limits_hold_with_added_tokens(tokenizer: BytePairTokenizer, method: str, pieces: list[str]) -> None:
    options: dict[str, Any] = {"size": 12} if method in ("recursive", "fixed") else {"max_tokens": 12}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pychunk.tokenizers.sources._named", lambda _: tokenizer)
        found = pychunk.Segmenter(method, tokenizer="small", **options)("".join(pieces))
    counts = [slow_count(text, tokenizer.nfc) for text in found.texts]
    assert found.table["tokens"].to_pylist() == counts
    over = [text for text, count in zip(found.texts, counts, strict=True) if count > 12]
    assert all(len(unicodedata.normalize("NFC", text)) == 1 for text in over)


@pytest.fixture(scope="module", params=[None, {"type": "NFC"}], ids=["as written", "NFC"])
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[BytePairTokenizer, Any]:
    tokenizers = pytest.importorskip("tokenizers")
    data = changed(content(small_ranks(), "qwen2"), "normalizer", request.param)
    data["added_tokens"] = [
        {"content": each, "id": 1000 + i, "special": False, "normalized": each in NORMALIZED}
        | dict.fromkeys(["single_word", "lstrip", "rstrip"], False)
        for i, each in enumerate([*ADDED, *NORMALIZED])
    ]
    path = write(tmp_path_factory.mktemp("tokenizer"), data)
    return tokenizer_json.load_byte_pair(path), tokenizers.Tokenizer.from_str(json.dumps(data))


@settings(deadline=None, max_examples=300)
@given(pieces=st.lists(st.sampled_from([*PIECES, "हिन्दी क़", "Å", "각", "t"]), max_size=12))
def test_tokens_equal_those_of_tokenizers(both: tuple[BytePairTokenizer, Any], pieces: list[str]) -> None:
    mine, theirs = both
    text = "".join(pieces)
    encoded, bounds = np.frombuffer(text.encode(), np.uint8), np.array([0, len(text.encode())], np.int64)
    wanted = theirs.encode(text, add_special_tokens=False).ids
    assert mine.count(encoded, bounds).tolist() == [len(wanted)]
    if unicodedata.is_normalized("NFC", text):
        # The package numbers added tokens itself: those of the vocabulary have its ids, the others follow on it.
        given = {1000 + i: theirs.token_to_id(token) for i, token in enumerate([*ADDED, *NORMALIZED])}
        assert [given.get(number, number) for number in mine.encode_text(text)] == wanted


@settings(deadline=None, max_examples=300)
@given(
    st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("e\u0301\u0323\u1100\u1161\u11a8각")))
)
def test_the_folding_to_nfc_is_unicodes(text: str) -> None:
    data = np.frombuffer(text.encode(), np.uint8)
    folded, ends = canonical().fold(data, np.array([0, len(data)], np.int64))
    assert bytes(folded).decode() == unicodedata.normalize("NFC", text)
    assert ends.tolist() == [0, len(folded)]


def test_every_character_and_its_parts_fold_to_nfc() -> None:
    every = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    for form in ("NFC", "NFD"):
        text = "\n".join(every) if form == "NFC" else "\n".join(unicodedata.normalize("NFD", c) for c in every)
        data = np.frombuffer(text.encode(), np.uint8)
        assert bytes(canonical().fold(data, np.array([0, len(data)], np.int64))[0]).decode() == unicodedata.normalize(
            "NFC", text
        )
