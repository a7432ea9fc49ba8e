"""Errors that say what to write instead of an unknown keyword: each row of the table, in every call."""

from __future__ import annotations

import inspect
import re

import pytest

import pychunk
from pychunk import Segmenter
from pychunk.inputs.document_columns import NAMES, DocumentColumns
from pychunk.methods import METHODS, REPLACEMENTS, SHARED, option_names
from pychunk.methods.method_options import MethodName, MethodOptions
from pychunk.placement import Placement
from pychunk.segmenter import COMMON

#: The arguments of a call, which are no options of a Segmenter.
CALL = ("columns", "ids", "metadata_columns", "progress")
ADVICE = {
    "text": "columns={'text': ...}",
    "column": "columns={'text': ...}",
    **{role: f"columns={{{role!r}: ...}}" for role in NAMES},
    **{name: f"{name}= to segment(), or to a call of the Segmenter" for name in CALL},
    "keep": "metadata_columns=",
    "atoms": "keep_together=",
    "wrap": "unwrap_lines=",
    "device": "placement=pychunk.Placement(device=...)",
    "threads": "placement=pychunk.Placement(threads=...)",
    "runtime": "placement=pychunk.Placement(runtime=...)",
    "precision": "placement=pychunk.Placement(precision=...)",
    "cache": "placement=pychunk.Placement(cache=...)",
    "vector_encoder": "vectors=pychunk.Vectors('chunk', ...)",
    "levels": "pychunk.segment_levels(batch, [...])",
    "pooling": "pychunk.segment_levels(batch, [...], pooling=...)",
    "chunk_size": "max_tokens= for the longest chunk, or method='fixed' with size=",
    "max_chunk_size": "max_tokens=",
    "min_chunk_size": "min_tokens=",
    "chunk_overlap": "overlap=",
    "length_function": "tokenizer= with the function, or unit='words' or unit='characters'",
    "tokenizer_name": "tokenizer=",
    "tokenizer_or_token_counter": "tokenizer=",
    "embeddings": "encoder=, or vectors of your own as columns={'sentence_vectors': ...}",
    "embed_model": "encoder=",
    "embedding_model": "encoder=",
    "breakpoint_threshold_type": "threshold= to method 'semantic', such as ('percentile', 5)",
    "breakpoint_threshold_amount": "threshold= to method 'semantic', such as ('percentile', 5)",
    "breakpoint_percentile_threshold": "threshold= to method 'semantic', such as ('percentile', 5)",
}


def test_every_row_is_tried_here_and_is_no_option() -> None:
    assert set(ADVICE) == set(REPLACEMENTS)
    assert set(DocumentColumns.__annotations__) <= set(REPLACEMENTS)
    assert set(inspect.signature(Placement).parameters) <= set(REPLACEMENTS)
    taken = {
        *COMMON,
        *MethodOptions.__annotations__,
        *(option for method in METHODS for option in option_names(method)),
    }
    assert taken.isdisjoint(REPLACEMENTS)


@pytest.mark.parametrize(("keyword", "advice"), ADVICE.items(), ids=list(ADVICE))
def test_a_keyword_that_no_method_has_says_what_to_write(keyword: str, advice: str) -> None:
    said = re.escape(f"no method has an option {keyword!r}: ") + ".*" + re.escape(advice)
    calls = [
        lambda: Segmenter(**{keyword: 1}),
        lambda: Segmenter("fixed", size=3, **{keyword: 1}),
        lambda: Segmenter(summary="title", **{keyword: ["a"]}),
        lambda: Segmenter(pychunk.Method(), **{keyword: 1}),
    ]
    if keyword not in CALL:
        calls.append(lambda: pychunk.segment("One. Two.", **{keyword: 1}))
    if keyword not in (*CALL, "levels", "pooling"):
        calls.append(lambda: pychunk.segment_levels("One. Two.", ["sentence", "document"], **{keyword: 1}))
    for call in calls:
        with pytest.raises(ValueError, match=said):
            call()
    if keyword in CALL:
        return
    with pytest.raises(TypeError, match=re.escape(advice)):
        Segmenter()("One. Two.", **{keyword: 1})


def test_the_names_of_options_and_methods_are_those_of_methods() -> None:
    own = {option for method in METHODS for option in option_names(method)}
    assert own | set(SHARED) == set(MethodOptions.__annotations__)
    assert set(METHODS) == set(MethodName.__args__)
