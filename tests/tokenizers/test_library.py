"""Functions that count tokens: which are accepted, and the errors of those that return something else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pychunk
from pychunk.tokenizers.library import FunctionTokenizer

TEXT = "One two three. Four five six seven. Eight. " * 20


def words(text: str) -> int:
    return len(text.split())


def words_of_all(texts: list[str]) -> list[int]:
    return [len(text.split()) for text in texts]


@pytest.mark.parametrize("method", ["fixed", "recursive", "structure", "sentence", "topic"])
@pytest.mark.parametrize("function", [words, words_of_all])
def test_a_function_counts(function: Any, method: str) -> None:
    size = {"size": 7} if method in ("fixed", "recursive") else {}
    out = pychunk.segment([TEXT, "", "One."], method, tokenizer=function, max_tokens=7, **size)
    assert [chunk.tokens for chunk in out] == [words(chunk.text) for chunk in out]
    assert max(chunk.tokens for chunk in out) <= 7
    assert out.metadata["tokenizer"] == function.__qualname__


def test_numbers_of_numpy_are_numbers() -> None:
    FunctionTokenizer(lambda text: np.int64(len(text)))
    FunctionTokenizer(lambda texts: np.array([len(text) for text in texts]) if isinstance(texts, list) else None)


@pytest.mark.parametrize("function", [str.split, lambda text: True, lambda text: -1, lambda text: 1.5])
def test_a_function_that_does_not_count_is_refused_at_once(function: Any) -> None:
    with pytest.raises(ValueError, match=r"must return the number of tokens of a text, or a list.*got .* for 'a test'"):
        pychunk.segment(TEXT, "fixed", tokenizer=function)


def failing(text: str) -> int:
    if "Four" in text:
        raise KeyError("no such word")
    return len(text.split())


def negative(text: str) -> int:
    return -1 if "Four" in text else len(text.split())


def short(texts: list[str]) -> list[int]:
    return words_of_all(texts) if len(texts) == 2 else []


def test_errors_of_a_function_name_it_and_the_text() -> None:
    with pytest.raises(RuntimeError, match=r"tokenizer=failing failed for a text that begins with .*KeyError"):
        pychunk.segment(TEXT, "fixed", tokenizer=failing)
    with pytest.raises(ValueError, match=r"tokenizer=negative must return a number of at least 0; got -1 for the text"):
        pychunk.segment(TEXT, "fixed", tokenizer=negative)
    with pytest.raises(ValueError, match=r"tokenizer=short must return a number.*for each of \d+ texts; got \[\]"):
        pychunk.segment(TEXT, "fixed", tokenizer=short)


def test_the_log_says_once_that_a_function_is_slow(caplog: pytest.LogCaptureFixture) -> None:
    segmenter = pychunk.Segmenter("fixed", tokenizer=words)
    segmenter(TEXT)
    segmenter(TEXT)
    assert [record.message.count("words is a function") for record in caplog.records] == [1]
