"""Functions that take a number of threads refuse what is none."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pychunk
from pychunk._engine import native
from pychunk._engine.threads import threads_of


@pytest.fixture(scope="module")
def vocabulary() -> str:
    return str(pychunk.__file__).replace("__init__.py", "models/vocab.txt")


def test_numbers_and_the_default() -> None:
    assert (threads_of(1), threads_of(1024), threads_of(np.int64(3))) == (1, 1024, 3)
    assert threads_of(None) == native.default_threads()


@pytest.mark.parametrize("texts", [["Cats purr."], []])
@pytest.mark.parametrize("threads", [0, -1, 1025, 2.5, "2", True])
def test_other_values_are_refused(texts: list[str], threads: Any, vocabulary: str) -> None:
    calls: list[Callable[..., Any]] = [
        pychunk.detect_languages,
        pychunk.find_duplicates,
        lambda batch, threads: pychunk.tokenize(batch, vocabulary, threads=threads),
        lambda batch, threads: pychunk.count_tokens(batch, vocabulary, threads=threads),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="threads must be a whole number from 1 to 1,024; got"):
            call(texts, threads=threads)
