"""The argument `vectors`: names and the class Vectors, and what is refused."""

from typing import Any

import pytest

import pychunk
from pychunk.vectors import Vectors, vectors_of


def test_a_name_is_a_choice_of_vectors() -> None:
    assert vectors_of(None) is None
    assert vectors_of("sentence") == Vectors("sentence") == pychunk.Vectors(of="sentence")
    own = Vectors("chunk", "static")
    assert vectors_of(own) is own


def test_a_choice_is_written_as_it_was_made() -> None:
    assert repr(Vectors("chunk")) == "Vectors(of='chunk', encoder=None)"
    assert repr(Vectors("chunk", "minilm", True)) == "Vectors(of='chunk', encoder='minilm', late_chunking=True)"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"of": "both"}, "vectors must be 'chunk' or 'sentence'; got 'both'"),
        ({"late_chunking": 1}, "late_chunking must be True or False; got 1"),
        ({"late_chunking": "yes"}, "late_chunking must be True or False; got 'yes'"),
    ],
)
def test_other_values_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Vectors(**options)
