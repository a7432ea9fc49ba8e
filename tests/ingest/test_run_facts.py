"""The facts that determine the bytes of a data set."""

from __future__ import annotations

from typing import Any

import pytest

import pychunk
from pychunk.ingest import run_facts
from pychunk.placement import Placement


def count(text: str) -> int:
    return len(text)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"tokenizer": "o200k_base"}, {"tokenizer": "o200k_base"}),
        ({"tokenizer": pychunk.Tokenizer("o200k_base", special=2)}, {"tokenizer": "o200k_base"}),
        ({"tokenizer": pychunk.Tokenizer(count, "count:1")}, {"tokenizer": "count:1"}),
        ({"tokenizer": pychunk.Tokenizer(count)}, {"tokenizer": count}),
        (
            {"vectors": pychunk.Vectors("chunk", "minilm", late_chunking=True), "llm": "a client"},
            {"late_chunking": True, "vector_encoder": "minilm", "vectors": "chunk"},
        ),
    ],
)
def test_options_are_written_by_their_names(options: dict[str, Any], found: dict[str, Any]) -> None:
    assert run_facts._given(options) == found


def test_only_what_the_caller_set_of_a_placement_is_a_fact() -> None:
    assert run_facts.of_placement(Placement(threads=3)) == {}
    assert run_facts.of_placement(Placement(precision="fp32")) == {"precision": "fp32"}
