"""Counts of tokens for limits: each equals the number of tokens of the span when it is tokenized by itself."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_sentencepiece import vocabulary
from vocabularies import small_ranks

from pychunk._engine import native
from pychunk.encoders import static_encoder
from pychunk.tokenizers.byte_pair import PATTERN_NAMES, BytePairTokenizer, ranks_vocabulary
from pychunk.tokenizers.library import FunctionTokenizer
from pychunk.tokenizers.spans import stripped
from pychunk.tokenizers.unigram import SentencePieceTokenizer
from pychunk.tokenizers.wordpiece import WordPieceTokenizer

#: Characters at which pre-tokens begin or end, among them those of contractions, numbers and line breaks.
DECIDING = (
    "aaABzZ'’ſsStTlLvVeErRmMdD  \t\n\r\n\v\f\x1c\x85\u00a0\u3000/--\"“.,!0123٣éÉǅ中文ไทยक्षि\u0301\u0301한😀👍🏽\0"
)
TEXTS = st.one_of(
    st.text(st.sampled_from(DECIDING), max_size=120),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.lists(st.sampled_from(["a", " ", "\n", "'s", "123", "!", "é", "字", "  ", "ABc", "/", "don't"])).map("".join),
    st.builds(lambda part, times: part * times, st.text(st.sampled_from(DECIDING), max_size=4), st.integers(0, 90)),
)


@cache
def byte_pair(pattern: str) -> BytePairTokenizer:
    return BytePairTokenizer(ranks_vocabulary(small_ranks().items()), pattern, "small")


def drawn_bounds(text: str, shares: list[float]) -> npt.NDArray[np.int64]:
    """Return the bytes of characters at these shares of a text, with both ends."""
    ends = np.cumsum([0, *(len(c.encode()) for c in text)])
    return np.unique([0, ends[-1], *(ends[int(share * len(text))] for share in shares)]).astype(np.int64)


def utf8(text: str) -> npt.NDArray[np.uint8]:
    return np.frombuffer(text.encode(), np.uint8)


SHARES = st.lists(st.floats(0, 0.999), max_size=12)


@pytest.mark.parametrize("pattern", PATTERN_NAMES)
@settings(deadline=None)
@given(text=TEXTS, shares=SHARES)
def test_byte_pairs_of_a_span_are_counted_as_if_it_were_alone(pattern: str, text: str, shares: list[float]) -> None:
    tokenizer, bounds = byte_pair(pattern), drawn_bounds(text, shares)
    found = native.count_tokens(tokenizer, utf8(text), bounds)
    assert found.tolist() == [len(tokenizer.encode_text(each)) for each in stripped(text.encode(), bounds)]


@settings(deadline=None)
@given(seed=st.integers(0, 20), text=TEXTS, shares=SHARES)
def test_pieces_of_a_span_are_counted_as_if_it_were_alone(seed: int, text: str, shares: list[float]) -> None:
    tokenizer, bounds = SentencePieceTokenizer(vocabulary(seed), "pieces"), drawn_bounds(text, shares)
    alone = [each.encode() for each in stripped(text.encode(), bounds)]
    ends = np.cumsum([0, *map(len, alone)], dtype=np.int64)
    wanted = tokenizer.count(np.frombuffer(b"".join(alone), np.uint8), ends)
    assert native.count_tokens(tokenizer, utf8(text), bounds).tolist() == wanted.tolist()


def test_a_long_word_of_wordpiece_is_one_token_as_in_its_library() -> None:
    tokenizer = WordPieceTokenizer(static_encoder.SHIPPED / "vocab.txt")
    text = "one " + "x" * 500 + " two"
    bounds = np.array([0, len(text)], np.int64)
    assert native.count_tokens(tokenizer, utf8(text), bounds).tolist() == [3]
    assert tokenizer.tokens_of(utf8(text), bounds).counts.tolist() == [127]  # four characters of it count as one


@given(text=TEXTS, shares=SHARES)
def test_a_function_gets_the_spans_without_white_space(text: str, shares: list[float]) -> None:
    got: list[str] = []

    def count(texts: list[str]) -> list[int]:
        got.extend(texts)
        return [len(each) for each in texts]

    tokenizer, bounds = FunctionTokenizer(count), drawn_bounds(text, shares)
    got.clear()
    found = native.count_tokens(tokenizer, utf8(text), bounds)
    assert got == stripped(text.encode(), bounds)
    assert found.tolist() == list(map(len, got))
