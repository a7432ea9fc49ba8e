"""embed() returns vectors of passages as chunks have them, and of queries as an index expects them."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_sentence_splitter import TEXTS

import pychunk
from pychunk.encoders import registry


@pytest.mark.slow
@given(st.lists(TEXTS, max_size=6))
@settings(max_examples=50, deadline=None)
def test_passages_are_the_vectors_of_chunks_and_queries_those_of_the_encoder(texts: list[str]) -> None:
    found = pychunk.embed(texts)
    assert found.shape == (len(texts), 256)
    assert found.dtype == np.float32
    chunks = pychunk.segment(texts, "fixed", size=10**9, unit="characters", vectors="chunk")
    wanted = np.zeros_like(found)
    for chunk in chunks:
        wanted[chunk.document_index] = chunk.vector
    np.testing.assert_array_equal(found, wanted)
    queries = pychunk.embed(texts, task="query")
    np.testing.assert_array_equal(queries, registry.vector_encoder("static").encode(texts))
    for row, text in enumerate(texts):
        np.testing.assert_array_equal(pychunk.embed(text), found[row])
        np.testing.assert_array_equal(pychunk.embed(text, task="query"), queries[row])
    lengths = np.linalg.norm(found, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-5) | (lengths == 0))


@pytest.mark.parametrize("kind", [list, pa.array, pa.chunked_array, pd.Series, "table"])
@pytest.mark.parametrize("task", ["passage", "query"])
def test_texts_may_be_any_column(kind: Any, task: str) -> None:
    texts = ["Cats purr. They sleep.", "", "The sun is a star."]
    columns: dict[str, Any] = {}
    given: Any
    if kind == "table":
        given, columns = pa.table({"name": ["a", "b", "c"], "body": texts}), {"column": "body"}
    else:
        given = kind([texts]) if kind is pa.chunked_array else kind(texts)
    found = pychunk.embed(given, task=task, **columns)
    np.testing.assert_array_equal(found, pychunk.embed(texts, task=task))
    assert not found[1].any()


def test_a_search_by_the_vector_of_a_query_is_the_search_by_its_text(tmp_path: Path) -> None:
    texts = ["Cats purr when they are content.", "The sun is a star of middle age.", "Rust is memory safe."]
    chunks = pychunk.segment(texts, "sentence", vectors="sentence")
    with pychunk.Index.create(tmp_path / "index") as index:
        index.add(chunks)
        asked = ["Do cats purr?", "How old is the sun?"]
        by_text = index.search(asked, mode="dense")
        by_vector = index.search(pychunk.embed(asked, task="query"), mode="dense")
    assert [[hit.row for hit in hits] for hits in by_text] == [[hit.row for hit in hits] for hits in by_vector]


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(ValueError, match="task must be one of 'passage', 'query'; got 'document'"):
        pychunk.embed(["a"], task="document")
    with pytest.raises(ValueError, match="no such"):
        pychunk.embed(["a"], encoder="no such")
    with pytest.raises(TypeError, match="row 1"):
        pychunk.embed(["a", 3])
    assert pychunk.embed([]).shape == pychunk.embed([], task="query").shape == (0, 256)
    bar: list[tuple[int, int]] = []
    pychunk.embed(["Cats purr."], progress=lambda done, total: bar.append((done, total)))
    assert bar[-1] == (10, 10)
