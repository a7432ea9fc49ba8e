"""Summaries as output: those that `pic` compared each document with, the same in any batch, from its own text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk import Placement, Segmenter, segmenter

TEXTS = ["Cats purr. The sun burns. Dogs bark at night.", "", "Häuser. Two.\n\nThree. Four. " * 12, " \n", "One."]
MADE = ["extractive", "lead", "sentence", "mean", "random"]


def summaries(texts: Any, **options: Any) -> pa.Table:
    out = pychunk.segment(texts, "pic", summaries_out=True, **options)
    assert out.summaries is not None
    return out.summaries


@pytest.mark.parametrize("source", MADE)
def test_one_row_a_document_and_sentences_from_its_text(source: str) -> None:
    found = summaries(TEXTS, summary=source, ids=list("abcde")).to_pylist()
    assert [(row["document_index"], row["document_id"], row["source"]) for row in found] == [
        (i, name, source) for i, name in enumerate("abcde")
    ]
    for text, row, spans in zip(TEXTS, found, pychunk.split_sentences(TEXTS), strict=True):
        for sentence in row["sentences"]:
            assert text[sentence["start"] : sentence["end"]] == sentence["text"] == sentence["text"].strip()
        n = 0 if not text.strip() else len(spans)
        count = {"extractive": min(5, 1 + n // 20), "lead": None, "sentence": 1}.get(source, 0) if n else 0
        if count is None:
            lead = text.split("\n\n")[0].strip()
            assert text[row["sentences"][0]["start"] : row["sentences"][-1]["end"]] == lead
        else:
            assert len(row["sentences"]) == count
        starts = [sentence["start"] for sentence in row["sentences"]]
        assert starts == sorted(set(starts))
        assert row["text"] == (" ".join(s["text"] for s in row["sentences"]) if row["sentences"] else None)
        assert (row["vector"] is None) == (n == 0)
        if n:
            assert np.linalg.norm(row["vector"]) == pytest.approx(1, abs=1e-5)


def test_the_vector_is_what_chunks_were_scored_by() -> None:
    out = pychunk.segment(TEXTS[:1], "pic", summaries_out=True, vectors="sentence", max_tokens=None)
    assert out.summaries is not None
    summary = np.array(out.summaries["vector"][0].as_py(), np.float32)
    for row in out.table.select(["score", "sentences"]).to_pylist():
        cosines = [float(np.dot(summary, sentence["vector"])) for sentence in row["sentences"]]
        assert row["score"] == pytest.approx(np.mean(cosines), abs=1e-6)
    plain = pychunk.segment(TEXTS[:1], "pic", vectors="sentence", max_tokens=None)
    assert plain.summaries is None
    assert plain.table.equals(out.table, check_metadata=True)  # nothing else changes


@settings(max_examples=25, deadline=None)
@given(
    texts=st.lists(st.text(alphabet="aBc .é\n漢。", max_size=60), max_size=7),
    source=st.sampled_from(MADE),
    threads=st.sampled_from([1, 3]),
    size=st.sampled_from([1, 40, 1 << 20]),
)
def test_they_do_not_depend_on_batch_or_threads(texts: list[str], source: str, threads: int, size: int) -> None:
    whole = summaries(texts, summary=source, placement=Placement(threads=1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segmenter, "CALL_BYTES", size)
        assert summaries(texts, summary=source, placement=Placement(threads=threads)).equals(whole)
    alone = [summaries([text], summary=source).drop_columns(["document_index"]) for text in texts]
    if texts:
        assert pa.concat_tables(alone).equals(whole.drop_columns(["document_index"]))
    streamed = Segmenter("pic", summary=source, summaries_out=True).stream([texts[:2], texts[2:]])
    assert pa.concat_tables([out.summaries for out in streamed]).equals(whole)


@pytest.mark.parametrize(("summary", "name"), [("title", "titles"), ("given", "summaries")])
def test_what_was_given_comes_back(summary: str, name: str, tiny_encoder: Path) -> None:
    said = ["about cats", "nothing", "", "four", "one"]
    for encoder in (None, str(tiny_encoder)):
        found = summaries(TEXTS, summary=summary, encoder=encoder, columns={name: said})
        assert found["text"].to_pylist() == said
        assert set(found["source"].to_pylist()) == {summary}
        assert found["sentences"].to_pylist() == [[]] * len(TEXTS)
        assert found["vector"][1].as_py() is not None  # a summary of a document without a sentence
    vectors = np.eye(5, 4) + 1
    spans = pychunk.split_sentences(TEXTS)
    own = [np.ones((len(row), 4)) for row in spans]
    found = summaries(TEXTS, summary=summary, columns={"sentence_vectors": own, name: vectors})
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(np.array(found["vector"].to_pylist()), unit, atol=1e-6)
    assert found["text"].to_pylist() == [None] * 5


def test_transformers_have_them_too(tiny_encoder: Path) -> None:
    found = summaries(TEXTS, encoder=str(tiny_encoder))
    assert [len(row) for row in found["sentences"].to_pylist()] == [1, 0, 3, 0, 1]
    assert found["vector"].null_count == 2


def test_no_documents() -> None:
    assert (summaries([]).num_rows, summaries([]).schema) == (0, summaries(["One."]).schema)


def test_methods_without_a_summary_refuse() -> None:
    with pytest.raises(ValueError, match=r"method 'semantic' has no option 'summaries_out'.*it is an option of 'pic'"):
        Segmenter("semantic", summaries_out=True)
    with pytest.raises(ValueError, match="summaries_out must be True or False; got 1"):
        Segmenter("pic", summaries_out=1)
