"""The Haystack splitter, alone and in a stored pipeline."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("haystack")

from haystack import Document, Pipeline

import pychunk
from pychunk.integrations.haystack import PychunkSplitter

MARKDOWN = "# Cats\n\nCats purr when they are content.\n\n## Food\n\nThey eat mice and fish.\n"
TEXTS = ["One. Two. One.", "", MARKDOWN]


def test_spans_ids_and_facts() -> None:
    documents = [Document(content=text, id=f"d{row}", meta={"row": row}) for row, text in enumerate(TEXTS)]
    found = PychunkSplitter("sentence").run(documents)["documents"]
    expected = pychunk.segment(TEXTS, "sentence", ids=["d0", "d1", "d2"])
    assert [(each.id, each.content, each.meta["split_idx_start"], each.meta["split_id"]) for each in found] == [
        (chunk.text_id, chunk.text, chunk.start, chunk.chunk_index) for chunk in expected
    ]
    assert all(each.meta["source_id"] == f"d{each.meta['row']}" for each in found)


def test_paths_of_headings() -> None:
    found = PychunkSplitter(markup="markdown", max_tokens=12).run([Document(content=MARKDOWN)])["documents"]
    assert {each.meta["path"] for each in found} == {"Cats", "Cats > Food"}


def test_a_stored_component_cuts_as_before() -> None:
    pipeline = Pipeline()
    pipeline.add_component("split", PychunkSplitter("fixed", size=2, unit="words", placement=pychunk.Placement()))
    documents = [Document(content=TEXTS[0])]
    expected = pipeline.run({"split": {"documents": documents}})["split"]
    again = PychunkSplitter.from_dict(json.loads(json.dumps(pipeline.get_component("split").to_dict())))
    assert again.run(documents) == expected
    assert len(expected["documents"]) == 2
    assert pipeline.dumps()


def test_a_document_without_text_is_named() -> None:
    with pytest.raises(ValueError, match=r"document 'x' must have content.*got None"):
        PychunkSplitter().run([Document(content=None, id="x")])
